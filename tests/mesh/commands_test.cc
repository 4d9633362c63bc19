// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "page_tables.h"

namespace suede::mesh {
namespace {

MeshSystem ExampleOf(const std::string& name) {
  const auto system = LoadSystem(StrCat(SUEDE_SOURCE_DIR, "/conf/mesh/", name, ".yaml"));
  EXPECT_TRUE(system.ok()) << system.status();
  return *system;
}

TEST(MeshCommands, CheckCountsRoutes) {
  const MeshSystem four = ExampleOf("four-by-nine");
  const Report report = CheckTables(four, four.GenerateTables(), four.GenerateTables());
  EXPECT_TRUE(report.good);
  EXPECT_EQ(report.text,
            "four-by-nine: meshes: 4, devices: 36, planes: 1\n"
            "plane 0: 52 cables, 1260 routes of up to 10 hops\n");
}

// Planes 1 to 3 have no cables to the gateways.
TEST(MeshCommands, CheckSaysWhereNoCablesAre) {
  const MeshSystem tg = ExampleOf("tg");
  const Report report = CheckTables(tg, tg.GenerateTables(), tg.GenerateTables());
  EXPECT_TRUE(report.good);
  EXPECT_TRUE(report.text.ends_with(
      "plane 3: 52 cables, 992 routes of up to 10 hops; no cables connect 268 pairs of devices\n"))
      << report.text;
}

TEST(MeshCommands, CheckNamesFaults) {
  const MeshSystem four = ExampleOf("four-by-nine");
  std::vector<Tables> tables = four.GenerateTables();
  tables[0][4].to_devices.Set(8, 4);  // back to device 3
  tables[0][9].to_devices = PortTable();
  const Report report = CheckTables(four, tables, tables);
  EXPECT_FALSE(report.good);
  EXPECT_EQ(report.text,
            "four-by-nine: meshes: 4, devices: 36, planes: 1\n"
            "plane 0: cannot accept the tables: queues wait in a circle: M0D3P2 -> M0D4P4 -> "
            "M0D3P2; use other tables, or lossless: off\n"
            "plane 0: M0D3 does not reach M0D8: the hop count ends at M0D3; correct the loop in "
            "the tables, or shorten the route\n"
            "plane 0: 14 pairs have no route\n"
            "plane 0: 52 cables, 1246 routes of up to 10 hops\n");
}

// Frames that go along X first and frames that go along Y first wait for each other.
TEST(MeshCommands, CheckSaysHowRunningTablesAreReplaced) {
  const MeshSystem square = ExampleOf("square");
  const std::vector<Tables> x_first = square.GenerateTables();
  std::vector<Tables> y_first = x_first;
  y_first[0][0].to_devices.Set(3, PortId(1u));
  y_first[0][1].to_devices.Set(2, PortId(1u));
  y_first[0][2].to_devices.Set(1, PortId(3u));
  y_first[0][3].to_devices.Set(0, PortId(3u));
  const Report drain = CheckTables(square, y_first, x_first);
  EXPECT_TRUE(drain.good);
  EXPECT_NE(drain.text.find("plane 0: the tables may replace the running ones after a drain: with "
                            "both, queues wait in a circle: M0D"),
            std::string::npos)
      << drain.text;
  std::vector<Tables> one = x_first;
  one[0][0].to_devices.Set(3, PortId(1u));
  const Report at_once = CheckTables(square, one, x_first);
  EXPECT_TRUE(at_once.text.ends_with("plane 0: the tables may replace the running ones at once\n"))
      << at_once.text;
}

TEST(MeshCommands, TraceShowsEachHop) {
  const MeshSystem four = ExampleOf("four-by-nine");
  const Tables tables = four.GenerateTables(0);
  const Report report = TraceRoute(four, tables, {0, 4}, {1, 4});
  EXPECT_TRUE(report.good);
  EXPECT_EQ(report.text,
            "device       leaves by    arrives at   hop count    level\n"
            "M0D4         P2           M0D5P4       64           0\n"
            "M0D5         P2           M1D3P4       63           0\n"
            "M1D3         P2           M1D4P4       62           1\n"
            "M1D4         -            -            62           1\n");
  Tables none = tables;
  none[5].to_meshes = PortTable();
  const Report lost = TraceRoute(four, none, {0, 4}, {1, 4});
  EXPECT_FALSE(lost.good);
  EXPECT_TRUE(lost.text.ends_with("M0D5 has no route; add one to its table\n")) << lost.text;
}

TEST(MeshCommands, ShowDrawsMeshes) {
  EXPECT_TRUE(ShowSystem(ExampleOf("four-by-nine"))
                  .starts_with("mesh 0: nine, host0; XPUs 0 to 8\n"
                               "  D0 - D1 - D2\n"
                               "  |    |    |\n"
                               "  D3 - D4 - D5\n"
                               "  |    |    |\n"
                               "  D6 - D7 - D8\n"));
  EXPECT_TRUE(ShowSystem(ExampleOf("tg")).starts_with("mesh 0: n150_gateway, host0; XPU 0\n"));
  EXPECT_TRUE(ShowSystem(ExampleOf("four-by-nine"))
                  .ends_with("cables between meshes\n"
                             "  plane 0: M0D5P2 - M1D3P4\n"
                             "  plane 0: M2D5P2 - M3D3P4\n"
                             "  plane 0: M0D7P1 - M2D1P3\n"
                             "  plane 0: M1D7P1 - M3D1P3\n"));
}

}  // namespace
}  // namespace suede::mesh
