// SPDX-License-Identifier: Apache-2.0
// Places where frames of one port are copied, as one port for captures.
#ifndef SUEDE_PORT_TAP_GROUP_H_
#define SUEDE_PORT_TAP_GROUP_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "port/frame_tap.h"

namespace suede {

class TapGroup final : public TappedPort {
 public:
  // `points`: at least one, which outlive this object; max one lcore moves the frames of each.
  TapGroup(std::string name, std::vector<TapPoint*> points)
      : name_(std::move(name)), points_(std::move(points)) {}

  const std::string& name() const override { return name_; }
  uint32_t lcores() const override { return static_cast<uint32_t>(points_.size()); }
  void SetTap(FrameTap* tap) override {
    for (TapPoint* const point : points_) point->Set(tap);
  }
  bool is_tapped() const override { return std::ranges::any_of(points_, &TapPoint::is_set); }

 private:
  const std::string name_;
  const std::vector<TapPoint*> points_;
};

}  // namespace suede

#endif  // SUEDE_PORT_TAP_GROUP_H_
