// SPDX-License-Identifier: Apache-2.0
// A recorded sequence of transfers, as CSV (docs/suede-perf.md, "Trace").
#ifndef SUEDE_APP_PERF_TRACE_H_
#define SUEDE_APP_PERF_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/time.h"

namespace suede::perf {

struct TraceRow {
  Duration at{};        // since the start
  uint32_t source = 0;  // ranks
  uint32_t destination = 0;
  uint64_t bytes = 0;
  int32_t vc = -1;  // -1: unspecified
};

// Parses a trace. Returns its rows sorted by time, or InvalidArgument with place, line and remedy.
// `place`: name of the file in messages.
absl::StatusOr<std::vector<TraceRow>> ParseTrace(absl::string_view text, absl::string_view place,
                                                 uint32_t ranks);
absl::StatusOr<std::vector<TraceRow>> ReadTrace(const std::string& path, uint32_t ranks);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_TRACE_H_
