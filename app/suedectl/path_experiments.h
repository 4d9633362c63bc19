// SPDX-License-Identifier: Apache-2.0
// The experiments of suedectl path that disturb nobody: one plane, some thousand frames, most of
// them small (docs/path.md).
#ifndef SUEDE_APP_SUEDECTL_PATH_EXPERIMENTS_H_
#define SUEDE_APP_SUEDECTL_PATH_EXPERIMENTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "suedectl/path_prober.h"
#include "suedectl/path_results.h"

namespace suede::ctl {

inline constexpr uint32_t kPathSessions = 64;
inline constexpr uint64_t kMaxPathFrames = 8000;  // of one plane, without bursts

// Runs all of them on the plane of `result->plan`, and fills `result`. `count`: small probes of
// each class. OK if the prober's bound ends them early, too (`result->was_cut`).
absl::Status RunExperiments(PathProber& prober, uint32_t count, PlaneResult* result);

// Returns the class that other experiments use: the first one with answers; null: none has any.
ClassResult* AnsweredClass(PlaneResult* result);

// Returns how long to wait for reports of the class.
uint32_t TimeoutOf(const ClassResult& of);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PATH_EXPERIMENTS_H_
