// SPDX-License-Identifier: Apache-2.0
// A recorded sequence of transfers (docs/suede-perf.md, "Trace").
#ifndef SUEDE_APP_PERF_TRACE_H_
#define SUEDE_APP_PERF_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/time.h"

namespace suede::perf {

// A transfer, or, from a rank to itself, a calculation of that rank until `at`.
struct TraceRow {
  Duration at{};        // since the begin of the step
  uint32_t source = 0;  // ranks
  uint32_t destination = 0;
  uint64_t bytes = 0;  // 0: of a calculation
  int32_t vc = -1;     // -1: unspecified
  uint32_t step = 0;   // in which the source sends
  uint32_t taken = 0;  // step in which the destination waits for it

  bool IsCalculation() const { return source == destination; }
};
inline constexpr uint32_t kMaxSteps = 65536;

// Parses a trace, CSV or GOAL (goal.h). Returns its rows, or InvalidArgument with place, line and
// remedy. `place`: name of the file in messages.
absl::StatusOr<std::vector<TraceRow>> ParseTrace(absl::string_view text, absl::string_view place,
                                                 uint32_t ranks);
absl::StatusOr<std::vector<TraceRow>> ReadTrace(const std::string& path, uint32_t ranks);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_TRACE_H_
