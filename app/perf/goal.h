// SPDX-License-Identifier: Apache-2.0
// A schedule of sends, receives and calculations in the text format of LogGOPSim, GOAL, as a trace
// (docs/suede-perf.md, "Trace").
#ifndef SUEDE_APP_PERF_GOAL_H_
#define SUEDE_APP_PERF_GOAL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "perf/trace.h"

namespace suede::perf {

// Whether the text begins as GOAL does, with num_ranks.
bool IsGoal(absl::string_view text);

// Parses GOAL, and assigns a step to each operation such that no rank waits for a later step of
// another one. Returns the rows as ParseTrace does.
absl::StatusOr<std::vector<TraceRow>> ParseGoal(absl::string_view text, absl::string_view place,
                                                uint32_t ranks);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_GOAL_H_
