// SPDX-License-Identifier: Apache-2.0
// The commands of suede-mesh, as text.
#ifndef SUEDE_APP_MESH_COMMANDS_H_
#define SUEDE_APP_MESH_COMMANDS_H_

#include <string>
#include <vector>

#include "system.h"

namespace suede::mesh {

// A command's output, and whether everything is as it should be.
struct Report {
  std::string text;
  bool good = true;
};

// Checks the tables of each plane: circles, and routes between all devices that cables connect.
// `tables` has those of each plane, `running` those that they replace at run time.
Report CheckTables(const MeshSystem& system, const std::vector<Tables>& tables,
                   const std::vector<Tables>& running);
// Follows a frame hop by hop.
Report TraceRoute(const MeshSystem& system, const Tables& tables, const Device& from,
                  const Device& to);
// Draws each mesh, and lists the cables between meshes.
std::string ShowSystem(const MeshSystem& system);
// Lists all cables of a plane, as YAML.
std::string ListCables(const Topology& topology);

}  // namespace suede::mesh

#endif  // SUEDE_APP_MESH_COMMANDS_H_
