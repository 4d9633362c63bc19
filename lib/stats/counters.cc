// SPDX-License-Identifier: Apache-2.0
#include "stats/counters.h"

namespace suede {
namespace {

constexpr CounterRow kRows[kCounterCount] = {
#define SUEDE_COUNTER_ROW(id, name, severity, sentence) {name, Severity::k##severity, sentence},
    SUEDE_COUNTERS(SUEDE_COUNTER_ROW)
#undef SUEDE_COUNTER_ROW
};

}  // namespace

std::span<const CounterRow, kCounterCount> CounterRows() { return kRows; }

std::string FormatCounters(const CounterSnapshot& snapshot, bool nonzero_only) {
  std::string text;
  for (size_t i = 0; i < kCounterCount; ++i) {
    if (nonzero_only && snapshot[i] == 0) continue;
    text.append(" ").append(kRows[i].name).append("=").append(std::to_string(snapshot[i]));
  }
  return text;
}

}  // namespace suede
