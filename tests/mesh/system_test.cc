// SPDX-License-Identifier: Apache-2.0
#include "system.h"

#include <gtest/gtest.h>

#include <string>

#include "key_tables.h"
#include "mesh/acceptance.h"
#include "page_tables.h"

namespace suede::mesh {
namespace {

absl::StatusOr<MeshSystem> Example(const std::string& name) {
  return LoadSystem(StrCat(SUEDE_SOURCE_DIR, "/conf/mesh/", name, ".yaml"));
}

std::string Replaced(std::string text, std::string_view piece, std::string_view by) {
  const size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return at == std::string::npos ? text : text.replace(at, piece.size(), by);
}

// The message of an example with a piece replaced.
std::string Refusal(const std::string& name, std::string_view piece, std::string_view by) {
  const std::string text = ReadSource("conf/mesh/" + name + ".yaml");
  return std::string(ParseSystem(Replaced(text, piece, by), "s.yaml").status().message());
}

uint32_t CablesBetween(const Topology& topology, MeshId a, MeshId b) {
  uint32_t count = 0;
  for (const Cable& cable : topology.cables()) {
    const MeshId from = cable.a.device.mesh, to = cable.b.device.mesh;
    if ((from == a && to == b) || (from == b && to == a)) ++count;
  }
  return count;
}

void ExpectAccepted(const MeshSystem& system) {
  for (uint32_t plane = 0; plane < system.planes.size(); ++plane) {
    ActiveTables active(system.planes[plane].topology);
    const auto verdict = active.Offer(system.GenerateTables(PlaneIndex(plane)));
    EXPECT_EQ(verdict.decision, ActiveTables::Decision::kSwapped) << CycleText(verdict.cycle);
  }
}

void ExpectAllReached(const MeshSystem& system, PlaneIndex plane) {
  const Topology& topology = system.planes[plane].topology;
  const Tables tables = system.GenerateTables(plane);
  for (uint32_t from = 0; from < topology.device_count(); ++from) {
    for (uint32_t to = 0; to < topology.device_count(); ++to) {
      ASSERT_EQ(Follow(topology, tables, DeviceIndex(from), DeviceIndex(to), 64).end,
                Walk::End::kArrived)
          << from << " " << to;
    }
  }
}

TEST(System, OfGatewaysAndABoard) {
  const auto system = Example("tg");
  ASSERT_TRUE(system.ok()) << system.status();
  ASSERT_EQ(system->planes.size(), 4u);
  const Topology& topology = system->planes[0].topology;
  EXPECT_EQ(topology.mesh_count(), 5u);
  EXPECT_EQ(topology.device_count(), 36u);
  // Both ports of a gateway lead to the plane of the board's port.
  EXPECT_EQ(CablesBetween(topology, 0, 4), 2u);
  EXPECT_EQ(topology.Across(0, 1)->device, topology.IndexOf({4, 1}));
  EXPECT_EQ(topology.Across(topology.IndexOf({4, 7}), 8)->device, topology.IndexOf({3, 0}));
  EXPECT_EQ(CablesBetween(system->planes[1].topology, 0, 4), 0u);
  EXPECT_EQ(system->planes[3].topology.cables().size(), 4u * 7 + 3 * 8);
  ExpectAllReached(*system, 0);
  ExpectAccepted(*system);
}

TEST(System, OfTwoHostsAndTwoBoards) {
  const auto system = Example("tgg");
  ASSERT_TRUE(system.ok()) << system.status();
  EXPECT_EQ(system->planes[0].topology.device_count(), 72u);
  EXPECT_EQ(CablesBetween(system->planes[0].topology, 8, 9), 8u);
  EXPECT_EQ(CablesBetween(system->planes[1].topology, 8, 9), 8u);
  EXPECT_EQ(CablesBetween(system->planes[2].topology, 8, 9), 0u);
  ExpectAllReached(*system, 0);
  ExpectAccepted(*system);
}

TEST(System, OfOneMeshOfTwoBoards) {
  const auto system = Example("quanta");
  ASSERT_TRUE(system.ok()) << system.status();
  for (uint32_t plane = 0; plane < 4; ++plane) {
    EXPECT_EQ(system->planes[plane].topology.cables().size(), 2u * 7 * 8);
    ExpectAllReached(*system, PlaneIndex(plane));
  }
  ExpectAccepted(*system);
}

TEST(System, OfFourMeshesOfNineDevices) {
  const auto system = Example("four-by-nine");
  ASSERT_TRUE(system.ok()) << system.status();
  const Topology& topology = system->planes[0].topology;
  const auto& end = topology.Across(topology.IndexOf({0, 5}), 2);
  ASSERT_TRUE(end);
  EXPECT_EQ(topology.At(end->device), (Device{1, 3}));
  EXPECT_EQ(end->port, 4u);
  ExpectAllReached(*system, 0);
  ExpectAccepted(*system);
}

TEST(System, HasChosenTransitMeshes) {
  const std::string text =
      ReadSource("conf/mesh/four-by-nine.yaml") + "transit:\n  - {from: 0, to: 3, by: 2}\n";
  const auto system = ParseSystem(text, "s.yaml");
  ASSERT_TRUE(system.ok()) << system.status();
  EXPECT_EQ(*system->RoutesOf(0).Next(0, 3), 2u);
  EXPECT_EQ(*system->RoutesOf(0).Next(3, 0), 1u);
  EXPECT_EQ(
      ParseSystem(Replaced(text, "by: 2", "by: 3"), "s.yaml").status().message(),
      "s.yaml:21:26: transit[0].by: no cable leads from mesh 0 to mesh 3; choose a neighbour");
}

TEST(System, MayWrapWhereCablesAreLossy) {
  const std::string text =
      Replaced(ReadSource("conf/mesh/quanta.yaml"), "rows: 2,", "rows: 2, wrap_rows: on,");
  const auto decision = [](const std::string& spec) {
    const auto system = ParseSystem(spec, "s.yaml");
    EXPECT_TRUE(system.ok()) << system.status();
    EXPECT_EQ(system->planes[0].topology.cables().size(), 2u * 7 * 8 + 8);
    return ActiveTables(system->planes[0].topology).Offer(system->GenerateTables(0)).decision;
  };
  EXPECT_EQ(decision(text), ActiveTables::Decision::kRefused);
  EXPECT_EQ(decision("lossless: off\n" + text), ActiveTables::Decision::kSwapped);
}

// The cables from a file's other end are the same cables.
TEST(System, MayNameACableFromBothEnds) {
  const std::string text = ReadSource("conf/mesh/four-by-nine.yaml") + "  - [{1, W1}, {0, E1}]\n";
  const auto system = ParseSystem(text, "s.yaml");
  ASSERT_TRUE(system.ok()) << system.status();
  EXPECT_EQ(CablesBetween(system->planes[0].topology, 0, 1), 1u);
}

// Two faults of the document: ports of a board that occur twice, without the cables between the
// boards; a host for each board that the mesh does not name.
TEST(System, OfTheDocumentHasNamedFaults) {
  EXPECT_EQ(Refusal("tgg", "[{9, S0}, {4, N0}]", "[{4, S0}, {8, N0}]"),
            "s.yaml:48:5: graph[24]: {8, N0} has a cable to {0, S0} already; remove one of the "
            "two, or correct the port");
  std::string apart = ReadSource("conf/mesh/tgg.yaml");
  const size_t first = apart.find("  - [{8, S0}"), last = apart.find("  - [{9, S0}");
  apart.erase(first, last - first);
  EXPECT_EQ(std::string(ParseSystem(apart, "s.yaml").status().message()),
            "s.yaml:24:3: graph: no cables lead from mesh 0 to mesh 4, also by way of other "
            "meshes; add a cable");
  EXPECT_EQ(Refusal("quanta", "[[host0], [host1]]", "[[]]"),
            "s.yaml:11:46: meshes[0].hosts: no board of the system has a host; name the host of "
            "each board, as in [[host0], [host1]]");
}

TEST(System, NamesThePlaceAndTheMendOfAFault) {
  const auto four = [](std::string_view piece, std::string_view by) {
    return Refusal("four-by-nine", piece, by);
  };
  EXPECT_EQ(four("east: [2]", "east: [2, 5]"),
            "s.yaml:7:35: chips[0].east: 2 ports; give each side of each chip a port for each "
            "plane, 1 to 4");
  EXPECT_EQ(four("east: [2]", "east: [1]"),
            "s.yaml:7:35: chips[0].east: port 1 occurs twice; remove one");
  EXPECT_EQ(four("chip: xpu", "chip: cpu"),
            "s.yaml:9:24: boards[0].chip: no chip cpu; name one of chips");
  EXPECT_EQ(four("mesh: 1, board: nine", "mesh: 1, board: ten"),
            "s.yaml:12:22: meshes[1].board: no board ten; name one of boards");
  EXPECT_EQ(four("mesh: 1", "mesh: 2"),
            "s.yaml:12:12: meshes[1].mesh: meshes are numbered in their order; write 1");
  EXPECT_EQ(four("[[host1]]", "[[host1, host2]]"),
            "s.yaml:12:35: meshes[1].hosts: the mesh has 1 x 1 boards; name a host for each of "
            "them");
  EXPECT_EQ(four("[[host1]]", "[[host7]]"),
            "s.yaml:12:35: meshes[1].hosts: no host \"host7\"; name one of hosts");
  EXPECT_EQ(four("[[host1]]", "[[host0]]"),
            "s.yaml:5:8: hosts: no board has the host host1; name it in hosts of a mesh, or "
            "remove it");
  EXPECT_EQ(four("[{0, E1}, {1, W1}]", "[{0, E1}]"),
            "s.yaml:16:5: graph[0]: a cable has two ends; write it as in [{0, S1}, {4, N4}]");
  EXPECT_EQ(four("{0, E1}", "{0, X1}"),
            "s.yaml:16:6: graph[0]: an end is a mesh, a side (N, E, S or W) and a port along the "
            "side; write it as in {4, N12}");
  EXPECT_EQ(four("{0, E1}", "{0: 1, E1}"),
            "s.yaml:16:6: graph[0]: an end is a mesh, a side (N, E, S or W) and a port along the "
            "side; write it as in {4, N12}");
  EXPECT_EQ(four("{0, E1}", "{9, E1}"), "s.yaml:16:5: graph[0]: no mesh 9; name one of meshes");
  EXPECT_EQ(four("{0, E1}", "{0, E3}"),
            "s.yaml:16:5: graph[0]: no port {0, E3}; that side of mesh 0 has ports 0 to 2");
  EXPECT_EQ(four("{0, E1}", "{1, E1}"),
            "s.yaml:16:5: graph[0]: both ends are in mesh 1, whose cables follow from its layout; "
            "remove it");
  EXPECT_EQ(four("rows: 3, columns: 3", "rows: 30, columns: 30"),
            "s.yaml:12:5: meshes[1]: cannot add a mesh of 900 devices: all meshes have 1 to 1024 "
            "together; use fewer");
  EXPECT_EQ(Refusal("tgg", "{8, S1}, {9, N1}", "{8, S1}, {9, N2}"),
            "s.yaml:33:5: graph[9]: {8, S1} is of plane 1 and {9, N2} of plane 2; connect ports "
            "of one plane");
}

TEST(System, PageHasTheKeys) { ExpectTable("docs/mesh.md", "keys", KeysAsMarkdown(SystemKeys())); }

}  // namespace
}  // namespace suede::mesh
