// SPDX-License-Identifier: Apache-2.0
// The text of a part of a routing table (docs/mesh.md, "Table files"): D for the device or mesh
// itself, a port, or "." for no route.
#ifndef SUEDE_MESH_TABLE_TEXT_H_
#define SUEDE_MESH_TABLE_TEXT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "mesh/routing_table.h"

namespace suede::mesh {

struct EntryProblem {
  size_t entry = 0;
  std::string text;  // "PROBLEM; MEND"
};
// Reads the entries of a part; entry `own` is the device or the mesh itself.
std::optional<EntryProblem> ReadEntries(std::span<const std::string> entries, uint32_t own,
                                        PortTable& out);
// Returns the first `count` entries, as in "[D, 2, .]".
std::string EntriesText(const PortTable& ports, uint32_t count, uint32_t own);

}  // namespace suede::mesh

#endif  // SUEDE_MESH_TABLE_TEXT_H_
