// SPDX-License-Identifier: Apache-2.0
// Probes the path to a peer by its lcore (docs/path.md).
#ifndef SUEDE_APP_ENDPOINT_PATH_RUNS_H_
#define SUEDE_APP_ENDPOINT_PATH_RUNS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "endpoint/endpoint.h"
#include "endpoint/peer_ping.h"
#include "lcore/path_probe.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// The runs of all instances, one of each at a time. Must outlive their questions and the lcores'
// work. Control thread only.
class PathRuns {
 public:
  explicit PathRuns(Endpoint* endpoint)
      : endpoint_(endpoint), of_instance_(endpoint->config().instances.size()) {}

  // Begins a run of the query's instance. Fails if one goes on.
  absl::StatusOr<EndpointView::PathQuestion> Begin(const PathQuery& query);

 private:
  struct Counts {
    uint64_t pfc = 0;
    uint64_t marked = 0;
    Duration paused{};
  };
  std::optional<absl::StatusOr<PathView>> Poll(const PeerPlanes& at, const Counts& before,
                                               bool is_last) const;
  Counts CountsOf(uint32_t instance, const PathRun::Spec& spec) const;
  PathView ViewOf(const PeerPlanes& at, const Counts& before) const;

  Endpoint* const endpoint_;
  // In the order of Config::instances. A run whose question is dropped ends by itself.
  std::vector<std::unique_ptr<PathRun>> of_instance_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PATH_RUNS_H_
