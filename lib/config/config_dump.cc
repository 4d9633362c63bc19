// SPDX-License-Identifier: Apache-2.0
// The effective configuration as YAML, and the table of the keys: both derive from the declaration.
#include "config/config_dump.h"

#include "base/text.h"

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
void SetAddress(Encapsulation e, const std::optional<ConfigAddress>& address, Entry& entry) {
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
      SetAddress(own.encapsulation, port.address, entry);
      ports.push_back(Inline(entry));
    }
    AppendEntry(InstanceEntry{.xpu = instance.xpu,
                              .instance = instance.instance,
                              .lcore = config.lcores[instance.lcore].cpu,
                              .ordering = instance.ordering,
                              .congestion = instance.congestion,
                              .sealing = instance.sealing},
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
      if (port.mac != ConfigMac{}) entry.mac = port.mac;
      ports.push_back(Inline(entry));
    }
    PeerEntry entry{.xpu = peer.xpu, .hello = peer.hello};
    if (!peer.control.empty()) entry.control = peer.control;
    AppendEntry(entry, ports, out);
  }
}

}  // namespace

std::string DumpConfig(const Config& config) {
  std::string out = StrCat("# Effective configuration of ", config.name, ".\n");
  const RootEntry root{.name = config.name, .partition = config.partition};
  StrAppend(&out, StrJoin(Lines(root), "\n"), "\n");
  AppendSection("eal", config.eal, out);
  out += "lcores:\n";
  for (const LcoreConfig& lcore : config.lcores) StrAppend(&out, "  - ", Inline(lcore), "\n");
  AppendPorts(config, out);
  AppendInstances(config, out);
  AppendPeers(config, out);
  out += "classes:\n  vc:\n";
  for (const ConfigVcClass& c : config.classes.vc) StrAppend(&out, "    - ", Inline(c), "\n");
  StrAppend(&out, "  ack: ", Inline(config.classes.ack), "\n");
  AppendSection("packing", config.packing, out);
  AppendSection("transport", config.transport, out);
  AppendSection("planes", config.planes, out);
  AppendSection("sessions", config.sessions, out);
  AppendSection("pfc", config.pfc, out);
  AppendSection("congestion", config.congestion, out);
  AppendSection("llr", config.llr, out);
  AppendSection("cbfc", config.cbfc, out);
  AppendSection("sealing", config.sealing, out);
  StrAppend(&out, "  tls: ", Inline(config.sealing.tls), "\n");
  AppendSection("clients", config.clients, out);
  AppendSection("management", config.management, out);
  AppendSection("log", config.log, out);
  return out;
}

std::string ConfigKeysAsMarkdown() {
  std::string out =
      "| Key | Unit | Range | Default | Changes take effect | Meaning |\n"
      "|---|---|---|---|---|---|\n";
  for (const ConfigKey& key : ConfigKeys()) {
    StrAppend(&out, "| `", key.path, "` | ", key.unit, " | ", key.range, " | ", key.default_value,
              " | ", key.is_section ? "" : NameOf(key.effect), " | ", key.sentence, " |\n");
  }
  return out;
}

}  // namespace suede
