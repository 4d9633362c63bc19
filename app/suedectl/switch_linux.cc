// SPDX-License-Identifier: Apache-2.0
// switch-config --for linux: a shell script of ip, bridge, tc and dcb.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "base/text.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"
#include "suedectl/switch_targets.h"
#include "wire/encap/fields.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kWordBits = 32;
constexpr uint32_t kEthernetBits = 8 * 14;
constexpr uint32_t kClassBits = 3;
// Fields whose upper three bits are the class.
constexpr std::string_view kClassFields[] = {"dscp", "cos"};

// Returns the commands of `line` for each port.
template <class Line>
std::string ForPorts(const SwitchNeeds& needs, Line line) {
  std::string lines;
  for (const SwitchPort& port : needs.ports) StrAppend(&lines, line(port));
  return lines;
}

std::string OnOffOf(bool on) { return on ? "on" : "off"; }

// A bridge that filters VLANs takes the tag, and so the PCP, from frames that leave without a VID.
bool HasPriorityTags(const SwitchNeeds& needs) {
  return std::ranges::any_of(needs.ports, [](const SwitchPort& port) {
    return !port.tagged && port.field == ClassField::kPcp;
  });
}

std::string Filtering(const SwitchNeeds& needs) {
  std::string lines =
      "if ip link set \"$bridge\" type bridge vlan_filtering 1 2>/dev/null; then\n  filters=yes\n";
  StrAppend(&lines, ForPorts(needs, [](const SwitchPort& port) {
    return StrCat("  bridge vlan del dev ", port.name, " vid 1 2>/dev/null || true\n",
                  "  bridge vlan add dev ", port.name, " vid ", port.vlan,
                  port.tagged ? "\n" : " pvid untagged\n");
  }));
  StrAppend(&lines, "else\n  filters=\n  echo \"$bridge: no VLAN filtering in this kernel");
  return StrCat(lines,
                needs.vlans.size() == 1
                    ? "; all ports are in one VLAN\" >&2\nfi\n"
                    : ", and there are several VLANs; use another kernel\" >&2\n  exit 1\nfi\n");
}

Section Vlans(const SwitchNeeds& needs) {
  Section section;
  if (!HasPriorityTags(needs)) {
    section.lines = Filtering(needs);
  } else if (needs.vlans.size() == 1) {
    section.lines =
        "filters=\nip link set \"$bridge\" type bridge vlan_filtering 0 2>/dev/null || true\n";
    section.unset.emplace_back(
        "a bridge that filters VLANs removes priority tags, and with them the classes, so all "
        "ports "
        "are in one VLAN; give the endpoints' tags a vid for filtering");
  } else {
    section.lines = Filtering(needs);
    section.unset.emplace_back(
        "the bridge removes priority tags, and with them the classes; give the endpoints' tags a "
        "vid");
  }
  return section;
}

std::string Unknown(const SwitchNeeds& needs) {
  std::string lines = ForPorts(needs, [&](const SwitchPort& port) {
    return StrCat("bridge link set dev ", port.name, " learning ", OnOffOf(needs.learns), " flood ",
                  OnOffOf(needs.floods), " mcast_flood ", OnOffOf(needs.broadcasts),
                  " bcast_flood ", OnOffOf(needs.broadcasts), "\n");
  });
  if (needs.learns) return lines;
  StrAppend(&lines, ForPorts(needs, [](const SwitchPort& port) {
    return StrCat("ip link set dev ", port.name, " type bridge_slave fdb_flush\n");
  }));
  return lines;
}

Section Addresses(const SwitchNeeds& needs) {
  Section section;
  for (const SwitchPort& port : needs.ports) {
    if (LacksMacs(*port.config)) {
      section.unset.push_back(StrCat("a bridge has no entries for ",
                                     NameOf(port.config->encapsulation), " (", port.name,
                                     "), which has no MAC addresses; use suede-switch"));
    }
    for (const Station& station : port.stations) {
      if (!IsUnicast(station.mac)) continue;
      StrAppend(&section.lines, "bridge fdb replace ", FormatMac(station.mac), " dev ", port.name,
                " master static ${filters:+vlan ", port.vlan, "}\n");
    }
  }
  return section;
}

// ---- Classes: a class of HTB for each, at the outputs.

uint32_t HandleOf(uint32_t c) { return 0x10 + c; }

bool IsOfClass(const HeaderField& field) {
  if (field.key == FieldKey::kNone) return false;
  const std::string_view name = FieldRows()[static_cast<size_t>(field.key)].name;
  return std::ranges::find(kClassFields, name) != std::end(kClassFields);
}

// Returns the match of u32 for the class in the header, or "" if it has none. Offsets of u32 count
// from the byte behind the EtherType, in words.
std::string HeaderMatch(Encapsulation encap, uint32_t c) {
  for (const HeaderField& field : FieldsOf(encap)) {
    if (!IsOfClass(field)) continue;
    // Words from the byte kWordsInFront words in front of it, so that none is negative.
    constexpr uint32_t kWordsInFront = 4;
    const uint32_t base = field.base == FieldBase::kFrame ? kEthernetBits : 0;
    const uint32_t at = kWordsInFront * kWordBits + field.at - base;
    const uint32_t shift = kWordBits - kClassBits - at % kWordBits;
    const int offset = 4 * (static_cast<int>(at / kWordBits) - static_cast<int>(kWordsInFront));
    return absl::StrFormat("u32 match u32 0x%08x 0x%08x at %d", c << shift, 7u << shift, offset);
  }
  return "";
}

// Returns a classic BPF program that matches frames whose tag has this PCP.
std::string PcpMatch(uint32_t c) {
  return StrCat("bpf bytecode '5,32 0 0 4294963244,116 0 0 13,21 0 1 ", c,
                ",6 0 0 4294967295,6 0 0 0'");
}

std::string Queues(const SwitchNeeds& needs, const SwitchPort& port) {
  const uint64_t mbit = port.rate_bps / 1'000'000;
  const std::vector<uint32_t> used = needs.UsedClasses();
  const std::string size =
      StrCat(" burst 256k cburst 256k quantum 60000 mtu ", needs.mtu_bytes + 18);
  std::string lines =
      StrCat("tc qdisc del dev ", port.name, " root 2>/dev/null || true\n", "tc qdisc add dev ",
             port.name, " root handle 1: htb default ", absl::StrFormat("%x", HandleOf(used[0])),
             "\ntc class add dev ", port.name, " parent 1: classid 1:1 htb rate ", mbit, "mbit",
             size, "\n");
  for (const uint32_t c : used) {
    StrAppend(&lines, "tc class add dev ", port.name,
              " parent 1:1 classid 1:", absl::StrFormat("%x", HandleOf(c)), " htb rate ",
              std::max<uint64_t>(1, mbit / used.size()), "mbit ceil ", mbit, "mbit prio ",
              needs.classes[c].strict ? 0 : 1, size, "\n");
  }
  return lines;
}

// Frames that leave by a port come from all the others, so it matches by the fields of all ports.
std::string Filters(const SwitchNeeds& needs, const SwitchPort& port) {
  std::vector<std::string> matches;
  const auto add = [&](uint32_t c, const std::string& match) {
    const std::string line = StrCat(match, " flowid 1:", absl::StrFormat("%x", HandleOf(c)));
    if (!match.empty() && std::ranges::find(matches, line) == matches.end())
      matches.push_back(line);
  };
  for (const uint32_t c : needs.UsedClasses()) {
    for (const SwitchPort& from : needs.ports) {
      if (from.field == ClassField::kDscp) add(c, HeaderMatch(from.config->encapsulation, c));
      if (from.field == ClassField::kPcp) add(c, PcpMatch(c));
    }
  }
  std::string lines;
  for (size_t i = 0; i < matches.size(); ++i) {
    StrAppend(&lines, "tc filter add dev ", port.name, " parent 1: protocol all prio ", i + 1, " ",
              matches[i], "\n");
  }
  return lines;
}

// ---- Needs that only hardware under the bridge can meet.

std::string IfHardware(const SwitchPort& port, std::string_view commands,
                       std::string_view otherwise) {
  return StrCat("if [ -e /sys/class/net/", port.name, "/device ] && dcb pfc show dev ", port.name,
                " >/dev/null 2>&1; then\n", commands, "else\n  echo \"", port.name, ": ", otherwise,
                "\" >&2\nfi\n");
}

Section Lossless(const SwitchNeeds& needs) {
  Section section;
  std::string on, buffers, sizes;
  for (const uint32_t c : needs.ClassesWith(&ClassNeeds::lossless)) {
    StrAppend(&on, " ", c, ":on");
    StrAppend(&buffers, " ", c, ":", c);
  }
  for (const SwitchPort& port : needs.ports) {
    if (port.headroom_bytes == 0) continue;
    sizes.clear();
    for (const uint32_t c : needs.ClassesWith(&ClassNeeds::lossless)) {
      StrAppend(&sizes, " ", c, ":", port.headroom_bytes);
    }
    StrAppend(&section.lines,
              IfHardware(port,
                         StrCat("  dcb pfc set dev ", port.name, " prio-pfc all:off", on, "\n",
                                "  dcb buffer set dev ", port.name, " prio-buffer", buffers,
                                " buffer-size", sizes, "\n"),
                         "no hardware with PFC; lossless classes lose frames"));
  }
  section.unset.push_back(
      "a bridge in software neither sends nor obeys PFC, and dcb needs real hardware under it; use "
      "suede-switch for PFC between software ports");
  return section;
}

Section Marks(const SwitchNeeds& needs) {
  Section section;
  if (needs.ClassesWith(&ClassNeeds::marked).empty()) return section;
  if (const std::string names = NamesWithoutIp(needs); !names.empty()) {
    section.unset.push_back(StrCat("RED marks the ECN of IP alone, and would drop the frames of ",
                                   names, "; use udp4 or udp6, suede-switch, or congestion: rccc"));
    return section;
  }
  for (const uint32_t c : needs.ClassesWith(&ClassNeeds::marked)) {
    for (const SwitchPort& port : needs.ports) {
      const uint64_t limit = std::max<uint64_t>(4 * port.ecn_max_bytes, 10 * needs.mtu_bytes);
      StrAppend(&section.lines, "tc qdisc add dev ", port.name,
                absl::StrFormat(" parent 1:%x handle %x: red limit ", HandleOf(c), HandleOf(c)),
                limit, " min ", port.ecn_min_bytes, " max ", port.ecn_max_bytes,
                " avpkt 1000 burst ", (2 * port.ecn_min_bytes + port.ecn_max_bytes) / 3000 + 1,
                " probability 1 bandwidth ", port.rate_bps / 1'000'000, "mbit ecn || echo \"",
                port.name, ": no marks in class ", c, ": this kernel has no sch_red\" >&2\n");
    }
  }
  return section;
}

}  // namespace

std::string LinuxHead(const SwitchNeeds& needs, const TargetOptions&) {
  return StrCat("set -eu\nbridge=${BRIDGE:-suede0}\n",
                "ip link show \"$bridge\" >/dev/null 2>&1 || ip link add \"$bridge\" type bridge\n",
                "ip link set \"$bridge\" type bridge mcast_snooping 0\n",
                ForPorts(needs, [](const SwitchPort& port) {
                  return StrCat("ip link set ", port.name, " master \"$bridge\"\n");
                }));
}

Section LinuxSection(Need need, const SwitchNeeds& needs, const TargetOptions&) {
  const auto lines = [](std::string text) {
    Section section;
    section.lines = std::move(text);
    return section;
  };
  switch (need) {
    case Need::kMtu:
      return lines(StrCat(ForPorts(needs,
                                   [&](const SwitchPort& port) {
                                     return StrCat("ip link set ", port.name, " mtu ",
                                                   needs.mtu_bytes, " up\n");
                                   }),
                          "ip link set \"$bridge\" mtu ", needs.mtu_bytes, " up\n"));
    case Need::kVlan:
      return Vlans(needs);
    case Need::kUnknown:
      return lines(Unknown(needs));
    case Need::kHairpin:
      return lines(ForPorts(needs, [](const SwitchPort& port) {
        return port.hairpins ? StrCat("bridge link set dev ", port.name, " hairpin on\n")
                             : std::string();
      }));
    case Need::kAddresses:
      return Addresses(needs);
    case Need::kClasses:
      return lines(ForPorts(needs, [&](const SwitchPort& port) {
        return Queues(needs, port) + Filters(needs, port);
      }));
    case Need::kLossless:
      return Lossless(needs);
    case Need::kWatchdog:
      return Absent("Linux has no PFC watchdog; set one in the firmware of the hardware");
    case Need::kEcn:
      return Marks(needs);
    case Need::kTrimming:
      return Absent("Linux trims no frames; remove ports[].trimmed_dscp, or use suede-switch");
    case Need::kHash:
      return Absent(
          "a bridge has one path between two ports; for a bond set xmit_hash_policy "
          "layer3+4");
    case Need::kRetry:
      return Absent(kNoLlr);
    case Need::kCredit:
      return Absent(kNoCredit);
    case Need::kRoutes:
      return Absent("a bridge has no routes; use --for frr for a leaf that routes");
  }
  return {};
}

}  // namespace suede::ctl
