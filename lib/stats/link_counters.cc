// SPDX-License-Identifier: Apache-2.0
#include "stats/link_counters.h"

namespace suede {
namespace {

constexpr CounterRow kLinkCounterRows[] = {
#define SUEDE_LINK_ROW(id, name, severity, sentence) {name, Severity::k##severity, sentence},
    SUEDE_LINK_COUNTERS(SUEDE_LINK_ROW)
#undef SUEDE_LINK_ROW
};
constexpr LinkGaugeRow kGaugeRows[] = {
#define SUEDE_LINK_ROW(id, name, sentence) {name, sentence},
    SUEDE_LINK_GAUGES(SUEDE_LINK_ROW)
#undef SUEDE_LINK_ROW
};

constexpr LinkCreditRow kCreditRows[] = {
    {"cbfc_limit_credits", "Credits of a link VC that the neighbour grants; 0: none are needed",
     &LinkCreditCells::limit},
    {"cbfc_free_credits", "Free credits of a link VC", &LinkCreditCells::free},
    {"cbfc_granted_credits", "Credits of a link VC that the port grants",
     &LinkCreditCells::granted},
    {"cbfc_held_credits", "Credits of frames in the receive buffer", &LinkCreditCells::held},
};

}  // namespace

std::span<const CounterRow, static_cast<size_t>(LinkCounter::kCount)> LinkCounterRows() {
  return kLinkCounterRows;
}

std::span<const LinkGaugeRow, static_cast<size_t>(LinkGauge::kCount)> LinkGaugeRows() {
  return kGaugeRows;
}

std::span<const LinkCreditRow> LinkCreditRows() { return kCreditRows; }

}  // namespace suede
