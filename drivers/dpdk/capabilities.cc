// SPDX-License-Identifier: Apache-2.0
#include "dpdk/capabilities.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dpdk/dpdk_port.h"

namespace suede {
namespace {

using Multicast = DeviceFacts::Multicast;
using Pfc = DeviceFacts::Pfc;

constexpr std::string_view kUnused = "not needed here";

std::string YesNo(bool value) { return value ? "yes" : "no"; }
std::string OrNo(const std::string& value) { return value.empty() ? "no" : value; }

// ---- Link.

std::string Speeds(const DeviceFacts& f) {
  return f.speeds.empty() ? "not reported" : absl::StrCat(f.speeds, " Gbit/s");
}

std::string OfSpeeds(const DeviceFacts& f, const PortOptions& o) {
  const std::string_view rate =
      o.has_rate ? "bandwidth_gbps is the rate"
                 : "pfc: software, congestion and unequal planes need bandwidth_gbps";
  if (f.speeds.empty()) return absl::StrCat("no link_speeds_gbps; ", std::string(rate));
  if (o.link_speeds_gbps.empty()) return "all are offered to the neighbour";
  return absl::StrCat("link_speeds_gbps offers ", absl::StrJoin(o.link_speeds_gbps, ", "));
}

std::string Fec(const DeviceFacts& f) { return OrNo(f.fec); }

std::string OfFec(const DeviceFacts& f, const PortOptions& o) {
  if (f.fec.empty()) return "no fec: it is as the device or its firmware has it";
  return o.fec == FecMode::kNone ? "as the device has it; fec may change it"
                                 : absl::StrCat("fec: ", std::string(NameOf(o.fec)));
}

std::string Mtu(const DeviceFacts& f) { return absl::StrCat(f.min_mtu, " to ", f.max_mtu); }

std::string OfMtu(const DeviceFacts& /*f*/, const PortOptions& o) {
  return absl::StrCat(o.mtu, " used");
}

// ---- Queues.

std::string Queues(const DeviceFacts& f) {
  return absl::StrCat(f.rx_queues, " rx, ", f.tx_queues, " tx");
}

std::string OfQueues(const DeviceFacts& f, const PortOptions& o) {
  const uint32_t pairs = std::min(f.rx_queues, f.tx_queues);
  return absl::StrCat(o.queue_pairs, o.queue_pairs == 1 ? " pair" : " pairs", " used; at most ",
                      pairs, pairs == 1 ? " lcore" : " lcores", " may serve the port");
}

std::string Rules(const DeviceFacts& f) { return YesNo(f.flow_rules); }

std::string OfRules(const DeviceFacts& f, const PortOptions& o) {
  if (o.queue_pairs == 1) return absl::StrCat(std::string(kUnused), ": one pair of queues");
  if (f.steering == Steering::kRules) return "steering: rules";
  return absl::StrCat(f.flow_rules ? "the driver refuses those of this encapsulation; " : "",
                      "steering: ", std::string(NameOf(f.steering)),
                      ", so lcores forward frames to each other");
}

std::string Rss(const DeviceFacts& f) { return YesNo(f.rss); }

std::string OfRss(const DeviceFacts& f, const PortOptions& o) {
  if (o.queue_pairs == 1) return absl::StrCat(std::string(kUnused), ": one pair of queues");
  if (f.steering == Steering::kRss) return "spreads frames over the queues";
  return f.rss ? "spreads frames that match no rule" : "other frames arrive at the first queue";
}

// ---- Filters.

std::string Promiscuous(const DeviceFacts& f) { return YesNo(f.promiscuous); }

std::string OfPromiscuous(const DeviceFacts& f, const PortOptions& o) {
  if (!o.promiscuous) return std::string(kUnused);
  return f.promiscuous ? "receives AFH frames"
                       : "may not receive AFH frames: use encapsulation udp4 or udp6";
}

std::string MulticastFilter(const DeviceFacts& f) {
  switch (f.multicast) {
    case Multicast::kList:
      return "by address";
    case Multicast::kAll:
      return "all groups";
    case Multicast::kPromiscuous:
      return "by promiscuous mode";
    case Multicast::kNone:
      break;
  }
  return "no";
}

std::string OfMulticast(const DeviceFacts& f, const PortOptions& o) {
  if (o.groups.empty()) return std::string(kUnused);
  if (f.multicast != Multicast::kNone) return "receives link frames and PFC frames";
  return "may not hear the neighbour: set llr and cbfc to off, pfc to device or off";
}

std::string VlanFilter(const DeviceFacts& f) { return YesNo(f.vlan_filter); }

std::string OfVlan(const DeviceFacts& f, const PortOptions& o) {
  if (!o.vid) return std::string(kUnused);
  return f.vlan_filter ? absl::StrCat("passes VLAN ", *o.vid) : "passes all VLANs";
}

// ---- Flow control.

std::string FlowControl(const DeviceFacts& f) { return YesNo(f.flow_control); }

std::string OfFlowControl(const DeviceFacts& f, const PortOptions& o) {
  if (!o.takes_mac_control) return std::string(kUnused);
  return f.flow_control ? "asked to hand PFC frames up"
                        : "not asked to hand PFC frames up: rx_pfc_total shows whether they come";
}

std::string PriorityFlowControl(const DeviceFacts& f) {
  return f.pfc == Pfc::kClasses ? "by class" : f.pfc == Pfc::kQueues ? "by queue" : "no";
}

std::string OfPfc(const DeviceFacts& f, const PortOptions& o) {
  if (o.pfc) return "pfc: device is in use";
  if (f.pfc == Pfc::kClasses) {
    return o.takes_mac_control ? "pfc: software is in use; pfc: device is possible"
                               : "pfc: device is possible";
  }
  return o.takes_mac_control ? "pfc: software is in use" : "for PFC use pfc: software";
}

// ---- Checksums.

std::string RxChecksums(const DeviceFacts& f) { return YesNo(f.rx_checksums); }

std::string OfRxChecksums(const DeviceFacts& f, const PortOptions& /*o*/) {
  return f.rx_checksums ? "the device checks IPv4 and UDP" : "lcores check IPv4 and UDP";
}

std::string TxChecksum(const DeviceFacts& f) { return YesNo(f.tx_checksum); }

std::string OfTxChecksum(const DeviceFacts& f, const PortOptions& o) {
  if (!o.sends_udp6) return absl::StrCat(std::string(kUnused), ": only udp6 has it");
  return f.tx_checksum ? "the device computes it" : "lcores compute it";
}

constexpr CapabilityRow kRows[] = {
    {"speeds", "rte_eth_dev_info_get", "`link_speeds_gbps`; without one, `bandwidth_gbps`", Speeds,
     OfSpeeds},
    {"FEC", "rte_eth_fec_get_capability", "`fec`", Fec, OfFec},
    {"MTU", "rte_eth_dev_info_get", "`mtu_bytes`", Mtu, OfMtu},
    {"queues", "rte_eth_dev_info_get", "number of lcores of the port; `queues: instance`", Queues,
     OfQueues},
    {"flow rules", "rte_flow_validate", "frames come to their lcore without forwarding", Rules,
     OfRules},
    {"RSS over UDP", "rte_eth_dev_info_get", "spreads frames where there are no rules", Rss, OfRss},
    {"promiscuous mode", "rte_eth_promiscuous_enable", "AFH encapsulations", Promiscuous,
     OfPromiscuous},
    {"multicast filter", "rte_eth_dev_set_mc_addr_list`, `rte_eth_allmulticast_enable",
     "`llr`, `cbfc`, `pfc: software`", MulticastFilter, OfMulticast},
    {"VLAN filter", "rte_eth_dev_info_get", "`vlan`", VlanFilter, OfVlan},
    {"flow control", "rte_eth_dev_flow_ctrl_get", "`pfc: software`: PFC frames are handed up",
     FlowControl, OfFlowControl},
    {"PFC", "rte_eth_dev_priority_flow_ctrl_set", "`pfc: device`", PriorityFlowControl, OfPfc},
    {"rx checksums", "rte_eth_dev_info_get", "load of lcores with `udp4`, `udp6`", RxChecksums,
     OfRxChecksums},
    {"tx checksum", "rte_eth_dev_info_get", "load of lcores with `udp6`", TxChecksum, OfTxChecksum},
};

}  // namespace

std::span<const CapabilityRow> CapabilityRows() { return kRows; }

std::vector<DeviceCapability> CapabilitiesOf(const DeviceFacts& facts, const PortOptions& options) {
  std::vector<DeviceCapability> all;
  for (const CapabilityRow& row : kRows) {
    all.push_back({row.name, row.value(facts), row.consequence(facts, options)});
  }
  return all;
}

}  // namespace suede
