// SPDX-License-Identifier: Apache-2.0
// The planes and classes that suedectl path probes, by the configuration of the own endpoint.
#ifndef SUEDE_APP_SUEDECTL_PATH_PLAN_H_
#define SUEDE_APP_SUEDECTL_PATH_PLAN_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "suedectl/path_results.h"

namespace suede::ctl {

// The part of the planes and classes that the user has chosen; nullopt: all.
struct PathChoice {
  uint32_t peer = 0;
  std::optional<uint32_t> xpu;  // without it, the first that has the peer
  std::optional<uint32_t> instance;
  std::optional<uint32_t> plane;
  std::optional<uint32_t> traffic_class;
};

struct PathTask {
  uint32_t xpu = 0;
  uint32_t instance = 0;
  std::vector<PathPlan> planes;  // at least one
};

// Reads the text of config.get. INVALID_ARGUMENT: the choice leaves nothing to probe.
absl::StatusOr<PathTask> PlanPath(std::string_view config, const PathChoice& choice);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PATH_PLAN_H_
