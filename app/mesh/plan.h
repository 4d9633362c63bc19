// SPDX-License-Identifier: Apache-2.0
// Daemon configurations for the hosts of a system.
#ifndef SUEDE_APP_MESH_PLAN_H_
#define SUEDE_APP_MESH_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "system.h"

namespace suede::mesh {

struct PlanParams {
  std::string source;                  // the specification's file, for a comment
  std::string device;                  // of cables to other hosts, with {host}, {end} and {number}
                                       // replaced; empty: memifs between processes of one machine
  std::string sockets = "/run/suede";  // directory of the memifs' sockets
  uint32_t lcores = 1;                 // max of each host; its devices are spread over them
};

struct HostPlan {
  std::string host;
  std::string text;  // of its configuration
};

// Returns the host of each device, as an index into the specification's hosts. A mesh without hosts
// has the host of the nearest mesh that has some, the first of them among equals.
std::vector<uint32_t> HostsOfDevices(const MeshSystem& system);

// Returns a configuration for each host, in the order of the specification. `tables` has those of
// each plane.
absl::StatusOr<std::vector<HostPlan>> PlanHosts(const MeshSystem& system,
                                                const std::vector<Tables>& tables,
                                                const PlanParams& params);

}  // namespace suede::mesh

#endif  // SUEDE_APP_MESH_PLAN_H_
