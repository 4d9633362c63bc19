// SPDX-License-Identifier: Apache-2.0
// Checks a system specification, and lays its cables.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "system.h"

namespace suede::mesh {
namespace {

template <class Kind>
const Kind* FindKind(const std::vector<Kind>& kinds, std::string_view name) {
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

// A port of a mesh's edge.
struct EdgePort {
  DevicePort at;
  PlaneIndex plane;
};

class SystemBuilder {
 public:
  SystemBuilder(const ConfigDraft& draft, SystemSpec spec) : draft_(draft) {
    system_.spec = std::move(spec);
  }

  absl::StatusOr<MeshSystem> Build() {
    for (const auto step :
         {&SystemBuilder::CheckChips, &SystemBuilder::CheckBoards, &SystemBuilder::AddMeshes,
          &SystemBuilder::AddCables, &SystemBuilder::CheckReach, &SystemBuilder::CheckHosts,
          &SystemBuilder::CheckTransit}) {
      if (absl::Status s = (this->*step)(); !s.ok()) return s;
    }
    return std::move(system_);
  }

 private:
  const SystemSpec& spec() const { return system_.spec; }
  bool is_lossless() const { return spec().root.lossless == OnOff::kOn; }

  template <class Kind>
  absl::Status CheckName(const std::vector<Kind>& kinds, size_t i, std::string_view list) const {
    const auto first = static_cast<size_t>(FindKind(kinds, kinds[i].name) - kinds.data());
    if (first == i) return absl::OkStatus();
    return draft_.Error(Entry(list, i) + ".name",
                        StrCat(kinds[i].name, " is the name of ", Entry(list, first),
                               " already; choose another one"));
  }

  absl::Status CheckChips() {
    for (size_t i = 0; i < spec().chips.size(); ++i) {
      if (absl::Status s = CheckName(spec().chips, i, "chips"); !s.ok()) return s;
      const ChipSpec& chip = spec().chips[i];
      const size_t planes = spec().chips[0].south.size();
      std::set<uint32_t> seen;
      using Side = std::pair<std::string_view, const std::vector<uint32_t>&>;
      for (const auto& [side, ports] : {Side("south", chip.south), Side("east", chip.east),
                                        Side("north", chip.north), Side("west", chip.west)}) {
        const std::string path = StrCat(Entry("chips", i), ".", side);
        if (ports.empty() || ports.size() > kMaxPlanes || ports.size() != planes) {
          return draft_.Error(path, StrCat(ports.size(),
                                           " ports; give each side of each chip a "
                                           "port for each plane, 1 to ",
                                           kMaxPlanes));
        }
        for (const uint32_t port : ports) {
          if (seen.insert(port).second) continue;
          return draft_.Error(path, StrCat("port ", port, " occurs twice; remove one"));
        }
      }
    }
    system_.planes.resize(spec().chips[0].south.size());
    return absl::OkStatus();
  }

  absl::Status CheckBoards() {
    for (size_t i = 0; i < spec().boards.size(); ++i) {
      if (absl::Status s = CheckName(spec().boards, i, "boards"); !s.ok()) return s;
      const std::string& chip = spec().boards[i].chip;
      if (FindKind(spec().chips, chip) == nullptr) {
        return draft_.Error(Entry("boards", i) + ".chip",
                            StrCat("no chip ", chip, "; name one of chips"));
      }
    }
    return absl::OkStatus();
  }

  const BoardSpec& BoardOf(uint32_t mesh) const {
    return *FindKind(spec().boards, spec().meshes[mesh].board);
  }
  const ChipSpec& ChipOf(uint32_t mesh) const {
    return *FindKind(spec().chips, BoardOf(mesh).chip);
  }

  absl::Status AddMeshes() {
    for (uint32_t i = 0; i < spec().meshes.size(); ++i) {
      const MeshSpec& mesh = spec().meshes[i];
      const std::string path = Entry("meshes", i);
      if (mesh.mesh != i) {
        return draft_.Error(path + ".mesh",
                            StrCat("meshes are numbered in their order; write ", i));
      }
      if (FindKind(spec().boards, mesh.board) == nullptr) {
        return draft_.Error(path + ".board",
                            StrCat("no board ", mesh.board, "; name one of boards"));
      }
      for (size_t plane = 0; plane < system_.planes.size(); ++plane) {
        SystemPlane& laid = system_.planes[plane];
        laid.grids.push_back(GridOf(i, plane));
        const absl::StatusOr<MeshId> added =
            AddGrid(laid.grids.back(), laid.topology, is_lossless());
        if (!added.ok()) return draft_.Error(path, TextOf(added.status()));
      }
    }
    return absl::OkStatus();
  }

  Grid GridOf(uint32_t mesh, size_t plane) const {
    const MeshSpec& layout = spec().meshes[mesh];
    const BoardSpec& board = BoardOf(mesh);
    const ChipSpec& chip = ChipOf(mesh);
    Grid grid;
    grid.dimensions[0] = {.size = board.columns * layout.columns,
                          .wraps = layout.wrap_rows == OnOff::kOn,
                          .forward = PortId(chip.east[plane]),
                          .backward = PortId(chip.west[plane])};
    grid.dimensions[1] = {.size = board.rows * layout.rows,
                          .wraps = layout.wrap_columns == OnOff::kOn,
                          .forward = PortId(chip.south[plane]),
                          .backward = PortId(chip.north[plane])};
    return grid;
  }

  static std::string TextOf(const absl::Status& status) { return std::string(status.message()); }

  // ---- Cables.

  absl::Status AddCables() {
    for (size_t i = 0; i < spec().graph.size(); ++i) {
      const auto& [a, b] = spec().graph[i];
      const auto known = far_ends_.find(a);
      // The file may have a cable from both ends.
      if (known != far_ends_.end() && known->second == b) continue;
      if (absl::Status s = AddCable(Entry("graph", i), a, b); !s.ok()) return s;
      far_ends_[a] = b;
      far_ends_[b] = a;
    }
    return absl::OkStatus();
  }

  absl::Status AddCable(const std::string& path, const GraphEnd& a, const GraphEnd& b) {
    for (const GraphEnd& end : {a, b}) {
      if (absl::Status s = CheckEnd(path, end); !s.ok()) return s;
    }
    if (a.mesh == b.mesh) {
      return draft_.Error(path, StrCat("both ends are in mesh ", a.mesh,
                                       ", whose cables follow from its layout; remove it"));
    }
    const EdgePort from = PortOf(a), to = PortOf(b);
    if (from.plane != to.plane && !IsAlone(a.mesh) && !IsAlone(b.mesh)) {
      return draft_.Error(
          path, StrCat(NameOf(a), " is of plane ", uint32_t{from.plane}, " and ", NameOf(b),
                       " of plane ", uint32_t{to.plane}, "; connect ports of one plane"));
    }
    const PlaneIndex plane = IsAlone(a.mesh) ? to.plane : from.plane;
    const absl::Status connected = system_.planes[plane].topology.Connect(
        {.a = from.at, .b = to.at, .lossless = is_lossless()});
    return connected.ok() ? connected : draft_.Error(path, TextOf(connected));
  }

  absl::Status CheckEnd(const std::string& path, const GraphEnd& end) const {
    if (end.mesh >= spec().meshes.size()) {
      return draft_.Error(path, StrCat("no mesh ", end.mesh, "; name one of meshes"));
    }
    const uint32_t ports = SideOf(end).size * static_cast<uint32_t>(system_.planes.size());
    if (end.port >= ports) {
      return draft_.Error(path, StrCat("no port ", NameOf(end), "; that side of mesh ", end.mesh,
                                       " has ports 0 to ", ports - 1));
    }
    if (const auto used = far_ends_.find(end); used != far_ends_.end()) {
      return draft_.Error(path, StrCat(NameOf(end), " has a cable to ", NameOf(used->second),
                                       " already; remove one of the two, or correct the port"));
    }
    return absl::OkStatus();
  }

  // Whether the mesh is one device, whose ports have no plane of their own.
  bool IsAlone(uint32_t mesh) const { return system_.planes[0].grids[mesh].device_count() == 1; }

  // The dimension along which the side's devices lie.
  const Dimension& SideOf(const GraphEnd& end) const {
    const Grid& grid = system_.planes[0].grids[end.mesh];
    return grid.dimensions[end.side == 'N' || end.side == 'S' ? 0 : 1];
  }

  EdgePort PortOf(const GraphEnd& end) const {
    const auto planes = static_cast<uint32_t>(system_.planes.size());
    const uint32_t along = end.port / planes, plane = end.port % planes;
    const Grid& grid = system_.planes[plane].grids[end.mesh];
    const bool is_row = end.side == 'N' || end.side == 'S';
    const bool is_last = end.side == 'S' || end.side == 'E';
    const Dimension& across = grid.dimensions[is_row ? 1 : 0];
    const uint32_t edge = is_last ? across.size - 1 : 0;
    const Grid::Place place = is_row ? Grid::Place{along, edge, 0} : Grid::Place{edge, along, 0};
    return {.at = {.device = {.mesh = MeshId(end.mesh), .device = grid.At(place)},
                   .port = is_last ? across.forward : across.backward},
            .plane = PlaneIndex(plane)};
  }

  // ---- Rules of the whole system.

  absl::Status CheckReach() {
    std::set<uint32_t> reached = {0};
    for (size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (const auto& [a, b] : spec().graph) {
        if (reached.contains(a.mesh)) reached.insert(b.mesh);
        if (reached.contains(b.mesh)) reached.insert(a.mesh);
      }
    }
    for (uint32_t mesh = 0; mesh < spec().meshes.size(); ++mesh) {
      if (reached.contains(mesh)) continue;
      return draft_.Error("graph", StrCat("no cables lead from mesh 0 to mesh ", mesh,
                                          ", also by way of other meshes; add a cable"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckHosts() {
    std::set<std::string> unused(spec().root.hosts.begin(), spec().root.hosts.end());
    const std::set<std::string> known = unused;
    for (size_t i = 0; i < spec().meshes.size(); ++i) {
      const MeshSpec& mesh = spec().meshes[i];
      const std::string path = Entry("meshes", i) + ".hosts";
      const bool has_shape =
          mesh.hosts.size() == mesh.rows &&
          std::all_of(mesh.hosts.begin(), mesh.hosts.end(),
                      [&](const auto& row) { return row.size() == mesh.columns; });
      if (!mesh.hosts.empty() && !has_shape) {
        return draft_.Error(path, StrCat("the mesh has ", mesh.rows, " x ", mesh.columns,
                                         " boards; name a host for each of them"));
      }
      for (const std::vector<std::string>& row : mesh.hosts) {
        for (const std::string& host : row) {
          unused.erase(host);
          if (known.contains(host)) continue;
          return draft_.Error(path, StrCat("no host ", Quoted(host), "; name one of hosts"));
        }
      }
    }
    if (unused.size() == known.size()) {
      return draft_.Error("meshes[0].hosts",
                          "no board of the system has a host; name the host of "
                          "each board, as in [[host0], [host1]]");
    }
    if (unused.empty()) return absl::OkStatus();
    return draft_.Error("hosts", StrCat("no board has the host ", *unused.begin(),
                                        "; name it in hosts of a mesh, or remove it"));
  }

  absl::Status CheckTransit() {
    for (size_t i = 0; i < spec().transit.size(); ++i) {
      const TransitSpec& transit = spec().transit[i];
      const std::string path = Entry("transit", i);
      for (const uint32_t mesh : {transit.from, transit.to, transit.by}) {
        if (mesh < spec().meshes.size()) continue;
        return draft_.Error(path, StrCat("no mesh ", mesh, "; name one of meshes"));
      }
      if (transit.from == transit.to) {
        return draft_.Error(path, "frames inside a mesh cross no other one; remove it");
      }
      const bool adjoins =
          std::any_of(spec().graph.begin(), spec().graph.end(), [&](const GraphCable& cable) {
            return std::minmax(cable.a.mesh, cable.b.mesh) == std::minmax(transit.from, transit.by);
          });
      if (!adjoins) {
        return draft_.Error(path + ".by", StrCat("no cable leads from mesh ", transit.from,
                                                 " to mesh ", transit.by, "; choose a neighbour"));
      }
    }
    return absl::OkStatus();
  }

  const ConfigDraft& draft_;
  MeshSystem system_;
  std::map<GraphEnd, GraphEnd> far_ends_;
};

}  // namespace

absl::StatusOr<MeshSystem> BuildSystem(const ConfigDraft& draft, SystemSpec spec) {
  return SystemBuilder(draft, std::move(spec)).Build();
}

MeshRoutes MeshSystem::RoutesOf(PlaneIndex plane) const {
  const Topology& topology = planes[plane].topology;
  MeshRoutes routes(topology);
  for (const TransitSpec& transit : spec.transit) {
    const MeshId from(transit.from), by(transit.by);
    // The cable may be of another plane.
    if (routes.Next(from, by) == by) routes.SetNext(from, MeshId(transit.to), by);
  }
  return routes;
}

Tables MeshSystem::GenerateTables(PlaneIndex plane) const {
  const SystemPlane& laid = planes[plane];
  return mesh::GenerateTables(laid.topology, laid.grids, RoutesOf(plane), spec.root.exits, plane);
}

std::vector<Tables> MeshSystem::GenerateTables() const {
  std::vector<Tables> tables;
  for (uint32_t plane = 0; plane < planes.size(); ++plane) {
    tables.push_back(GenerateTables(PlaneIndex(plane)));
  }
  return tables;
}

}  // namespace suede::mesh
