// SPDX-License-Identifier: Apache-2.0
#include "table_file.h"

#include <gtest/gtest.h>

#include "mesh_fixture.h"

namespace suede::mesh {
namespace {

// Two meshes: two devices and one.
System Small() {
  System system;
  system.Add(Flat(2, 1));
  system.Add(Flat(1, 1));
  system.Connect({{0, 1}, 2}, {{1, 0}, 4});
  return system;
}

constexpr std::string_view kSmall = R"(version: 1
tables:
  - device: M0D0
    devices: [D, 2]
    meshes: [D, 2]
  - device: M0D1
    devices: [4, D]
    meshes: [D, 2]
  - device: M1D0
    devices: [D]
    meshes: [4, D]
)";

TEST(TableFile, HasTheTablesOfAllDevices) {
  const System system = Small();
  EXPECT_EQ(WriteTables(system.topology, system.Generate()), kSmall);
}

TEST(TableFile, ComesBackAsTheSameTables) {
  const System system = FourMeshes({0, 1, 2, 0});
  Tables tables = system.Generate();
  tables[7].to_meshes = PortTable();  // no routes
  Tables again = system.Generate();
  for (RoutingTable& table : again) table.to_devices = table.to_meshes = PortTable();
  const absl::Status read =
      ReadTables(WriteTables(system.topology, tables), "t.yaml", system.topology, again);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(again, tables);
}

TEST(TableFile, ReplacesTheTablesThatItNames) {
  const System system = Small();
  Tables tables = system.Generate();
  const absl::Status read =
      ReadTables("version: 1\ntables:\n  - {device: M0D1, devices: [., D], meshes: [D, 15]}\n",
                 "t.yaml", system.topology, tables);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(tables[0], system.Generate()[0]);
  EXPECT_EQ(tables[1].Lookup(Device{0, 0}).kind, NextHop::Kind::kNone);
  EXPECT_EQ(tables[1].Lookup(Device{1, 0}).port, 15u);
}

TEST(TableFile, NamesThePlaceAndTheMendOfAFault) {
  const System system = Small();
  const auto refusal = [&](std::string_view piece, std::string_view by) {
    std::string text(kSmall);
    const size_t at = text.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    text.replace(at, piece.size(), by);
    Tables tables = system.Generate();
    return std::string(ReadTables(text, "t.yaml", system.topology, tables).message());
  };
  EXPECT_EQ(refusal("M0D0", "M0D2"),
            "t.yaml:3:13: tables[0].device: no device \"M0D2\"; write one as in M0D4");
  EXPECT_EQ(refusal("M0D1", "M0D0"),
            "t.yaml:6:13: tables[1].device: M0D0 has a table already; remove one");
  EXPECT_EQ(refusal("[D, 2]", "[D]"), "t.yaml:4:14: tables[0].devices: 1 entries; write 2");
  EXPECT_EQ(refusal("[D, 2]", "[D, 2, 3]"),
            "t.yaml:4:21: tables[0].devices: 3 entries; use at most 2");
  EXPECT_EQ(refusal("[D, 2]", "[2, D]"),
            "t.yaml:4:15: tables[0].devices[0]: \"2\"; write D in entry 0 alone");
  EXPECT_EQ(refusal("[D, 2]", "[D, D]"),
            "t.yaml:4:18: tables[0].devices[1]: \"D\"; write D in entry 0 alone");
  EXPECT_EQ(refusal("[D, 2]", "[D, 16]"),
            "t.yaml:4:18: tables[0].devices[1]: \"16\" is no port; write 0 to 15, or . for no "
            "route");
  EXPECT_EQ(refusal("meshes", "meshs"),
            "t.yaml:5:5: tables[0].meshs: unknown key; did you mean meshes?");
  EXPECT_EQ(refusal("version: 1", "version: 2"),
            "t.yaml:1:10: version: version \"2\" of the format is not known; write version: 1");
}

}  // namespace
}  // namespace suede::mesh
