// SPDX-License-Identifier: Apache-2.0
// Routing tables as a file (docs/mesh.md, "Table files").
#ifndef SUEDE_APP_MESH_TABLE_FILE_H_
#define SUEDE_APP_MESH_TABLE_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mesh/routes.h"

namespace suede::mesh {

// Reads the text of a file named `file`, and replaces the tables of the devices that it names.
absl::Status ReadTables(std::string_view text, std::string_view file, const Topology& topology,
                        Tables& tables);
// The entries of a table, as lists of YAML.
struct TableLists {
  std::string devices;
  std::string meshes;
};
TableLists ListsOf(const Topology& topology, const RoutingTable& table);

// Returns a file with all tables.
std::string WriteTables(const Topology& topology, const Tables& tables);

}  // namespace suede::mesh

#endif  // SUEDE_APP_MESH_TABLE_FILE_H_
