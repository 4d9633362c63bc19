// SPDX-License-Identifier: Apache-2.0
// Compares the cables of configurations and of running daemons with the specification.
#ifndef SUEDE_APP_MESH_VALIDATE_H_
#define SUEDE_APP_MESH_VALIDATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "commands.h"
#include "mesh/validation.h"

namespace suede::mesh {

// Returns the cables of a running daemon. `endpoint`: its name, or the path of its management
// socket.
absl::StatusOr<HostCables> QueryDaemon(const std::string& endpoint);
// The same of a file with the result of its cables.list.
absl::StatusOr<HostCables> ParseDiscovered(std::string_view text, std::string_view file);
// Returns the cables of a configuration. Reads no other sections.
absl::StatusOr<HostCables> ParsePlanned(std::string_view text, std::string_view file);

// Both lists may be empty.
struct Hosts {
  std::vector<HostCables> planned;
  std::vector<HostCables> discovered;
};
// Prints a line for each defect, and the number of good cables.
absl::StatusOr<Report> ValidateHosts(const MeshSystem& system, uint64_t specification,
                                     const Hosts& hosts);

}  // namespace suede::mesh

#endif  // SUEDE_APP_MESH_VALIDATE_H_
