// SPDX-License-Identifier: Apache-2.0
#include "stats/switch_counters.h"

namespace suede {
namespace {

#define SUEDE_SWITCH_ROW(id, name, severity, sentence) {name, Severity::k##severity, sentence},
constexpr CounterRow kPortRows[] = {SUEDE_SWITCH_PORT_COUNTERS(SUEDE_SWITCH_ROW)};
constexpr CounterRow kClassRows[] = {SUEDE_SWITCH_CLASS_COUNTERS(SUEDE_SWITCH_ROW)};
#undef SUEDE_SWITCH_ROW

}  // namespace

std::span<const CounterRow, static_cast<size_t>(SwitchPortCounter::kCount)> SwitchPortRows() {
  return kPortRows;
}

std::span<const CounterRow, static_cast<size_t>(SwitchClassCounter::kCount)> SwitchClassRows() {
  return kClassRows;
}

}  // namespace suede
