// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <sys/un.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "base/text.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"
#include "mesh/discovery.h"
#include "specification.h"
#include "table_file.h"

namespace suede::mesh {
namespace {

using PlaneMask = uint32_t;

absl::Status Refuse(std::string_view reason) {
  return absl::InvalidArgumentError(StrCat("cannot plan ", reason));
}

uint32_t IndexOf(const std::vector<std::string>& names, std::string_view name) {
  return static_cast<uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// A cable of a host; `from` is an end of its own.
struct PlannedCable {
  DevicePort from;
  DevicePort to;
  PlaneIndex plane;
  bool leaves = false;  // `to` is of another host
};

// XPUs with consecutive ids that have everything else in common.
struct Run {
  Device device;  // of the first one
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t lcore = 0;
  PlaneMask planes = 0;
};

// Appends an XPU to the last run that it continues, or as a new one.
void AddTo(std::vector<Run>& runs, const Run& xpu) {
  if (!runs.empty()) {
    Run& last = runs.back();
    if (last.last + 1 == xpu.first && last.device.mesh == xpu.device.mesh &&
        last.lcore == xpu.lcore && last.planes == xpu.planes) {
      last.last = xpu.last;
      return;
    }
  }
  runs.push_back(xpu);
}

class Planner {
 public:
  Planner(const MeshSystem& system, const std::vector<Tables>& tables, const PlanParams& params)
      : system_(system),
        topology_(system.planes[0].topology),
        tables_(tables),
        params_(params),
        specification_(SpecificationOf(system)),
        hosts_(HostsOfDevices(system)) {}

  absl::StatusOr<std::vector<HostPlan>> Plan() {
    if (params_.lcores == 0) return Refuse("for 0 lcores; give --lcores 1 or more");
    if (absl::Status s = FindPlanes(); !s.ok()) return s;
    std::vector<HostPlan> plans;
    const std::vector<std::string>& names = system_.spec.root.hosts;
    for (uint32_t host = 0; host < names.size(); ++host) {
      if (std::find(hosts_.begin(), hosts_.end(), host) == hosts_.end()) continue;
      absl::StatusOr<std::string> text = Write(host);
      if (!text.ok()) return text.status();
      plans.push_back({.host = names[host], .text = *std::move(text)});
    }
    return plans;
  }

 private:
  bool is_lossless() const { return system_.spec.root.lossless == OnOff::kOn; }
  std::string_view cbfc() const { return is_lossless() ? "on" : "off"; }

  // Finds the planes of each device, which are those of its instance: planes of its cables.
  absl::Status FindPlanes() {
    planes_.assign(topology_.device_count(), 0);
    for (uint32_t plane = 0; plane < system_.planes.size(); ++plane) {
      for (const Cable& cable : system_.planes[plane].topology.cables()) {
        for (const DevicePort& end : {cable.a, cable.b}) {
          planes_[topology_.IndexOf(end.device)] |= PlaneMask{1} << plane;
        }
      }
    }
    for (uint32_t i = 0; i < planes_.size(); ++i) {
      if (planes_[i] == 0) planes_[i] = 1;  // the only device of the system
      if (std::has_single_bit(static_cast<uint32_t>(std::popcount(planes_[i])))) continue;
      return Refuse(StrCat(NameOf(topology_.At(DeviceIndex(i))), ": it has cables of ",
                           std::popcount(planes_[i]),
                           " planes, and an instance has 1, 2 or 4; change its chip or graph"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Write(uint32_t host) const {
    const std::string& name = system_.spec.root.hosts[host];
    if (!std::all_of(name.begin(), name.end(), IsNameCharacter)) {
      return Refuse(StrCat("host ", Quoted(name),
                           ": the name of a daemon has letters, digits, _, - "
                           "and . alone; choose another one in hosts"));
    }
    std::vector<DeviceIndex> devices;
    for (uint32_t i = 0; i < hosts_.size(); ++i) {
      if (hosts_[i] == host) devices.push_back(DeviceIndex(i));
    }
    const std::vector<PlannedCable> cables = CablesOf(host);
    std::string text = StrCat("# Host ", name, " of ", params_.source,
                              ", by suede-mesh plan.\nversion: 1\nname: ", name, "\n");
    AppendLcores(devices.size(), text);
    if (absl::Status s = AppendPorts(name, cables, text); !s.ok()) return s;
    StrAppend(&text, "mesh: {specification: ", SpecificationText(specification_),
              ", cbfc: ", cbfc(), "}\n");
    AppendDevices(devices, text);
    AppendCables(cables, text);
    AppendInstances(devices, text);
    AppendPeers(devices, text);
    AppendTransport(text);
    if (text.size() <= kMaxConfigBytes) return text;
    return Refuse(StrCat("host ", name, ": its configuration has ", text.size(),
                         " bytes, and one may have ", kMaxConfigBytes,
                         "; give its boards to several hosts"));
  }

  // Returns the cables by their own ends.
  std::vector<PlannedCable> CablesOf(uint32_t host) const {
    std::vector<PlannedCable> cables;
    for (uint32_t plane = 0; plane < system_.planes.size(); ++plane) {
      for (const Cable& cable : system_.planes[plane].topology.cables()) {
        const bool in_order = cable.a < cable.b;
        const DevicePort &low = in_order ? cable.a : cable.b, &high = in_order ? cable.b : cable.a;
        const bool has_low = HostOf(low) == host, has_high = HostOf(high) == host;
        const bool leaves = has_low != has_high;
        if (has_low) cables.push_back({low, high, PlaneIndex(plane), leaves});
        if (has_high && leaves) cables.push_back({high, low, PlaneIndex(plane), leaves});
      }
    }
    std::sort(cables.begin(), cables.end(),
              [](const PlannedCable& a, const PlannedCable& b) { return a.from < b.from; });
    return cables;
  }
  uint32_t HostOf(const DevicePort& end) const { return hosts_[topology_.IndexOf(end.device)]; }

  // ---- Sections.

  uint32_t LcoresFor(size_t devices) const {
    return std::min(params_.lcores, static_cast<uint32_t>(devices));
  }
  // Returns the CPU of the device at `at` of `devices` of a host.
  uint32_t LcoreOf(size_t at, size_t devices) const {
    return static_cast<uint32_t>(at * LcoresFor(devices) / devices);
  }

  void AppendLcores(size_t devices, std::string& text) const {
    text += "lcores:\n";
    for (uint32_t cpu = 0; cpu < LcoresFor(devices); ++cpu) {
      StrAppend(&text, "  - {cpu: ", cpu, params_.device.empty() ? ", idle: sleep" : "", "}\n");
    }
  }

  absl::Status AppendPorts(const std::string& host, const std::vector<PlannedCable>& cables,
                           std::string& text) const {
    text += "ports:\n";
    for (size_t plane = 0; plane < system_.planes.size(); ++plane) {
      StrAppend(&text, "  - {name: plane", plane, ", device: mesh, plane: ", plane,
                ", encapsulation: afh2}\n");
    }
    uint32_t number = 0;
    for (const PlannedCable& cable : cables) {
      if (!cable.leaves) continue;
      const absl::StatusOr<std::string> device =
          params_.device.empty() ? MemifOf(cable, number) : DeviceOf(cable, number, host);
      if (!device.ok()) return device.status();
      StrAppend(&text, "  - {name: ", NameOf(cable.from), ", device: ", FormatText(*device),
                ", encapsulation: afh2, cbfc: ", cbfc(), "}\n");
      ++number;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> MemifOf(const PlannedCable& cable, uint32_t number) const {
    const bool serves = cable.from < cable.to;
    const std::string path = StrCat(params_.sockets, "/", system_.spec.root.name, "-",
                                    NameOf(serves ? cable.from : cable.to), ".sock");
    constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;
    if (!path.starts_with('/') || path.size() > kMaxSocketPath) {
      return Refuse(StrCat("socket ", path, ": a path begins with / and has at most ",
                           kMaxSocketPath, " characters; give another directory with --sockets"));
    }
    return StrCat("net_memif", number, ",role=", serves ? "server" : "client",
                  ",id=0,socket=", path, ",socket-abstract=no,bsize=2304");
  }

  absl::StatusOr<std::string> DeviceOf(const PlannedCable& cable, uint32_t number,
                                       const std::string& host) const {
    std::string device;
    std::string_view rest = params_.device;
    for (size_t open = 0; (open = rest.find('{')) != std::string_view::npos;) {
      const size_t close = rest.find('}', open);
      const std::string_view key = rest.substr(open, close == rest.npos ? close : close - open + 1);
      StrAppend(&device, rest.substr(0, open));
      if (key == "{host}") {
        device += host;
      } else if (key == "{end}") {
        device += NameOf(cable.from);
      } else if (key == "{number}") {
        StrAppend(&device, number);
      } else {
        return Refuse(
            StrCat("with --device: no ", key, "; write {host}, {end} or {number} in braces"));
      }
      rest.remove_prefix(open + key.size());
    }
    return StrCat(device, rest);
  }

  void AppendDevices(const std::vector<DeviceIndex>& devices, std::string& text) const {
    text += "devices:\n";
    for (size_t i = 0; i < devices.size(); ++i) {
      StrAppend(&text, "  - device: ", NameOf(topology_.At(devices[i])),
                "\n    lcore: ", LcoreOf(i, devices.size()), "\n    tables:\n");
      for (const Tables& tables : tables_) {
        const TableLists lists = ListsOf(topology_, tables[devices[i]]);
        StrAppend(&text, "      - {devices: ", lists.devices, ", meshes: ", lists.meshes, "}\n");
      }
    }
  }

  void AppendCables(const std::vector<PlannedCable>& cables, std::string& text) const {
    if (cables.empty()) return;
    text += "cables:\n";
    for (const PlannedCable& cable : cables) {
      const std::string from = NameOf(cable.from);
      StrAppend(&text, "  - {from: ", from, ", to: ", NameOf(cable.to),
                cable.leaves ? StrCat(", port: ", from) : "",
                cable.plane == 0 ? "" : StrCat(", plane: ", uint32_t{cable.plane}), "}\n");
    }
  }

  void AppendInstances(const std::vector<DeviceIndex>& devices, std::string& text) const {
    std::vector<Run> runs;
    for (size_t i = 0; i < devices.size(); ++i) {
      AddTo(runs, {.device = topology_.At(devices[i]),
                   .first = devices[i],
                   .last = devices[i],
                   .lcore = LcoreOf(i, devices.size()),
                   .planes = planes_[devices[i]]});
    }
    text += "instances:\n";
    for (const Run& run : runs) AppendRun(run, StrCat(", lcore: ", run.lcore), text);
  }

  // Appends all XPUs, with the planes on which a device of the host has a route to them.
  void AppendPeers(const std::vector<DeviceIndex>& devices, std::string& text) const {
    std::vector<Run> runs;
    for (uint32_t xpu = 0; xpu < topology_.device_count(); ++xpu) {
      const Device device = topology_.At(DeviceIndex(xpu));
      PlaneMask reached = 0;
      ForEach(planes_[xpu], [&](uint32_t plane) {
        const bool has_route = std::any_of(devices.begin(), devices.end(), [&](DeviceIndex own) {
          return tables_[plane][own].Lookup(device).kind != NextHop::Kind::kNone;
        });
        if (has_route) reached |= PlaneMask{1} << plane;
      });
      if (reached == 0) continue;
      AddTo(runs, {.device = device, .first = xpu, .last = xpu, .planes = reached});
    }
    text += "peers:\n";
    for (const Run& run : runs) AppendRun(run, "", text);
  }

  // Devices forward the VCs independently of each other. Processes that share CPUs wait for each
  // other for milliseconds.
  void AppendTransport(std::string& text) const {
    const bool shares = params_.device.empty();
    StrAppend(&text, "transport: {psn_scope: vc",
              shares ? ", rto_initial_us: 20000, rto_min_us: 10000" : "", "}\n",
              shares ? "planes: {hello_interval_us: 10000}\n" : "");
  }

  static void AppendRun(const Run& run, const std::string& keys, std::string& text) {
    const bool is_range = run.first != run.last;
    StrAppend(&text, "  - {",
              is_range ? StrCat("xpus: ", run.first, "-", run.last) : StrCat("xpu: ", run.first),
              keys, ", ports: [");
    std::string_view separator;
    ForEach(run.planes, [&](uint32_t plane) {
      const uint32_t address = *Encode({.device = run.device, .plane = PlaneIndex(plane)});
      StrAppend(&text, std::exchange(separator, ", "), "{port: plane", plane,
                is_range ? ", forwarding_base: " : ", forwarding_address: ",
                FormatForwardingAddress(is_range ? address - run.first : address), "}");
    });
    text += "]}\n";
  }

  template <class Use>
  static void ForEach(PlaneMask planes, const Use& use) {
    for (; planes != 0; planes &= planes - 1) {
      use(static_cast<uint32_t>(std::countr_zero(planes)));
    }
  }

  const MeshSystem& system_;
  const Topology& topology_;  // for its devices
  const std::vector<Tables>& tables_;
  const PlanParams& params_;
  const uint64_t specification_;
  const std::vector<uint32_t> hosts_;  // of each device
  std::vector<PlaneMask> planes_;      // of each device's instance
};

}  // namespace

std::vector<uint32_t> HostsOfDevices(const MeshSystem& system) {
  const SystemSpec& spec = system.spec;
  const Topology& topology = system.planes[0].topology;
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> hosts(topology.device_count(), kNone);
  for (uint32_t i = 0; i < hosts.size(); ++i) {
    const Device device = topology.At(DeviceIndex(i));
    const MeshSpec& mesh = spec.meshes[device.mesh];
    if (mesh.hosts.empty()) continue;
    const BoardSpec& board =
        *std::find_if(spec.boards.begin(), spec.boards.end(),
                      [&](const BoardSpec& one) { return one.name == mesh.board; });
    const Grid::Place place = system.planes[0].grids[device.mesh].PlaceOf(device.device);
    hosts[i] =
        IndexOf(spec.root.hosts, mesh.hosts[place[1] / board.rows][place[0] / board.columns]);
  }
  // Each round gives a host to the meshes beside those that have one.
  while (std::find(hosts.begin(), hosts.end(), kNone) != hosts.end()) {
    std::vector<uint32_t> next(topology.mesh_count(), kNone);
    for (const SystemPlane& plane : system.planes) {
      for (const Cable& cable : plane.topology.cables()) {
        for (const auto& [end, far] : {std::pair(cable.a, cable.b), std::pair(cable.b, cable.a)}) {
          uint32_t& host = next[end.device.mesh];
          host = std::min(host, hosts[topology.IndexOf(far.device)]);
        }
      }
    }
    for (uint32_t i = 0; i < hosts.size(); ++i) {
      if (hosts[i] == kNone) hosts[i] = next[topology.At(DeviceIndex(i)).mesh];
    }
  }
  return hosts;
}

absl::StatusOr<std::vector<HostPlan>> PlanHosts(const MeshSystem& system,
                                                const std::vector<Tables>& tables,
                                                const PlanParams& params) {
  return Planner(system, tables, params).Plan();
}

}  // namespace suede::mesh
