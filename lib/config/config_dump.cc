// SPDX-License-Identifier: Apache-2.0
// The effective configuration as YAML, derived from the declaration of the keys.
#include "config/config_dump.h"

#include "base/text.h"
#include "mesh/table_text.h"

namespace suede {
namespace {

void AppendPorts(const Config& config, std::string& out) {
  out += "ports:\n";
  for (const PortConfig& port : config.ports) {
    StrAppend(&out, "  - ", StrJoin(Lines(port, port.encapsulation), "\n    "), "\n");
    if (port.vid) StrAppend(&out, "    vlan: ", Inline(VlanEntry{*port.vid}), "\n");
  }
}

// Appends an entry's own keys and its ports, on one line.
template <class S>
void AppendEntry(const S& entry, const std::vector<std::string>& ports, std::string& out) {
  StrAppend(&out, "  - {", StrJoin(Lines(entry), ", "), ", ports: [", StrJoin(ports, ", "), "]}\n");
}

// Sets the keys of an entry's address; nullopt: the default rule, no key.
template <class Entry>
void SetAddress(Encapsulation e, const std::optional<NetAddress>& address, Entry& entry) {
  if (!address) return;
  if (kUdp.Has(e)) {
    entry.ip = IpText{.is_v6 = IsIpv6(e), .value = *address};
  } else {
    entry.forwarding_address = static_cast<uint32_t>(address->low);
  }
}

void AppendInstances(const Config& config, std::string& out) {
  out += "instances:\n";
  for (const InstanceConfig& instance : config.instances) {
    std::vector<std::string> ports;
    for (const InstancePort& port : instance.ports) {
      const PortConfig& own = config.ports[port.port];
      InstancePortEntry entry{.port = own.name};
      if (!port.assigned) SetAddress(own.encapsulation, port.address, entry);
      ports.push_back(Inline(entry));
    }
    AppendEntry(InstanceEntry{.xpu = instance.xpu,
                              .instance = instance.instance,
                              .lcore = config.lcores[instance.lcore].cpu,
                              .ordering = instance.ordering,
                              .congestion = instance.congestion,
                              .sealing = instance.sealing,
                              .partition = instance.partition},
                ports, out);
  }
}

void AppendPeers(const Config& config, std::string& out) {
  out += "peers:\n";
  for (const PeerConfig& peer : config.peers) {
    std::vector<std::string> ports;
    for (const PeerPort& port : peer.ports) {
      const PortConfig& own = config.ports[port.port];
      PeerPortEntry entry{.port = own.name, .instance = port.instance};
      SetAddress(own.encapsulation, port.address, entry);
      if (port.mac != MacAddress{}) entry.mac = port.mac;
      ports.push_back(Inline(entry));
    }
    PeerEntry entry{.xpu = peer.xpu, .hello = peer.hello};
    if (!peer.name.empty()) entry.name = peer.name;
    if (!peer.control.empty()) entry.control = peer.control;
    AppendEntry(entry, ports, out);
  }
}

void AppendDevices(const Config& config, std::string& out) {
  if (!config.devices.empty()) out += "devices:\n";
  for (const DeviceConfig& device : config.devices) {
    const DeviceEntry entry{.device = NameOf(device.device),
                            .lcore = config.lcores[device.lcore].cpu};
    StrAppend(&out, "  - {", StrJoin(Lines(entry), ", "), ", tables: [");
    for (const DeviceTable& table : device.tables) {
      const mesh::RoutingTable& routes = table.routes;
      StrAppend(&out, routes.plane == 0 ? "" : ", ",
                "{devices: ", EntriesText(routes.to_devices, table.devices, device.device.device),
                ", meshes: ", EntriesText(routes.to_meshes, table.meshes, device.device.mesh), "}");
    }
    out += "]}\n";
  }
  std::vector<CableEntry> cables;
  for (const CableConfig& cable : config.cables) {
    CableEntry& entry = cables.emplace_back(CableEntry{
        .from = NameOf(cable.from), .to = NameOf(cable.to), .port = {}, .plane = cable.plane});
    if (cable.port) entry.port = config.ports[*cable.port].name;
  }
  AppendList("cables", cables, "", out);
}

}  // namespace

std::string DumpConfig(const Config& config) {
  std::string out = StrCat("# Effective configuration of ", config.name, ".\n");
  const RootEntry root{.name = config.name, .partition = config.partition};
  StrAppend(&out, StrJoin(Lines(root), "\n"), "\n");
  AppendSection("eal", config.eal, out);
  AppendList("lcores", config.lcores, "", out);
  AppendPorts(config, out);
  AppendInstances(config, out);
  AppendPeers(config, out);
  AppendDevices(config, out);
  out += "classes:\n";
  AppendList("vc", config.classes.vc, "  ", out);
  StrAppend(&out, "  ack: ", Inline(config.classes.ack), "\n");
  VisitSections(
      [&](std::string_view path, std::string_view, const auto& section) {
        const size_t dot = path.find('.');
        if (dot == std::string_view::npos) {
          AppendSection(path, section, out);
        } else {
          StrAppend(&out, "  ", path.substr(dot + 1), ": ", Inline(section), "\n");
        }
      },
      config);
  return out;
}

}  // namespace suede
