// SPDX-License-Identifier: Apache-2.0
// A system of meshes from its specification (docs/mesh.md, "System specification"). Unit, range and
// sentence of each key are in system_fields.cc. Values; the caller owns them.
#ifndef SUEDE_APP_MESH_SYSTEM_H_
#define SUEDE_APP_MESH_SYSTEM_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "config/config_draft.h"
#include "config/config_fields.h"
#include "mesh/routes.h"

namespace suede::mesh {

// ---- The specification, as in the file.

struct SystemRoot {
  uint32_t version = 1;
  std::string name;
  std::vector<std::string> hosts;
  Exits exits = Exits::kNearest;
  OnOff lossless = OnOff::kOn;
};
std::span<const std::string_view> NamesOf(Exits);

// Ports of each side, one for each plane.
struct ChipSpec {
  std::string name;
  std::vector<uint32_t> south;
  std::vector<uint32_t> east;
  std::vector<uint32_t> north;
  std::vector<uint32_t> west;
};

struct BoardSpec {
  std::string name;
  std::string chip;
  uint32_t rows = 1;
  uint32_t columns = 1;
};

struct MeshSpec {
  uint32_t mesh = 0;
  std::string board;
  uint32_t rows = 1;
  uint32_t columns = 1;
  OnOff wrap_rows = OnOff::kOff;
  OnOff wrap_columns = OnOff::kOff;
  std::vector<std::vector<std::string>> hosts;  // of each board, by row; empty: none
};

// One end of a cable between meshes: {0, S1}.
struct GraphEnd {
  uint32_t mesh = 0;
  char side = 'N';    // N, E, S or W
  uint32_t port = 0;  // along the side, from north or west on
  friend auto operator<=>(const GraphEnd&, const GraphEnd&) = default;
};
std::string NameOf(const GraphEnd& end);

struct GraphCable {
  GraphEnd a;
  GraphEnd b;
};

// A frame from one mesh to another goes to a neighbour of the former first.
struct TransitSpec {
  uint32_t from = 0;
  uint32_t to = 0;
  uint32_t by = 0;
};

struct SystemSpec {
  SystemRoot root;
  std::vector<ChipSpec> chips;
  std::vector<BoardSpec> boards;
  std::vector<MeshSpec> meshes;
  std::vector<GraphCable> graph;
  std::vector<TransitSpec> transit;
};

// Returns the keys, which are the rows of docs/mesh.md.
const std::vector<ConfigKey>& SystemKeys();

// ---- The system.

struct SystemPlane {
  Topology topology;
  std::vector<Grid> grids;  // of each mesh
};

struct MeshSystem {
  SystemSpec spec;
  std::vector<SystemPlane> planes;

  MeshRoutes RoutesOf(PlaneIndex plane) const;
  Tables GenerateTables(PlaneIndex plane) const;
  std::vector<Tables> GenerateTables() const;  // of each plane
};

// Reads the file's tree into the draft's specification: each value by itself.
absl::Status ReadSystem(const ConfigNode& root, ConfigDraft& draft, SystemSpec& spec);
// Checks what concerns more than one value, and lays the cables.
absl::StatusOr<MeshSystem> BuildSystem(const ConfigDraft& draft, SystemSpec spec);

// Reads the text of a file named `file`; reads a file.
absl::StatusOr<MeshSystem> ParseSystem(std::string_view text, std::string_view file);
absl::StatusOr<MeshSystem> LoadSystem(const std::string& path);

}  // namespace suede::mesh

#endif  // SUEDE_APP_MESH_SYSTEM_H_
