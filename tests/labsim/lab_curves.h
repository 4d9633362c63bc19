// SPDX-License-Identifier: Apache-2.0
// Values over time, of which a bounded number of points is kept: where there are more, every second
// one goes, and the time between two points doubles.
#ifndef SUEDE_TESTS_LABSIM_LAB_CURVES_H_
#define SUEDE_TESTS_LABSIM_LAB_CURVES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "mgmt/json.h"

namespace suede::lab {

class Curves {
 public:
  static constexpr size_t kMaxPoints = 512;
  using Labels = std::vector<std::pair<std::string, std::string>>;
  enum class Kind : uint8_t {
    kLevel,   // of two points that become one, the larger value stays
    kGrowth,  // of a number that grows; shown is its growth per second
  };

  // Begins a point of all curves; a curve that Set does not name keeps its value.
  void BeginPoint(Time now);
  void Set(const char* name, const char* unit, Kind kind, const Labels& labels, double value);
  // Where there are too many points, drops every second one; returns whether it did.
  bool Thin();
  // Curves that are always 0 are left out, except for the names in `kept`.
  Json ToJson(const std::vector<std::string>& kept) const;

 private:
  struct Curve {
    const char* unit;
    Kind kind;
    std::vector<double> values;  // as many as times_
  };
  std::vector<Time> times_;
  std::map<std::pair<std::string, Labels>, Curve> curves_;
};

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_CURVES_H_
