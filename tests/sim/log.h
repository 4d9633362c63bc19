// SPDX-License-Identifier: Apache-2.0
// The last things that happened in a world, which show why a seed failed.
#ifndef SUEDE_TESTS_SIM_LOG_H_
#define SUEDE_TESTS_SIM_LOG_H_

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>

#include "base/time.h"

namespace suede {

class Log {
 public:
  // Takes the arguments of printf.
  [[gnu::format(printf, 3, 4)]] void Add(Time now, const char* format, ...);
  void Print() const {
    for (const std::string& line : lines_) std::printf("    %s\n", line.c_str());
  }

 private:
  static constexpr size_t kLines = 200'000;
  std::deque<std::string> lines_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_LOG_H_
