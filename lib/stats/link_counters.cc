// SPDX-License-Identifier: Apache-2.0
#include "stats/link_counters.h"

namespace suede {
namespace {

constexpr CounterRow kCounterRows[] = {
#define SUEDE_LINK_ROW(id, name, severity, sentence) {name, Severity::k##severity, sentence},
    SUEDE_LINK_COUNTERS(SUEDE_LINK_ROW)
#undef SUEDE_LINK_ROW
};
constexpr LinkGaugeRow kGaugeRows[] = {
#define SUEDE_LINK_ROW(id, name, sentence) {name, sentence},
    SUEDE_LINK_GAUGES(SUEDE_LINK_ROW)
#undef SUEDE_LINK_ROW
};

}  // namespace

std::span<const CounterRow, static_cast<size_t>(LinkCounter::kCount)> LinkCounterRows() {
  return kCounterRows;
}

std::span<const LinkGaugeRow, static_cast<size_t>(LinkGauge::kCount)> LinkGaugeRows() {
  return kGaugeRows;
}

}  // namespace suede
