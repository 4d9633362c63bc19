// SPDX-License-Identifier: Apache-2.0
#include "stats/lldp_counters.h"

namespace suede {
namespace {

constexpr CounterRow kLldpCounterRows[] = {
#define SUEDE_LLDP_ROW(id, name, severity, sentence) {name, Severity::k##severity, sentence},
    SUEDE_LLDP_COUNTERS(SUEDE_LLDP_ROW)
#undef SUEDE_LLDP_ROW
};
constexpr LinkGaugeRow kLldpGaugeRows[] = {
#define SUEDE_LLDP_ROW(id, name, sentence) {name, sentence},
    SUEDE_LLDP_GAUGES(SUEDE_LLDP_ROW)
#undef SUEDE_LLDP_ROW
};

}  // namespace

std::span<const CounterRow, static_cast<size_t>(LldpCounter::kCount)> LldpCounterRows() {
  return kLldpCounterRows;
}

std::span<const LinkGaugeRow, static_cast<size_t>(LldpGauge::kCount)> LldpGaugeRows() {
  return kLldpGaugeRows;
}

}  // namespace suede
