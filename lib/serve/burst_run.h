// SPDX-License-Identifier: Apache-2.0
// Conversion of a burst to a run of a client queue.
#ifndef SUEDE_SERVE_BURST_RUN_H_
#define SUEDE_SERVE_BURST_RUN_H_

#include "client/client_records.h"
#include "outbound/burst.h"

namespace suede {

// Returns the run, which is valid as long as the burst's memory.
inline ClientRun RunOf(const Burst& burst) {
  return {.first = {.xpuid = burst.to.xpuid,
                    .vc = burst.to.vc,
                    .flags = burst.wants_completion ? uint8_t{SUEDE_RECORD_COMPLETION} : uint8_t{0},
                    .tag = burst.tag,
                    .control = burst.controls,
                    .data = burst.data},
          .control_stride = kMaxControlBytes,
          .data_stride = burst.data_bytes};
}

}  // namespace suede

#endif  // SUEDE_SERVE_BURST_RUN_H_
