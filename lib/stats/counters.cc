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

}  // namespace suede
