// SPDX-License-Identifier: Apache-2.0
// switch-config --for nvue: commands of NVUE, as Cumulus Linux 5.14 has them.
#include <algorithm>

#include "base/text.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"
#include "suedectl/switch_targets.h"

namespace suede::ctl {
namespace {

constexpr std::string_view kDomain = "br_default";
constexpr uint32_t kMinTrimBytes = 256;
constexpr uint32_t kPollMs = 100;

template <class Line>
std::string ForPorts(const SwitchNeeds& needs, Line line) {
  std::string lines;
  for (const SwitchPort& port : needs.ports) StrAppend(&lines, line(port));
  return lines;
}

std::string Interface(const SwitchPort& port) { return StrCat("nv set interface ", port.name); }

std::string Vlans(const SwitchNeeds& needs) {
  std::string lines;
  for (const uint16_t vlan : needs.vlans) {
    StrAppend(&lines, "nv set bridge domain ", kDomain, " vlan ", vlan, "\n");
  }
  return lines + ForPorts(needs, [](const SwitchPort& port) {
           return StrCat(Interface(port), " bridge domain ", kDomain,
                         port.tagged ? " vlan " : " access ", port.vlan, "\n");
         });
}

Section Unknown(const SwitchNeeds& needs) {
  Section section;
  section.lines = ForPorts(needs, [&](const SwitchPort& port) {
    return StrCat(Interface(port), " bridge domain ", kDomain, " learning ",
                  needs.learns ? "on" : "off", "\n");
  });
  if (!needs.floods) {
    section.unset.push_back(
        "NVUE has no key for flooding; run 'bridge link set dev PORT flood off' "
        "as root on each port after each boot");
  }
  return section;
}

Section Addresses(const SwitchNeeds& needs) {
  Section section;
  for (const SwitchPort& port : needs.ports) {
    if (LacksMacs(*port.config)) {
      section.unset.push_back(StrCat("there are no entries for ",
                                     NameOf(port.config->encapsulation), " (", port.name,
                                     "), which has no MAC addresses; use a switch "
                                     "with AFH Gen 2, or suede-switch"));
    }
    for (const Station& station : port.stations) {
      if (!IsUnicast(station.mac)) continue;
      section.unset.push_back(
          StrCat("NVUE has no static addresses; run as root after each boot: "
                 "bridge fdb replace ",
                 FormatMac(station.mac), " dev ", port.name, " master static vlan ", port.vlan));
    }
  }
  return section;
}

// ---- Classes.

Section Classes(const SwitchNeeds& needs) {
  Section section;
  bool by_pcp = false, by_dscp = false;
  for (const SwitchPort& port : needs.ports) {
    by_pcp |= port.field == ClassField::kPcp;
    by_dscp |= port.field == ClassField::kDscp;
  }
  std::string& lines = section.lines;
  const std::string_view map = "nv set qos mapping default-global ";
  StrAppend(&lines, map, "trust ",
            by_pcp && by_dscp ? "both"
            : by_pcp          ? "l2"
            : by_dscp         ? "l3"
                              : "port",
            "\n");
  for (uint32_t c = 0; c < fabric::kClasses; ++c) {
    if (by_pcp) StrAppend(&lines, map, "pcp ", c, " switch-priority ", c, "\n");
    if (by_dscp) {
      StrAppend(&lines, map, "dscp ", 8 * c, "-", 8 * c + 7, " switch-priority ", c, "\n");
    }
    StrAppend(&lines, "nv set qos egress-queue-mapping default-global switch-priority ", c,
              " traffic-class ", c, "\n");
  }
  const std::vector<uint32_t> used = needs.UsedClasses();
  const std::vector<uint32_t> strict = needs.ClassesWith(&ClassNeeds::strict);
  for (const uint32_t c : used) {
    const std::string queue =
        StrCat("nv set qos egress-scheduler default-global traffic-class ", c);
    StrAppend(&lines, queue, " mode ", needs.classes[c].strict ? "strict" : "dwrr", "\n");
    if (needs.classes[c].strict) continue;
    StrAppend(&lines, queue, " bw-percent ", 100 / (used.size() - strict.size()), "\n");
  }
  if (by_pcp && by_dscp) {
    section.unset.push_back(
        "ports trust both fields, so the DSCP of IP precedes the PCP of a tag; "
        "give all endpoints the same pfc_class");
  }
  return section;
}

Section Lossless(const SwitchNeeds& needs) {
  Section section;
  const std::string_view pfc = "nv set qos pfc suede ";
  const std::vector<uint32_t> classes = needs.ClassesWith(&ClassNeeds::lossless);
  uint32_t headroom = 0;
  std::string ports;
  for (const SwitchPort& port : needs.ports) {
    if (port.headroom_bytes == 0) continue;
    headroom = std::max(headroom, port.headroom_bytes);
    StrAppend(&ports, Interface(port), " qos pfc profile suede\n");
  }
  section.lines = StrCat(pfc, "switch-priority ", StrJoin(classes, ","), "\n", pfc, "tx enable\n",
                         pfc, "rx enable\n", pfc, "cable-length ", needs.cable_m, "\n", pfc,
                         "port-buffer ", headroom, "\n", ports);
  if (classes.size() > 1) {
    section.unset.push_back(StrCat("a switch may have buffers for fewer than ", classes.size(),
                                   " lossless classes ('nv config apply' refuses them then); give "
                                   "VCs the same class"));
  }
  return section;
}

std::string Watchdog(const SwitchNeeds& needs) {
  const uint32_t polls = std::max(1u, needs.storm_ms / kPollMs);
  return StrCat("nv set qos pfc-watchdog polling-interval ", kPollMs, "\n",
                "nv set qos pfc-watchdog robustness ", polls, "\n",
                ForPorts(needs, [](const SwitchPort& port) {
                  return port.headroom_bytes == 0
                             ? std::string()
                             : StrCat(Interface(port), " qos pfc-watchdog state enable\n");
                }));
}

Section Marks(const SwitchNeeds& needs) {
  Section section;
  const std::string marked = StrJoin(needs.ClassesWith(&ClassNeeds::marked), ",");
  if (marked.empty()) return section;
  if (const std::string names = NamesWithoutIp(needs); !names.empty()) {
    section.unset.push_back(StrCat("only the ECN of IP is marked, and not that of ", names,
                                   "; use udp4 or udp6, or congestion: rccc"));
    return section;
  }
  for (const SwitchPort& port : needs.ports) {
    const std::string profile = StrCat("suede-", port.ecn_min_bytes);
    const std::string set =
        StrCat("nv set qos congestion-control ", profile, " traffic-class ", marked, " ");
    const std::string lines =
        StrCat(set, "min-threshold ", port.ecn_min_bytes, "\n", set, "max-threshold ",
               port.ecn_max_bytes, "\n", set, "ecn enable\n", set, "red disable\n");
    if (section.lines.find(lines) == std::string::npos) section.lines += lines;
    StrAppend(&section.lines, Interface(port), " qos congestion-control profile ", profile, "\n");
  }
  return section;
}

Section Trimming(const SwitchNeeds& needs) {
  Section section;
  const std::string_view trim = "nv set system forwarding packet-trim ";
  const uint32_t bytes = std::max(kMinTrimBytes, needs.trim->bytes);
  section.lines =
      StrCat(trim, "state enabled\n", trim, "size ", bytes, "\n", trim, "remark dscp ",
             needs.trim->dscp, "\n", trim, "switch-priority ", needs.trim->class_of, "\n");
  for (const SwitchPort& port : needs.ports) {
    for (const uint32_t c : needs.ClassesWith(&ClassNeeds::trimmed)) {
      StrAppend(&section.lines, Interface(port), " packet-trim egress-eligibility traffic-class ",
                c, "\n");
    }
  }
  if (const std::string names = NamesWithoutIp(needs); !names.empty()) {
    section.unset.push_back(
        StrCat("only IP is trimmed, and not the frames of ", names, "; use udp4 or udp6"));
  }
  if (bytes > needs.trim->bytes) {
    section.unset.push_back(StrCat("trimmed packets have ", bytes, " bytes at least here, not ",
                                   needs.trim->bytes, "; receivers take either"));
  }
  return section;
}

Section Hash(const SwitchNeeds& needs) {
  Section section;
  if (std::ranges::none_of(needs.ports, [](const SwitchPort& port) {
        return kUdp.Has(port.config->encapsulation);
      })) {
    section.unset.push_back(
        "the session of a header without IP is not hashed; all sessions take "
        "one path, so set sessions.max: 1");
    return section;
  }
  for (const std::string_view hash : {"ecmp-hash", "lag-hash"}) {
    for (const std::string_view field :
         {"source-ip", "destination-ip", "ip-protocol", "source-port", "destination-port"}) {
      StrAppend(&section.lines, "nv set system forwarding ", hash, " ", field, " on\n");
    }
  }
  return section;
}

}  // namespace

std::string NvueHead(const SwitchNeeds&, const TargetOptions&) {
  return StrCat(
      "# Words are those of Cumulus Linux 5.14; from 5.15 on, enabled and disabled stand "
      "for on and off.\n# 'nv config apply' behind the last line makes it effective.\n"
      "nv set bridge domain ",
      kDomain, " type vlan-aware\n");
}

Section NvueSection(Need need, const SwitchNeeds& needs, const TargetOptions&) {
  Section section;
  switch (need) {
    case Need::kMtu:
      section.lines = ForPorts(needs, [&](const SwitchPort& port) {
        return StrCat(Interface(port), " link state up\n", Interface(port), " link mtu ",
                      needs.mtu_bytes, "\n");
      });
      return section;
    case Need::kVlan:
      section.lines = Vlans(needs);
      return section;
    case Need::kUnknown:
      return Unknown(needs);
    case Need::kHairpin:
      return Absent(
          "NVUE has no key for it; run 'bridge link set dev PORT hairpin on' as root on "
          "these ports after each boot");
    case Need::kAddresses:
      return Addresses(needs);
    case Need::kClasses:
      return Classes(needs);
    case Need::kLossless:
      return Lossless(needs);
    case Need::kWatchdog:
      section.lines = Watchdog(needs);
      return section;
    case Need::kEcn:
      return Marks(needs);
    case Need::kTrimming:
      return Trimming(needs);
    case Need::kHash:
      return Hash(needs);
    case Need::kRetry:
      return Absent(kNoLlr);
    case Need::kCredit:
      return Absent(kNoCredit);
    case Need::kRoutes:
      return Absent(
          "NVUE's route-maps take no bandwidth of their own (ext-community-bw counts "
          "paths); use --for frr, with vtysh");
  }
  return section;
}

}  // namespace suede::ctl
