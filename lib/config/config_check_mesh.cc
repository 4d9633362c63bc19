// SPDX-License-Identifier: Apache-2.0
// Rules of the devices of a mesh, of their cables, and of the ports and instances on them.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "base/text.h"
#include "config/config_checks.h"
#include "config/config_encapsulation.h"

namespace suede {
namespace {

using absl::OkStatus;
using absl::Status;
using mesh::DevicePort;

class MeshCheck {
 public:
  explicit MeshCheck(const ConfigDraft& draft)
      : draft_(draft), config_(draft.config), planes_(MeshPlanesOf(draft.config)) {}

  Status Check() {
    if (Status s = CheckCentres(); !s.ok()) return s;
    if (Status s = CheckDevices(); !s.ok()) return s;
    if (Status s = CheckCables(); !s.ok()) return s;
    if (Status s = CheckTables(); !s.ok()) return s;
    if (Status s = CheckInstances(); !s.ok()) return s;
    return planes_ == 0 ? OkStatus() : CheckClasses();
  }

 private:
  const DeviceConfig* Find(const mesh::Device& device) const {
    const auto at =
        std::ranges::find_if(config_.devices, [&](const auto& d) { return d.device == device; });
    return at == config_.devices.end() ? nullptr : &*at;
  }
  std::string PortPath(size_t p, std::string_view key) const {
    return StrCat(Entry("ports", p), ".", key);
  }

  // Checks the keys of ports whose frames routers read: centres, and ends of cables.
  Status CheckMeshPort(size_t p, std::string_view what) const {
    const PortConfig& port = config_.ports[p];
    if (port.encapsulation != PortConfig::Encapsulation::kAfh2) {
      return draft_.Error(PortPath(p, "encapsulation"),
                          StrCat(NameOf(port.encapsulation),
                                 " frames cannot pass several devices: their addresses have no "
                                 "room for mesh and plane, or they have no hop count; use afh2"));
    }
    const auto refuse = [&](bool given, std::string_view key, std::string_view mend) {
      return given ? draft_.Error(PortPath(p, key), StrCat("not possible for ", what, "; ", mend))
                   : OkStatus();
    };
    if (Status s = refuse(port.vid.has_value(), "vlan", "remove vlan"); !s.ok()) return s;
    if (Status s = refuse(port.tap.has_value(), "tap", "remove tap"); !s.ok()) return s;
    if (Status s = refuse(port.lldp == OnOff::kOn, "lldp",
                          "remove it: HELLO of the link names the neighbour");
        !s.ok()) {
      return s;
    }
    if (Status s = refuse(port.queues != PortConfig::Queues::kLcore, "queues", "remove queues");
        !s.ok()) {
      return s;
    }
    if (Status s = refuse(port.ether_type != TraitsOf(port.encapsulation).ether_type, "ether_type",
                          "remove it: devices know the usual one");
        !s.ok()) {
      return s;
    }
    if (Status s = refuse(port.trimmed_dscp.has_value(), "trimmed_dscp", "remove it"); !s.ok()) {
      return s;
    }
    return refuse(port.pfc != PortConfig::Pfc::kOff, "pfc",
                  "cables that lose no frame have cbfc: on");
  }

  Status CheckCentres() {
    for (size_t p = 0; p < config_.ports.size(); ++p) {
      const PortConfig& port = config_.ports[p];
      if (!IsCentre(port)) {
        if (!port.plane) continue;
        return draft_.Error(PortPath(p, "plane"), "goes with device: mesh; remove it");
      }
      if (Status s = CheckMeshPort(p, "a port into the mesh"); !s.ok()) return s;
      for (const auto& [key, given] : {std::pair("llr", port.llr), std::pair("cbfc", port.cbfc)}) {
        if (given == OnOff::kOff) continue;
        return draft_.Error(PortPath(p, key),
                            "there is no cable; set mesh.cbfc, or keys of the ports of cables");
      }
      if (*port.plane >= planes_) {
        return draft_.Error(PortPath(p, "plane"), StrCat("there are ", planes_,
                                                         " ports with device: mesh; number their "
                                                         "planes from 0 on"));
      }
      if (const auto [at, is_new] = centres_.emplace(*port.plane, p); !is_new) {
        return draft_.Error(PortPath(p, "plane"),
                            StrCat(*port.plane, " is the plane of ", Entry("ports", at->second),
                                   " already; choose another"));
      }
    }
    return OkStatus();
  }

  Status CheckDevices() {
    if (config_.devices.empty() && planes_ != 0) {
      return draft_.Error("devices", "there is a port with device: mesh, and no device; add one");
    }
    if (!config_.devices.empty() && planes_ == 0) {
      return draft_.Error("devices",
                          "no instance can reach them; add a port with device: mesh, plane: 0");
    }
    if (config_.transport.psn_scope != PsnScope::kVc && !config_.devices.empty()) {
      return draft_.Error("transport.psn_scope",
                          "devices forward the VCs independently of each other; set it to vc");
    }
    for (size_t i = 0; i < config_.devices.size(); ++i) {
      const DeviceConfig& device = config_.devices[i];
      const std::string path = Entry("devices", i);
      if (Find(device.device) != &device) {
        return draft_.Error(path + ".device",
                            StrCat(NameOf(device.device), " is an entry already; remove one"));
      }
      if (device.tables.size() != planes_) {
        return draft_.Error(path + ".tables", StrCat(device.tables.size(), " tables; write ",
                                                     planes_, ", one for each plane"));
      }
    }
    return OkStatus();
  }

  Status TakeEnd(const DevicePort& end, const std::string& path, size_t cable) {
    const auto [at, is_new] = ends_.emplace(end, cable);
    if (is_new) return OkStatus();
    return draft_.Error(path, StrCat(NameOf(end), " has the cable ", Entry("cables", at->second),
                                     " already; remove one"));
  }

  Status CheckCables() {
    for (size_t i = 0; i < config_.cables.size(); ++i) {
      const CableConfig& cable = config_.cables[i];
      const std::string path = Entry("cables", i);
      const auto no_own = [&](const std::string& key, const DevicePort& end) {
        return draft_.Error(path + key, StrCat(NameOf(end.device),
                                               " is not one of devices; add it, or write the cable "
                                               "from the own end, with port: NAME"));
      };
      if (Find(cable.from.device) == nullptr) return no_own(".from", cable.from);
      if (cable.plane >= planes_) {
        return draft_.Error(path + ".plane",
                            StrCat("there is no port with device: mesh and plane: ",
                                   uint32_t{cable.plane}, "; add one"));
      }
      if (Status s = TakeEnd(cable.from, path + ".from", i); !s.ok()) return s;
      if (cable.port) {
        if (Status s = CheckOuter(*cable.port, path + ".port", i); !s.ok()) return s;
        continue;
      }
      if (Find(cable.to.device) == nullptr) return no_own(".to", cable.to);
      if (Status s = TakeEnd(cable.to, path + ".to", i); !s.ok()) return s;
    }
    return OkStatus();
  }

  // Checks the port by which a cable leaves the endpoint.
  Status CheckOuter(size_t p, const std::string& path, size_t cable) {
    const PortConfig& port = config_.ports[p];
    if (IsCentre(port)) {
      return draft_.Error(path, StrCat(port.name, " has no device; name the port of a cable"));
    }
    if (const auto [at, is_new] = outer_.emplace(p, cable); !is_new) {
      return draft_.Error(path, StrCat(port.name, " is that of ", Entry("cables", at->second),
                                       " already; each cable has a port of its own"));
    }
    if (Status s = CheckMeshPort(p, "the port of a cable"); !s.ok()) return s;
    const PortConfig& centre = config_.ports[centres_.begin()->second];
    if (port.mtu_bytes < centre.mtu_bytes) {
      return draft_.Error(PortPath(p, "mtu_bytes"),
                          StrCat(port.mtu_bytes, " is less than that of ", centre.name,
                                 ", whose frames pass here; use ", centre.mtu_bytes));
    }
    if (port.cbfc == OnOff::kOff || config_.cbfc.credits.empty()) return OkStatus();
    return draft_.Error("cbfc.credits",
                        "devices grant credit by mesh.credit_frames; remove cbfc.credits");
  }

  bool HasCable(const DevicePort& port, uint32_t plane) const {
    const auto at = ends_.find(port);
    return at != ends_.end() && config_.cables[at->second].plane == plane;
  }

  // Checks that each port of a table has a cable of its plane.
  Status CheckTables() const {
    for (size_t i = 0; i < config_.devices.size(); ++i) {
      for (const DeviceTable& table : config_.devices[i].tables) {
        const std::string path = Entry(StrCat(Entry("devices", i), ".tables"), table.routes.plane);
        for (const auto& [key, ports, count] :
             {std::tuple(".devices", &table.routes.to_devices, table.devices),
              std::tuple(".meshes", &table.routes.to_meshes, table.meshes)}) {
          for (uint32_t entry = 0; entry < count; ++entry) {
            const std::optional<mesh::PortId> port = (*ports)[entry];
            const DevicePort end{.device = table.routes.own, .port = port.value_or(mesh::PortId())};
            if (!port || HasCable(end, table.routes.plane)) continue;
            return draft_.Error(
                Entry(path + key, entry),
                StrCat(NameOf(end), " has no cable on plane ", uint32_t{table.routes.plane},
                       "; add it to cables, or write . for no route"));
          }
        }
      }
    }
    return OkStatus();
  }

  Status CheckInstances() const {
    for (size_t i = 0; i < config_.instances.size(); ++i) {
      const InstanceConfig& instance = config_.instances[i];
      const std::string path = Entry("instances", draft_.instance_entries[i]);
      for (size_t at = 0; at < instance.ports.size(); ++at) {
        const InstancePort& plane = instance.ports[at];
        const PortConfig& port = config_.ports[plane.port];
        const std::string port_path = Entry(path + ".ports", at);
        if (outer_.contains(plane.port)) {
          return draft_.Error(port_path + ".port",
                              StrCat(port.name,
                                     " is the port of a cable between devices; use one "
                                     "with device: mesh"));
        }
        if (!IsCentre(port)) continue;
        const auto address = mesh::Decode(static_cast<uint32_t>(plane.address.low));
        const std::string shown = FormatForwardingAddress(plane.address.low);
        if (!address || address->plane != *port.plane) {
          return draft_.Error(port_path, StrCat(shown, " is no address of plane ", *port.plane,
                                                "; the plane is in bits 27:26"));
        }
        const DeviceConfig* const device = Find(address->device);
        if (device == nullptr) {
          return draft_.Error(port_path,
                              StrCat(shown, " is an address of ", NameOf(address->device),
                                     ", which is not one of devices; add it, or give "
                                     "the instance another forwarding_address"));
        }
        if (device->lcore == instance.lcore) continue;
        return draft_.Error(
            path + ".lcore",
            StrCat(NameOf(device->device), " runs on the lcore of CPU ",
                   config_.lcores[device->lcore].cpu, ", and so do its instances; use that"));
      }
    }
    return OkStatus();
  }

  // Checks that the DSCPs leave the bits of the level free.
  Status CheckClasses() const {
    const auto check = [&](const std::string& path, uint32_t dscp) {
      if (dscp % 8 == 0) return OkStatus();
      return draft_.Error(path + ".dscp", StrCat(dscp,
                                                 " has bits that devices of a mesh use for "
                                                 "the level of a frame; use a multiple of 8"));
    };
    for (size_t vc = 0; vc < config_.classes.vc.size(); ++vc) {
      const ConfigVcClass& of_vc = config_.classes.vc[vc];
      if (Status s = check(Entry("classes.vc", vc), of_vc.dscp); !s.ok()) return s;
    }
    return check("classes.ack", config_.classes.ack.dscp);
  }

  const ConfigDraft& draft_;
  const Config& config_;
  const uint32_t planes_;
  std::map<uint32_t, size_t> centres_;  // by plane
  std::map<DevicePort, size_t> ends_;   // value: index of the cable
  std::map<size_t, size_t> outer_;      // ports of cables
};

}  // namespace

Status CheckMesh(const ConfigDraft& draft) { return MeshCheck(draft).Check(); }

}  // namespace suede
