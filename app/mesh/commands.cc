// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "mesh/acceptance.h"

namespace suede::mesh {
namespace {

constexpr uint32_t kHopCount = 64;  // of frames that XPUs send

// Returns the reason why a frame did not arrive, with the last device.
std::string FaultOf(const Topology& topology, const Walk& walk) {
  const std::string last = NameOf(topology.At(walk.hops.back().device));
  switch (walk.end) {
    case Walk::End::kNoRoute:
      return StrCat(last, " has no route; add one to its table");
    case Walk::End::kNoCable:
      return StrCat("the port of ", last, " has no cable; correct its table");
    case Walk::End::kHopLimit:
      return StrCat("the hop count ends at ", last,
                    "; correct the loop in the tables, or shorten the route");
    case Walk::End::kArrived:
      break;
  }
  return "";
}

// The routes between all devices of a plane.
struct Routes {
  uint32_t arrived = 0;
  uint32_t apart = 0;  // pairs of devices that no cables of the plane connect
  uint32_t lost = 0;
  size_t max_hops = 0;
  std::string first_fault;
};

Routes FollowAll(const Topology& topology, const Tables& tables) {
  const MeshRoutes connected(topology);
  Routes routes;
  for (uint32_t i = 0; i < topology.device_count(); ++i) {
    for (uint32_t j = 0; j < topology.device_count(); ++j) {
      if (i == j) continue;
      const DeviceIndex from(i), to(j);
      const MeshId own = topology.At(from).mesh, other = topology.At(to).mesh;
      if (own != other && !connected.Next(own, other)) {
        ++routes.apart;
        continue;
      }
      const Walk walk = Follow(topology, tables, from, to, kHopCount);
      if (walk.end == Walk::End::kArrived) {
        ++routes.arrived;
        routes.max_hops = std::max(routes.max_hops, walk.hops.size() - 1);
      } else if (routes.lost++ == 0) {
        routes.first_fault = StrCat(NameOf(topology.At(from)), " does not reach ",
                                    NameOf(topology.At(to)), ": ", FaultOf(topology, walk));
      }
    }
  }
  return routes;
}

void CheckPlane(const Topology& topology, const Tables& tables, const std::string& name,
                Report& report) {
  using Cables = Dependencies::Cables;
  const Tables* const set = &tables;
  const Dependencies dependencies(topology, {&set, 1});
  const std::vector<Channel> circle = dependencies.FindCycle(Cables::kLossless);
  if (!circle.empty()) {
    report.good = false;
    StrAppend(&report.text, name,
              "cannot accept the tables: queues wait in a circle: ", CycleText(circle),
              "; use other tables, or lossless: off\n");
  } else if (const auto lossy = dependencies.FindCycle(Cables::kAll); !lossy.empty()) {
    StrAppend(&report.text, name,
              "warning: queues fill in a circle over lossy cables: ", CycleText(lossy), "\n");
  }
  const Routes routes = FollowAll(topology, tables);
  if (routes.lost > 0) {
    report.good = false;
    StrAppend(&report.text, name, routes.first_fault, "\n");
    if (routes.lost > 1) StrAppend(&report.text, name, routes.lost, " pairs have no route\n");
  }
  StrAppend(&report.text, name, topology.cables().size(), " cables, ", routes.arrived,
            " routes of up to ", routes.max_hops, " hops");
  if (routes.apart > 0) {
    StrAppend(&report.text, "; no cables connect ", routes.apart, " pairs of devices");
  }
  report.text += "\n";
}

// Reports how the tables may replace running ones.
void CheckSwap(const Topology& topology, const Tables& tables, const Tables& running,
               const std::string& name, Report& report) {
  const std::array<const Tables*, 2> both = {&tables, &running};
  const std::vector<Channel> circle =
      Dependencies(topology, both).FindCycle(Dependencies::Cables::kLossless);
  StrAppend(&report.text, name,
            circle.empty() ? std::string("the tables may replace the running ones at once")
                           : StrCat("the tables may replace the running ones after a drain: with "
                                    "both, queues wait in a circle: ",
                                    CycleText(circle)),
            "\n");
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

// Draws the devices and the cables inside a mesh of two dimensions.
std::string Drawing(const Grid& grid) {
  const uint32_t columns = grid.dimensions[0].size, rows = grid.dimensions[1].size;
  const size_t width = StrCat("D", grid.device_count() - 1).size();
  std::string text;
  for (uint32_t row = 0; row < rows; ++row) {
    std::string devices = "  ", cables = "  ";
    for (uint32_t column = 0; column < columns; ++column) {
      const bool is_last = column + 1 == columns;
      const std::string name = StrCat("D", uint32_t{grid.At({column, row, 0})});
      StrAppend(&devices, is_last ? name : Padded(name, width), is_last ? "" : " - ");
      StrAppend(&cables, is_last ? "|" : Padded("|", width + 3));
    }
    StrAppend(&text, devices, "\n", row + 1 < rows ? cables + "\n" : "");
  }
  return text;
}

std::string HostsOf(const MeshSpec& mesh) {
  std::vector<std::string> hosts;
  for (const std::vector<std::string>& row : mesh.hosts) {
    hosts.insert(hosts.end(), row.begin(), row.end());
  }
  return hosts.empty() ? "no host" : StrJoin(hosts, ", ");
}

}  // namespace

Report CheckTables(const MeshSystem& system, const std::vector<Tables>& tables,
                   const std::vector<Tables>& running) {
  const Topology& first = system.planes[0].topology;
  Report report;
  report.text =
      StrCat(system.spec.root.name, ": meshes: ", first.mesh_count(),
             ", devices: ", first.device_count(), ", planes: ", system.planes.size(), "\n");
  for (size_t plane = 0; plane < system.planes.size(); ++plane) {
    const std::string name = StrCat("plane ", plane, ": ");
    const Topology& topology = system.planes[plane].topology;
    CheckPlane(topology, tables[plane], name, report);
    if (tables[plane] != running[plane])
      CheckSwap(topology, tables[plane], running[plane], name, report);
  }
  return report;
}

Report TraceRoute(const MeshSystem& system, const Tables& tables, const Device& from,
                  const Device& to) {
  const Topology& topology = system.planes[tables[0].plane].topology;
  const Walk walk =
      Follow(topology, tables, topology.IndexOf(from), topology.IndexOf(to), kHopCount);
  using Row = std::array<std::string, 5>;
  std::vector<Row> rows = {{"device", "leaves by", "arrives at", "hop count", "level"}};
  for (const Hop& hop : walk.hops) {
    std::string out = "-", in = "-";
    if (hop.port) {
      const Topology::End& end = *topology.Across(hop.device, *hop.port);
      out = StrCat("P", uint32_t{*hop.port});
      in = NameOf(DevicePort{.device = topology.At(end.device), .port = end.port});
    }
    rows.push_back(
        {NameOf(topology.At(hop.device)), out, in, StrCat(hop.hop_count), StrCat(hop.level)});
  }
  Report report{.good = walk.end == Walk::End::kArrived};
  for (const Row& row : rows) {
    for (const std::string& cell : row) report.text += Padded(cell, 13);
    report.text.erase(report.text.find_last_not_of(' ') + 1);
    report.text += "\n";
  }
  if (!report.good) StrAppend(&report.text, FaultOf(topology, walk), "\n");
  return report;
}

std::string ShowSystem(const MeshSystem& system) {
  const Topology& first = system.planes[0].topology;
  std::string text;
  for (uint32_t i = 0; i < first.mesh_count(); ++i) {
    const MeshSpec& mesh = system.spec.meshes[i];
    const uint32_t xpu = first.IndexOf({.mesh = MeshId(i), .device = 0});
    const uint32_t last = xpu + first.DevicesOf(MeshId(i)) - 1;
    StrAppend(&text, "mesh ", i, ": ", mesh.board, ", ", HostsOf(mesh),
              xpu == last ? StrCat("; XPU ", xpu) : StrCat("; XPUs ", xpu, " to ", last),
              mesh.wrap_rows == OnOff::kOn ? "; rows wrap" : "",
              mesh.wrap_columns == OnOff::kOn ? "; columns wrap" : "", "\n",
              Drawing(system.planes[0].grids[i]), "\n");
  }
  text += "cables between meshes\n";
  for (size_t plane = 0; plane < system.planes.size(); ++plane) {
    for (const Cable& cable : system.planes[plane].topology.cables()) {
      if (cable.a.device.mesh == cable.b.device.mesh) continue;
      StrAppend(&text, "  plane ", plane, ": ", NameOf(cable.a), " - ", NameOf(cable.b), "\n");
    }
  }
  return text;
}

std::string ListCables(const Topology& topology) {
  std::string text;
  for (const Cable& cable : topology.cables()) {
    StrAppend(&text, "- [", NameOf(cable.a), ", ", NameOf(cable.b), "]\n");
  }
  return text;
}

}  // namespace suede::mesh
