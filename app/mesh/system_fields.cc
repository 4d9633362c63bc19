// SPDX-License-Identifier: Apache-2.0
// Keys of a system specification.
#include "config/config_key.h"
#include "config/config_key_rows.h"
#include "system.h"

namespace suede {
namespace {

using config_key::Between;
using config_key::Key;
using config_key::kRequired;
using config_key::Name;
using mesh::BoardSpec;
using mesh::ChipSpec;
using mesh::MeshSpec;
using mesh::SystemRoot;
using mesh::TransitSpec;

constexpr ValueLimits kPorts = Between(0, mesh::kMaxPorts - 1);
constexpr ValueLimits kSize = Between(1, mesh::kMaxMeshDevices);
constexpr ValueLimits kMesh = Between(0, mesh::kMaxMeshes - 1);
constexpr std::string_view kExits[] = {"nearest", "disjoint"};

constexpr ConfigField<SystemRoot> kRoot[] = {
    Key<&SystemRoot::version>("version", "", Between(1, 1), "Version of the file's format.",
                              kRequired),
    Key<&SystemRoot::name>("name", "", Name(64), "Name of the system.", kRequired),
    Key<&SystemRoot::hosts>("hosts", "", {.min = 1, .max = 64}, "List of the hosts' names.",
                            kRequired),
    Key<&SystemRoot::exits>("exits", "", {},
                            "Exits toward a neighbouring mesh: the nearest one, or disjoint "
                            "cables for the two directions."),
    Key<&SystemRoot::lossless>("lossless", "", {},
                               "Whether cables have credit or PFC, so that frames wait for room."),
};

constexpr ConfigField<ChipSpec> kChip[] = {
    Key<&ChipSpec::name>("name", "", Name(64), "Name of the chip, which is a device.", kRequired),
    Key<&ChipSpec::south>("south", "", kPorts, "Ports of the south side, one for each plane.",
                          kRequired),
    Key<&ChipSpec::east>("east", "", kPorts, "The same of the east side.", kRequired),
    Key<&ChipSpec::north>("north", "", kPorts, "The same of the north side.", kRequired),
    Key<&ChipSpec::west>("west", "", kPorts, "The same of the west side.", kRequired),
};

constexpr ConfigField<BoardSpec> kBoard[] = {
    Key<&BoardSpec::name>("name", "", Name(64), "Name of the board.", kRequired),
    Key<&BoardSpec::chip>("chip", "", Name(64), "Its chips.", kRequired),
    Key<&BoardSpec::rows>("rows", "", kSize, "Rows of chips, from north to south."),
    Key<&BoardSpec::columns>("columns", "", kSize, "Columns of chips, from west to east."),
};

constexpr ConfigField<MeshSpec> kMeshes[] = {
    Key<&MeshSpec::mesh>("mesh", "", kMesh, "Number of the mesh: 0 for the first entry, then 1.",
                         kRequired),
    Key<&MeshSpec::board>("board", "", Name(64), "Its boards.", kRequired),
    Key<&MeshSpec::rows>("rows", "", kSize, "Rows of boards, which are cabled to each other."),
    Key<&MeshSpec::columns>("columns", "", kSize, "Columns of boards."),
    Key<&MeshSpec::wrap_rows>("wrap_rows", "", {},
                              "Whether cables lead from the east end of each row to the west end."),
    Key<&MeshSpec::wrap_columns>("wrap_columns", "", {},
                                 "The same from the south end of each column to the north end."),
};

constexpr ConfigField<TransitSpec> kTransit[] = {
    Key<&TransitSpec::from>("from", "", kMesh, "Mesh that frames leave.", kRequired),
    Key<&TransitSpec::to>("to", "", kMesh, "Mesh of their destination.", kRequired),
    Key<&TransitSpec::by>("by", "", kMesh, "Mesh that they enter first, a neighbour of `from`.",
                          kRequired),
};

}  // namespace

std::span<const std::string_view> mesh::NamesOf(mesh::Exits) { return kExits; }

SUEDE_CONFIG_SECTION(SystemRoot, kRoot)
SUEDE_CONFIG_SECTION(ChipSpec, kChip)
SUEDE_CONFIG_SECTION(BoardSpec, kBoard)
SUEDE_CONFIG_SECTION(MeshSpec, kMeshes)
SUEDE_CONFIG_SECTION(TransitSpec, kTransit)

const std::vector<ConfigKey>& mesh::SystemKeys() {
  static const std::vector<ConfigKey> kRows = [] {
    ConfigKeyRows keys;
    keys.AddFields("", SystemRoot{});
    keys.AddList("chips", "List of kinds of chips.", ChipSpec{}, true);
    keys.AddList("boards", "List of kinds of boards.", BoardSpec{}, true);
    keys.AddList("meshes", "List of meshes.", MeshSpec{}, true);
    keys.AddSection("meshes[].hosts",
                    "The host of each board: a list for each row of boards. Absent: none.");
    keys.AddSection("graph", "List of cables between meshes, as in [{0, S1}, {4, N4}].");
    keys.AddList("transit", "List of chosen transit meshes.", TransitSpec{});
    return keys.Take();
  }();
  return kRows;
}

}  // namespace suede
