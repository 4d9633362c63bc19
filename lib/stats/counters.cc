// SPDX-License-Identifier: Apache-2.0
#include "stats/counters.h"

namespace suede {

std::string FormatCounters(const CounterSnapshot& snapshot, bool nonzero_only) {
  std::string text;
  for (size_t i = 0; i < kCounterCount; ++i) {
    if (nonzero_only && snapshot[i] == 0) continue;
    text.append(" ").append(kCounterRows[i].name).append("=").append(std::to_string(snapshot[i]));
  }
  return text;
}

}  // namespace suede
