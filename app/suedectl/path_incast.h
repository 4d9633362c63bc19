// SPDX-License-Identifier: Apache-2.0
// The experiments of suedectl path that disturb others (--disruptive): bursts of full frames of one
// or more senders towards the peer (docs/path.md).
#ifndef SUEDE_APP_SUEDECTL_PATH_INCAST_H_
#define SUEDE_APP_SUEDECTL_PATH_INCAST_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "suedectl/path_prober.h"
#include "suedectl/path_results.h"

namespace suede::ctl {

inline constexpr uint32_t kBurstCounts[] = {32, 128, 512, 1024};
// Frames of one sender and plane in all bursts, anchors included.
inline constexpr uint64_t kMaxBurstFrames = 20000;

// Sends bursts in each class of `result` that has answers, and fills its rows. `senders`: the own
// endpoint first; each is used by a thread of its own. OK if a bound ends them early, too.
absl::Status RunIncast(std::span<PathProber* const> senders, PlaneResult* result);

// Counts the reports of the probes of the first half of a pause, and those of them that came before
// its end.
PauseResult PauseOf(const ProbeRun& run, int64_t pause_ns);
// Returns the row of a burst from the runs of its senders. `lost_out` is left 0.
BurstRow BurstOf(uint32_t count, std::span<const ProbeRun> runs);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PATH_INCAST_H_
