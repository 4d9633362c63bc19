// SPDX-License-Identifier: Apache-2.0
#include "stats/gauges.h"

namespace suede {
namespace {

constexpr GaugeRow kRows[kGaugeCount] = {
#define SUEDE_GAUGE_ROW(id, name, sentence) {name, sentence},
    SUEDE_GAUGES(SUEDE_GAUGE_ROW)
#undef SUEDE_GAUGE_ROW
};

}  // namespace

std::span<const GaugeRow, kGaugeCount> GaugeRows() { return kRows; }

}  // namespace suede
