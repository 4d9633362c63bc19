// SPDX-License-Identifier: Apache-2.0
// switch-config --for suede: the configuration of suede-switch (docs/switch.md).
#include <algorithm>

#include "base/text.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"
#include "suedectl/switch_targets.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kBlockBytes = 65536;

bool ByAfh2(const SwitchNeeds& needs) {
  return std::ranges::all_of(needs.ports,
                             [](const SwitchPort& port) { return LacksMacs(*port.config); });
}

bool ByEsun(const SwitchNeeds& needs) {
  return std::ranges::all_of(needs.ports, [](const SwitchPort& port) {
    return port.config->encapsulation == Encapsulation::kEsun;
  });
}

// Returns the addresses by which the switch forwards.
std::string Forwarding(const SwitchNeeds& needs) {
  if (ByAfh2(needs)) return "afh2";
  if (!ByEsun(needs)) return "mac";
  return StrCat("esun\nesun_ether_type: ", FormatEtherType(needs.ports.front().config->ether_type));
}

// Returns the device of a port, which is an interface of the kernel.
std::string DeviceOf(const SwitchNeeds& needs, size_t index) {
  const std::string& name = needs.ports[index].name;
  uint32_t frame = 2048;
  while (frame < needs.mtu_bytes + 128) frame *= 2;
  return StrCat("net_af_packet", index, ",iface=", name, ",framesz=", frame,
                ",blocksz=", kBlockBytes, ",framecnt=512");
}

std::string Ports(const SwitchNeeds& needs) {
  std::string lines = "ports:\n";
  for (size_t i = 0; i < needs.ports.size(); ++i) {
    const SwitchPort& port = needs.ports[i];
    StrAppend(&lines, "  - name: ", port.name, "  # ", port.end,
              "\n    device: ", FormatText(DeviceOf(needs, i)),
              "\n    mtu_bytes: ", needs.mtu_bytes, "\n    strict_vlans: on\n    vlans: [",
              port.tagged ? port.vlan : 0, "]\n");
    if (port.hairpins) StrAppend(&lines, "    hairpin: on\n");
    if (port.headroom_bytes != 0) {
      StrAppend(&lines, "    pfc: on\n    rate_gbps: ", port.rate_bps / 1'000'000'000, "\n");
    }
    if (port.config->llr == OnOff::kOn) StrAppend(&lines, "    llr: on\n");
    if (port.config->cbfc == OnOff::kOn) StrAppend(&lines, "    cbfc: on\n");
  }
  return lines;
}

Section Addresses(const SwitchNeeds& needs) {
  Section section;
  const bool by_afh2 = ByAfh2(needs);
  for (const SwitchPort& port : needs.ports) {
    for (const Station& station : port.stations) {
      if (by_afh2) {
        StrAppend(&section.lines, "  - {forwarding_address: ", station.forwarding_address,
                  ", port: ", port.name, "}\n");
      } else if (IsUnicast(station.mac)) {
        StrAppend(&section.lines, "  - {mac: \"", FormatMac(station.mac),
                  "\", vlan: ", port.tagged ? port.vlan : 0, ", port: ", port.name, "}\n");
      }
    }
    if (!by_afh2 && LacksMacs(*port.config)) {
      section.unset.push_back(StrCat("a switch forwards either by MAC addresses or by AFH Gen 2 (",
                                     port.name, "); give the endpoints one of them"));
    }
  }
  if (!section.lines.empty()) section.lines = StrCat("addresses:\n", section.lines);
  return section;
}

std::string Classes(const SwitchNeeds& needs) {
  const bool by_pcp = std::ranges::any_of(
      needs.ports, [](const SwitchPort& port) { return port.field == ClassField::kPcp; });
  uint32_t headroom = 0;
  uint64_t ecn_min = UINT64_MAX, ecn_max = 0;
  for (const SwitchPort& port : needs.ports) {
    headroom = std::max(headroom, port.headroom_bytes);
    ecn_min = std::min(ecn_min, port.ecn_min_bytes);
    ecn_max = std::max(ecn_max, port.ecn_max_bytes);
  }
  std::string lines = StrCat("classes:\n  pcp_first: ", by_pcp ? "on" : "off", "\n  of:\n");
  for (const uint32_t c : needs.UsedClasses()) {
    const ClassNeeds& of = needs.classes[c];
    StrAppend(&lines, "    - {class: ", c);
    if (of.strict) StrAppend(&lines, ", strict: on");
    if (of.lossless) StrAppend(&lines, ", lossless: on, headroom_bytes: ", headroom);
    if (of.marked) {
      StrAppend(&lines, ", ecn: {least_bytes: ", ecn_min, ", most_bytes: ", ecn_max, "}");
    }
    StrAppend(&lines, "}\n");
  }
  return lines;
}

// A buffer for all headrooms, and as much again as without.
std::string Buffer(const SwitchNeeds& needs) {
  uint64_t bytes = fabric::SwitchParams{}.buffer_bytes;
  for (const SwitchPort& port : needs.ports) {
    bytes += needs.ClassesWith(&ClassNeeds::lossless).size() * port.headroom_bytes;
  }
  return StrCat("buffer: {bytes: ", bytes, "}\n");
}

std::string Trim(const TrimNeeds& trim) {
  const std::vector<uint32_t> dscps(trim.dscps.begin(), trim.dscps.end());
  return StrCat("trim: {dscps: [", StrJoin(dscps, ", "), "], trimmed_dscp: ", trim.dscp,
                ", class: ", trim.class_of, "}\n");
}

std::string Retry(const LlrConfig& llr) {
  return StrCat("llr: {window_frames: ", llr.window_frames, ", window_octets: ", llr.window_octets,
                ", replay_count: ", llr.replay_count,
                ", replay_us: ", llr.replay_timeout.count() / 1000,
                ", max_age_us: ", llr.max_age.count() / 1000, "}\n");
}

}  // namespace

std::string SuedeHead(const SwitchNeeds& needs, const TargetOptions&) {
  return StrCat(
      "version: 1\nname: switch\neal: {hugepages: off}\nlcores:\n"
      "  - {cpu: 0, idle: sleep}\nforwarding: ",
      Forwarding(needs), "\n");
}

Section SuedeSection(Need need, const SwitchNeeds& needs, const TargetOptions&) {
  Section section;
  switch (need) {
    case Need::kMtu:
      section.lines = Ports(needs);
      return section;
    case Need::kVlan:
      return section;  // keys of the ports
    case Need::kUnknown:
      section.lines =
          StrCat("learning: ", needs.learns ? "on" : "off",
                 "\nunknown: ", needs.learns || needs.broadcasts ? "flood" : "drop", "\n");
      return section;
    case Need::kHairpin:
      return section;  // keys of the ports
    case Need::kAddresses:
      return Addresses(needs);
    case Need::kClasses:
      section.lines = Classes(needs);
      return section;
    case Need::kLossless:
      section.lines = Buffer(needs);
      return section;
    case Need::kWatchdog:
      section.lines = StrCat("pfc: {storm_us: ", 1000 * needs.storm_ms, "}\n");
      return section;
    case Need::kEcn:
      return section;  // keys of the classes
    case Need::kTrimming:
      section.lines = Trim(*needs.trim);
      return section;
    case Need::kHash:
      return Absent("the switch has one path between two ports; use several for more");
    case Need::kRetry:
      section.lines = Retry(needs.retry);
      return section;
    case Need::kCredit:
      section.lines = StrCat("cbfc: {credit_bytes: ", needs.credit.credit_bytes, "}\n");
      return section;
    case Need::kRoutes:
      return Absent("suede-switch has no BGP; use --for frr for a leaf that routes");
  }
  return section;
}

}  // namespace suede::ctl
