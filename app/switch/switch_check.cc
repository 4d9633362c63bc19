// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.h"
#include "config/config_checks.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"
#include "config/link_config.h"
#include "fabric/params.h"
#include "link/link_params.h"
#include "switch/address_text.h"

namespace suede {
namespace {

using absl::OkStatus;
using absl::Status;
using Forwarding = SwitchRoot::Forwarding;

// Checks the rules shared with endpoints.
Status CheckCommon(const MachineFacts& machine, ConfigDraft& draft, SwitchConfig& config) {
  draft.config.name = config.name();
  draft.config.eal = config.eal;
  draft.config.lcores = config.lcores;
  draft.config.management = config.management;
  for (const SwitchPortConfig& port : config.ports) {
    PortConfig& common = draft.config.ports.emplace_back();
    common.name = port.name;
    common.device = port.device;
    common.socket_mode = port.socket_mode;
    common.mac = port.mac;
  }
  if (Status s = CheckDaemonConfig(machine, draft); !s.ok()) return s;
  config.management = draft.config.management;
  return OkStatus();
}

Status CheckClasses(const ConfigDraft& draft, const SwitchConfig& config) {
  if (config.classes.pcp.size() != 8) {
    return draft.Error("classes.pcp",
                       StrCat(config.classes.pcp.size(), " classes; write eight, for PCP 0 to 7"));
  }
  std::set<uint32_t> seen;
  for (size_t i = 0; i < config.dscps.size(); ++i) {
    if (seen.insert(config.dscps[i].dscp).second) continue;
    return draft.Error(Entry("classes.dscp", i),
                       StrCat("DSCP ", config.dscps[i].dscp, " has a class already; remove one"));
  }
  seen.clear();
  for (size_t i = 0; i < config.of_class.size(); ++i) {
    const SwitchClassConfig& one = config.of_class[i];
    const std::string path = Entry("classes.of", i);
    if (!seen.insert(one.traffic_class).second) {
      return draft.Error(
          path, StrCat("class ", one.traffic_class, " is there already; remove one of them"));
    }
    if (one.ecn && one.ecn->least_bytes > one.ecn->most_bytes) {
      return draft.Error(path + ".ecn.least_bytes",
                         StrCat(one.ecn->least_bytes, " is more than most_bytes; use at most ",
                                one.ecn->most_bytes));
    }
    const double sixteenths = one.alpha.value * 16;
    if (sixteenths != std::floor(sixteenths)) {
      return draft.Error(path + ".alpha",
                         StrCat(*WriteValue(one.alpha, {}), " is no multiple of 1/16; use ",
                                *WriteValue(Decimal{std::round(sixteenths) / 16}, {})));
    }
    if (one.lossless == OnOff::kOff && one.headroom_bytes) {
      return draft.Error(path + ".headroom_bytes",
                         "only a lossless class has a headroom; add lossless: on, or remove it");
    }
  }
  return OkStatus();
}

bool HasCredit(const SwitchConfig& config) {
  return std::ranges::any_of(config.ports,
                             [](const auto& port) { return port.cbfc == OnOff::kOn; });
}

// Returns the bytes of the buffer reserved for frames that ports with cbfc: on receive on credit.
uint64_t CreditBytesOf(const SwitchConfig& config) {
  if (!HasCredit(config)) return 0;
  const CreditGrant grant = CreditGrantOf(config);
  fabric::SwitchParams params{.cell_bytes = config.buffer.cell_bytes, .cbfc = {.rule = grant.rule}};
  uint64_t bytes = 0;
  for (uint32_t c = 0; c < fabric::kClasses; ++c) {
    params.of_class[c].credits = grant.limits[c];
    bytes += fabric::CreditBytes(params, c);
  }
  return bytes * static_cast<uint64_t>(
                     std::ranges::count(config.ports, OnOff::kOn, &SwitchPortConfig::cbfc));
}

// Checks that class and link VC are the same: both ends must derive the same link VC from a frame,
// and the class determines its part of the buffer.
Status CheckCreditClasses(const ConfigDraft& draft, const SwitchConfig& config) {
  constexpr std::string_view kWhy = "; with cbfc: on a frame's class is its link VC, use ";
  for (uint32_t pcp = 0; pcp < 8; ++pcp) {
    if (config.classes.pcp[pcp] == pcp) continue;
    return draft.Error("classes.pcp", StrCat("PCP ", pcp, " has class ", config.classes.pcp[pcp],
                                             kWhy, "[0, 1, 2, 3, 4, 5, 6, 7]"));
  }
  for (size_t i = 0; i < config.dscps.size(); ++i) {
    const SwitchDscpConfig& one = config.dscps[i];
    if (one.traffic_class == one.dscp >> 3) continue;
    return draft.Error(
        Entry("classes.dscp", i) + ".class",
        StrCat("DSCP ", one.dscp, " has class ", one.traffic_class, kWhy, one.dscp >> 3));
  }
  if (config.classes.other == 0) return OkStatus();
  return draft.Error("classes.other", StrCat("it is ", config.classes.other, kWhy, "0"));
}

Status CheckCredit(const ConfigDraft& draft, const SwitchConfig& config) {
  if (!HasCredit(config)) return OkStatus();
  if (Status s = CheckCreditClasses(draft, config); !s.ok()) return s;
  return CheckCredits(draft, config.cbfc, CreditGrantOf(config), MaxBytesOnCredit(config));
}

// Checks that the buffer holds all reservations, and the longest frame in the shared part.
Status CheckBuffer(const ConfigDraft& draft, const SwitchConfig& config) {
  uint64_t reserved = 0;
  const SwitchClassConfig usual;
  std::array<const SwitchClassConfig*, 8> of{};
  of.fill(&usual);
  for (const SwitchClassConfig& one : config.of_class) of[one.traffic_class] = &one;
  for (const SwitchClassConfig* one : of) {
    reserved += (uint64_t{one->reserved_bytes} + HeadroomOf(config, *one)) * config.ports.size();
  }
  reserved += CreditBytesOf(config);
  uint64_t longest = 0;
  for (const SwitchPortConfig& port : config.ports) {
    longest = std::max<uint64_t>(longest, MaxFrameBytes(port));
  }
  const uint64_t cell = config.buffer.cell_bytes;
  longest = (longest + cell - 1) / cell * cell;
  if (reserved >= config.buffer.bytes) {
    return draft.Error(
        "buffer.bytes",
        StrCat(config.buffer.bytes, " bytes cannot hold the ", reserved, " that ",
               config.ports.size(), " ports have reserved, headrooms and credit included; use ",
               reserved + longest,
               " or more, or lower "
               "classes.of[].reserved_bytes, headroom_bytes, cable_m or cbfc.credits"));
  }
  const uint64_t shared = config.buffer.bytes - reserved;
  if (shared >= longest) return OkStatus();
  return draft.Error("buffer.bytes", StrCat(config.buffer.bytes, " bytes leave ", shared,
                                            " for the longest frame, which takes ", longest,
                                            "; use ", reserved + longest, " or more"));
}

bool ForwardsByMac(const SwitchConfig& config) {
  return config.root.forwarding != Forwarding::kAfh1 && config.root.forwarding != Forwarding::kAfh2;
}

// Returns the number of the port of this name; nullopt: there is none.
std::optional<uint16_t> FindPort(const SwitchConfig& config, std::string_view name) {
  for (size_t i = 0; i < config.ports.size(); ++i) {
    if (config.ports[i].name == name) return static_cast<uint16_t>(i);
  }
  return std::nullopt;
}

Status CheckEsun(const ConfigDraft& draft, const SwitchConfig& config) {
  const bool by_esun = config.root.forwarding == Forwarding::kEsun;
  if (by_esun && !config.root.esun_ether_type) {
    return draft.Error("forwarding",
                       "ESUN frames have no usual EtherType; add esun_ether_type, such as 0x88B5 "
                       "of experiments, as the endpoints have it");
  }
  if (!by_esun && config.root.esun_ether_type) {
    return draft.Error(
        "esun_ether_type",
        "the switch does not read ESUN headers; write forwarding: esun, or remove it");
  }
  if (by_esun && config.classes.pcp_first == OnOff::kOn) {
    return draft.Error("classes.pcp_first",
                       "the CoS of ESUN frames comes before their PCP; remove it");
  }
  if (by_esun && !config.trim.dscps.empty()) {
    return draft.Error("trim.dscps",
                       "ESUN frames have no length, so they cannot be trimmed; "
                       "remove it");
  }
  return OkStatus();
}

Status CheckSpread(const ConfigDraft& draft, const SwitchGroupConfig& group,
                   const std::string& path) {
  const auto is_zero = [](uint32_t weight) { return weight == 0; };
  if (!group.weights.empty() && group.weights.size() != group.ports.size()) {
    return draft.Error(path + ".weights", StrCat(group.weights.size(), " weights of ",
                                                 group.ports.size(), " ports; write one of each"));
  }
  if (!group.weights.empty() && std::ranges::all_of(group.weights, is_zero)) {
    return draft.Error(path + ".weights", "no port has a share; give one a weight above 0");
  }
  if (group.spread != SwitchGroupConfig::Spread::kFlow &&
      group.hash == SwitchGroupConfig::Hash::kAddresses) {
    return draft.Error(path + ".hash",
                       "frames are not spread by flow; write spread: flow, or remove it");
  }
  return OkStatus();
}

Status CheckGroups(const ConfigDraft& draft, SwitchConfig& config) {
  std::set<std::string_view> names;
  for (const SwitchPortConfig& port : config.ports) names.insert(port.name);
  for (size_t i = 0; i < config.groups.size(); ++i) {
    SwitchGroupConfig& group = config.groups[i];
    const std::string path = Entry("groups", i);
    if (!names.insert(group.name).second) {
      return draft.Error(path + ".name", StrCat("a port or group has the name ", Quoted(group.name),
                                                " already; use another"));
    }
    if (group.ports.empty() || group.ports.size() > fabric::kMaxGroupPorts) {
      return draft.Error(path + ".ports",
                         StrCat(group.ports.size(), " ports; name 1 to ", fabric::kMaxGroupPorts));
    }
    for (const std::string& name : group.ports) {
      const std::optional<uint16_t> port = FindPort(config, name);
      if (!port) {
        return draft.Error(path + ".ports",
                           StrCat("there is no port ", Quoted(name), "; add it to ports"));
      }
      if (std::ranges::find(group.port_numbers, *port) != group.port_numbers.end()) {
        return draft.Error(path + ".ports", StrCat(Quoted(name), " is there twice; remove one"));
      }
      group.port_numbers.push_back(*port);
    }
    if (Status s = CheckSpread(draft, group, path); !s.ok()) return s;
  }
  return OkStatus();
}

Status CheckImpairment(const ConfigDraft& draft, const SwitchConfig& config,
                       const SwitchImpairConfig& impair, const std::string& path) {
  for (const std::string& destination : impair.hole_destinations) {
    const bool is_mac = destination.find(':') != std::string::npos;
    const std::optional<uint64_t> parsed = MacOrNumber(destination);
    const bool is_address = parsed && (is_mac || *parsed <= UINT32_MAX);
    if (is_address && is_mac == ForwardsByMac(config)) continue;
    if (is_address) {
      return draft.Error(
          path + ".hole_destinations",
          StrCat(Quoted(destination), is_mac ? " is a MAC address" : " is a forwarding address",
                 ", and the switch forwards by ", is_mac ? "forwarding" : "MAC",
                 " addresses; write one of these"));
    }
    return draft.Error(path + ".hole_destinations",
                       StrCat(Quoted(destination),
                              " is neither a MAC address nor a forwarding address; write "
                              "\"02:00:00:00:00:01\" or \"0x10\""));
  }
  return OkStatus();
}

Status CheckPorts(const ConfigDraft& draft, SwitchConfig& config) {
  for (size_t i = 0; i < config.ports.size(); ++i) {
    SwitchPortConfig& port = config.ports[i];
    const std::string path = Entry("ports", i);
    if (port.pfc == OnOff::kOn && port.rate_gbps.value == 0) {
      return draft.Error(path + ".pfc",
                         "the quanta of pauses, and the headroom of lossless classes, depend on "
                         "the port's rate; set rate_gbps to that of the link");
    }
    if (port.mtu_bytes == 0) port.mtu_bytes = kDefaultPackBytes + OverheadBytes(Encap::kUdp6);
    if (Status s = CheckFrameRoom(draft, i, MaxFrameBytes(port)); !s.ok()) return s;
    if (port.lcore_cpu) {
      const auto lcore =
          std::find_if(config.lcores.begin(), config.lcores.end(),
                       [&](const LcoreConfig& one) { return one.cpu == *port.lcore_cpu; });
      if (lcore == config.lcores.end()) {
        return draft.Error(path + ".lcore", StrCat("no lcore has CPU ", *port.lcore_cpu,
                                                   "; add it to lcores, or use another"));
      }
      port.lcore = static_cast<uint32_t>(lcore - config.lcores.begin());
    }
    port.lcore_cpu = config.lcores[port.lcore].cpu;
    if (port.llr == OnOff::kOn || port.cbfc == OnOff::kOn) {
      const std::string key = path + ".link_ether_type";
      if (Status s = CheckLinkEtherType(draft, key, port.link_ether_type, 0); !s.ok()) return s;
    }
    if (port.strict_vlans == OnOff::kOff && !port.vlans.empty()) {
      return draft.Error(path + ".vlans",
                         "frames of all VLANs pass; add strict_vlans: on, or remove it");
    }
    for (const auto& [impair, name] :
         {std::pair(&port.impair_in, ".impair_in"), std::pair(&port.impair_out, ".impair_out")}) {
      if (Status s = CheckImpairment(draft, config, *impair, path + name); !s.ok()) return s;
    }
  }
  return OkStatus();
}

Status CheckAssigned(const ConfigDraft& draft, const SwitchConfig& config) {
  std::map<NetAddress, size_t> taken;  // value: the port
  for (size_t i = 0; i < config.ports.size(); ++i) {
    if (!config.ports[i].lldp_assign) continue;
    const SwitchAssignConfig& assign = *config.ports[i].lldp_assign;
    const std::string path = Entry("ports", i) + ".lldp_assign";
    if (config.ports[i].lldp == OnOff::kOff) {
      return draft.Error(path, "addresses are assigned by LLDP, which is off; add lldp: on");
    }
    if (!assign.ip.is_v6 && assign.prefix > 32) {
      return draft.Error(path + ".prefix",
                         StrCat(assign.prefix, " is longer than an IPv4 address; use 1 to 32"));
    }
    const std::string network = StrCat(FormatIp(assign.ip), "/", assign.prefix);
    const lldp::AddressVerdict fault = lldp::FaultOf(AssignmentOf(assign));
    if (fault == lldp::AddressVerdict::kGateway) {
      return draft.Error(path + ".gateway",
                         StrCat(FormatIp(*assign.gateway), " cannot be the gateway of ", network,
                                "; use the address of another host of that network"));
    }
    if (fault != lldp::AddressVerdict::kUsable) {
      return draft.Error(path + ".ip",
                         StrCat(network, " is no host's address but a ", lldp::NameOf(fault),
                                " address; use that of a host of the network"));
    }
    const auto [at, is_new] = taken.emplace(assign.ip.value, i);
    if (is_new) continue;
    return draft.Error(path + ".ip",
                       StrCat(FormatIp(assign.ip), " is assigned at ", Entry("ports", at->second),
                              " already; choose another"));
  }
  return OkStatus();
}

Status CheckAddress(const ConfigDraft& draft, const SwitchConfig& config,
                    SwitchAddressConfig& address, const std::string& path) {
  const bool forwarded =
      config.root.forwarding == Forwarding::kAfh1 || config.root.forwarding == Forwarding::kAfh2;
  const int given = int{address.mac.has_value()} + int{address.forwarding_address.has_value()} +
                    int{address.ip.has_value()};
  if (given != 1) return draft.Error(path, "give one of mac, forwarding_address and ip");
  if (forwarded != address.forwarding_address.has_value()) {
    return draft.Error(path, forwarded ? "the switch forwards by forwarding addresses; give "
                                         "forwarding_address"
                                       : "the switch does not forward by forwarding addresses; "
                                         "give mac, or change forwarding");
  }
  if (address.ip && config.root.forwarding != Forwarding::kIp) {
    return draft.Error(path + ".ip", "the switch does not forward by IP; write forwarding: ip");
  }
  if (address.ip) {
    IpText ip;
    const ConfigNode text{.kind = ConfigNode::Kind::kScalar, .text = *address.ip};
    if (Problem p = ReadValue(text, {}, ip); !p.empty()) return draft.Error(path + ".ip", p);
  }
  if (address.forwarding_address && config.root.forwarding == Forwarding::kAfh1 &&
      *address.forwarding_address > UINT16_MAX) {
    return draft.Error(path + ".forwarding_address",
                       "AFH Gen 1 has 16 bits of it; use at most 65535");
  }
  if (const std::optional<uint16_t> port = FindPort(config, address.port)) {
    address.port_number = *port;
    return OkStatus();
  }
  const auto group = std::ranges::find(config.groups, address.port, &SwitchGroupConfig::name);
  if (group == config.groups.end()) {
    return draft.Error(path + ".port",
                       StrCat("there is no port ", Quoted(address.port), "; add it to ports"));
  }
  address.port_number =
      static_cast<uint16_t>(fabric::kFirstGroup + (group - config.groups.begin()));
  return OkStatus();
}

// Checks that addresses are unique, and that the table has room for all of them.
Status CheckTable(const ConfigDraft& draft, const SwitchConfig& config) {
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < config.addresses.size(); ++i) {
    const SwitchAddressConfig& one = config.addresses[i];
    IpText ip;
    const ConfigNode text{.kind = ConfigNode::Kind::kScalar, .text = one.ip.value_or("")};
    if (one.ip) static_cast<void>(ReadValue(text, {}, ip));  // checked before
    const std::string key = one.ip    ? FormatIp(ip)
                            : one.mac ? StrCat(FormatMac(*one.mac), " ", one.vlan)
                                      : StrCat(*one.forwarding_address);
    if (const auto [at, is_new] = seen.emplace(key, i); !is_new) {
      return draft.Error(Entry("addresses", i),
                         StrCat("the address is that of ", Entry("addresses", at->second),
                                " already; remove one"));
    }
  }
  const SwitchTable& table = config.table;
  if (config.addresses.size() > table.addresses) {
    return draft.Error("table.addresses",
                       StrCat(table.addresses, " is too small for the ", config.addresses.size(),
                              " entries of addresses; use ", config.addresses.size(), " or more"));
  }
  if (table.of_port <= table.addresses || !draft.Has("table.learnt_of_port")) return OkStatus();
  return draft.Error(
      "table.learnt_of_port",
      StrCat(table.of_port, " is more than the table has; use at most ", table.addresses));
}

}  // namespace

lldp::Assignment AssignmentOf(const SwitchAssignConfig& config) {
  const auto address_of = [](const IpText& ip) {
    return lldp::IpAddress{.is_v6 = ip.is_v6, .high = ip.value.high, .low = ip.value.low};
  };
  lldp::Assignment assignment{.address = address_of(config.ip),
                              .prefix = static_cast<uint8_t>(config.prefix)};
  if (config.gateway) assignment.gateway = address_of(*config.gateway);
  return assignment;
}

uint32_t MaxFrameBytes(const SwitchPortConfig& port) {
  return 14 + 4 + port.mtu_bytes + (port.llr == OnOff::kOn ? kLinkShimBytes : 0);
}

uint64_t BpsOf(const Decimal& gbps) {
  return static_cast<uint64_t>(std::llround(gbps.value * 1e9));
}

// Returns the largest headroom that any port needs.
uint32_t HeadroomOf(const SwitchConfig& config, const SwitchClassConfig& one) {
  constexpr uint64_t kUnknownRateBps = 100'000'000'000;  // of ports that send no pauses
  if (one.lossless == OnOff::kOff) return 0;
  if (one.headroom_bytes) return *one.headroom_bytes;
  uint32_t most = 0;
  for (const SwitchPortConfig& port : config.ports) {
    const uint64_t rate = BpsOf(port.rate_gbps);
    most = std::max(most, fabric::HeadroomBytes(rate != 0 ? rate : kUnknownRateBps, one.cable_m,
                                                MaxFrameBytes(port)));
  }
  return most;
}

Status CheckSwitchConfig(const MachineFacts& machine, ConfigDraft& draft, SwitchConfig& config) {
  if (Status s = CheckCommon(machine, draft, config); !s.ok()) return s;
  if (Status s = CheckClasses(draft, config); !s.ok()) return s;
  if (Status s = CheckEsun(draft, config); !s.ok()) return s;
  if (Status s = CheckPorts(draft, config); !s.ok()) return s;
  if (Status s = CheckAssigned(draft, config); !s.ok()) return s;
  if (Status s = CheckGroups(draft, config); !s.ok()) return s;
  if (Status s = CheckCredit(draft, config); !s.ok()) return s;
  if (Status s = CheckBuffer(draft, config); !s.ok()) return s;
  for (size_t i = 0; i < config.addresses.size(); ++i) {
    if (Status s = CheckAddress(draft, config, config.addresses[i], Entry("addresses", i));
        !s.ok()) {
      return s;
    }
  }
  return CheckTable(draft, config);
}

uint32_t MaxBytesOnCredit(const SwitchConfig& config) {
  uint32_t max = 0;
  for (const SwitchPortConfig& port : config.ports) {
    max = std::max(max, 14 + 4 + port.mtu_bytes);
  }
  return max;
}

CreditGrant CreditGrantOf(const SwitchConfig& config) {
  constexpr uint32_t kFrames = 4;
  const CreditRule rule = CreditGrantWith(config.cbfc, 0).rule;
  return CreditGrantWith(config.cbfc, kFrames * rule.CreditsOf(MaxBytesOnCredit(config)));
}

}  // namespace suede
