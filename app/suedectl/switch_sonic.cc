// SPDX-License-Identifier: Apache-2.0
// switch-config --for sonic: tables of CONFIG_DB, whose values are all texts.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/text.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"
#include "suedectl/switch_targets.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kMaxMtuBytes = 9216;
constexpr uint32_t kMaxVlan = 4094;
constexpr uint32_t kMinVlan = 2;
constexpr uint32_t kMinStormMs = 100;
constexpr uint32_t kMaxStormMs = 5000;
constexpr uint64_t kMaxReplayNs = 65535;
constexpr uint64_t kMaxAgeNs = 4'290'000'000;
constexpr std::string_view kMap = "SUEDE";
constexpr std::string_view kLossy = "suede_lossy";
constexpr std::string_view kLossless = "suede_lossless";

// A row's fields and their values, or the rows of a table.
template <class Value>
Json Members(std::initializer_list<std::pair<std::string, Value>> members) {
  Json object = Json::object();
  for (const auto& [name, value] : members) object[name] = value;
  return object;
}
Json Row(std::initializer_list<std::pair<std::string, std::string>> fields) {
  return Members<std::string>(fields);
}

std::string Key(std::string_view first, const std::string& second) {
  return StrCat(first, "|", second);
}

// Returns a row for each port.
template <class Row>
Json ForPorts(const SwitchNeeds& needs, Row row) {
  Json rows = Json::object();
  for (const SwitchPort& port : needs.ports) rows[port.name] = row(port);
  return rows;
}

Section Mtu(const SwitchNeeds& needs) {
  Section section;
  const uint32_t mtu = std::min(needs.mtu_bytes, kMaxMtuBytes);
  section.tables["PORT"] = ForPorts(needs, [&](const SwitchPort& port) {
    return Row({{"admin_status", "up"}, {"description", port.end}, {"mtu", StrCat(mtu)}});
  });
  if (mtu < needs.mtu_bytes) {
    section.unset.push_back(StrCat("SONiC takes an MTU of ", kMaxMtuBytes, " at most; set ports[].",
                                   "mtu_bytes to that, and packing.limit_bytes"));
  }
  return section;
}

Section Vlan(const SwitchNeeds& needs) {
  Section section;
  Json vlans = Json::object(), members = Json::object();
  for (const SwitchPort& port : needs.ports) {
    const std::string name = StrCat("Vlan", port.vlan);
    vlans[name] = Row({{"vlanid", StrCat(port.vlan)}});
    members[Key(name, port.name)] = Row({{"tagging_mode", port.tagged ? "tagged" : "untagged"}});
  }
  for (const uint16_t vlan : needs.vlans) {
    if (vlan >= kMinVlan && vlan <= kMaxVlan) continue;
    vlans.erase(StrCat("Vlan", vlan));
    for (const SwitchPort& port : needs.ports) {
      members.erase(Key(StrCat("Vlan", vlan), port.name));
    }
    section.unset.push_back(StrCat("VLAN ", vlan, " is reserved in SONiC; use 2 to 4094"));
  }
  section.tables = Members<Json>({{"VLAN", vlans}, {"VLAN_MEMBER", members}});
  return section;
}

Section Addresses(const SwitchNeeds& needs) {
  Section section;
  Json entries = Json::object();
  for (const SwitchPort& port : needs.ports) {
    if (LacksMacs(*port.config)) {
      section.unset.push_back(StrCat("FDB has no entries for ", NameOf(port.config->encapsulation),
                                     " (", port.name,
                                     "), which has no MAC addresses; use a "
                                     "switch with AFH Gen 2, or suede-switch"));
    }
    for (const Station& station : port.stations) {
      if (!IsUnicast(station.mac) || port.vlan < kMinVlan) continue;
      entries[Key(StrCat("Vlan", port.vlan), FormatMac(station.mac))] = Row({{"port", port.name}});
    }
  }
  if (!entries.empty()) section.tables["FDB"] = std::move(entries);
  return section;
}

// ---- Classes.

Json Identity(uint32_t count) {
  Json map = Json::object();
  for (uint32_t i = 0; i < count; ++i) map[StrCat(i)] = StrCat(i);
  return map;
}

Json Named(Json map) { return Members<Json>({{std::string(kMap), std::move(map)}}); }

std::string Classes(const SwitchNeeds& needs, bool ClassNeeds::*member) {
  return StrJoin(needs.ClassesWith(member), ",");
}

Json QosMapOf(const SwitchNeeds& needs, const SwitchPort& port) {
  Json row = Row({{"tc_to_queue_map", std::string(kMap)}, {"tc_to_pg_map", std::string(kMap)}});
  if (port.field == ClassField::kDscp) row["dscp_to_tc_map"] = std::string(kMap);
  if (port.field == ClassField::kPcp) row["dot1p_to_tc_map"] = std::string(kMap);
  if (port.headroom_bytes != 0) {
    row["pfc_to_queue_map"] = std::string(kMap);
    row["pfc_enable"] = Classes(needs, &ClassNeeds::lossless);
    if (needs.storm_ms != 0) row["pfcwd_sw_enable"] = Classes(needs, &ClassNeeds::lossless);
  }
  return row;
}

Section Maps(const SwitchNeeds& needs) {
  Section section;
  Json dscps = Json::object();
  for (uint32_t dscp = 0; dscp < 64; ++dscp) dscps[StrCat(dscp)] = StrCat(dscp / 8);
  Json& tables = section.tables;
  tables["DSCP_TO_TC_MAP"] = Named(std::move(dscps));
  tables["DOT1P_TO_TC_MAP"] = Named(Identity(fabric::kClasses));
  tables["TC_TO_QUEUE_MAP"] = Named(Identity(fabric::kClasses));
  tables["TC_TO_PRIORITY_GROUP_MAP"] = Named(Identity(fabric::kClasses));
  tables["MAP_PFC_PRIORITY_TO_QUEUE"] = Named(Identity(fabric::kClasses));
  tables["PORT_QOS_MAP"] =
      ForPorts(needs, [&](const SwitchPort& port) { return QosMapOf(needs, port); });
  tables["SCHEDULER"] = Members<Json>({{"suede_first", Row({{"type", "STRICT"}})},
                                       {"suede_share", Row({{"type", "DWRR"}, {"weight", "1"}})}});
  Json& queues = tables["QUEUE"] = Json::object();
  for (const SwitchPort& port : needs.ports) {
    for (const uint32_t c : needs.UsedClasses()) {
      const bool strict = needs.classes[c].strict;
      queues[Key(port.name, StrCat(c))] =
          Row({{"scheduler", strict ? "suede_first" : "suede_share"}});
    }
  }
  return section;
}

// ---- Buffers.

constexpr std::string_view kInPool = "ingress_lossless_pool";
constexpr std::string_view kLosslessOutPool = "egress_lossless_pool";
constexpr std::string_view kLossyOutPool = "egress_lossy_pool";

std::string LosslessProfile(const SwitchPort& port) {
  return StrCat(kLossless, "_", port.headroom_bytes);
}

Json Pools(const SwitchNeeds& needs, const TargetOptions& options) {
  uint64_t headroom = 0;
  for (const SwitchPort& port : needs.ports) {
    headroom += port.headroom_bytes * needs.ClassesWith(&ClassNeeds::lossless).size();
  }
  Json in = Row({{"type", "ingress"}, {"mode", "dynamic"}});
  Json lossless = Row({{"type", "egress"}, {"mode", "static"}});
  Json lossy = Row({{"type", "egress"}, {"mode", "dynamic"}});
  if (options.buffer_bytes != 0) {
    in["size"] = StrCat(options.buffer_bytes - std::min(headroom, options.buffer_bytes));
    lossless["size"] = StrCat(options.buffer_bytes);
    lossy["size"] = StrCat(options.buffer_bytes - std::min(headroom, options.buffer_bytes));
  }
  if (headroom != 0) in["xoff"] = StrCat(headroom);
  return Members<Json>({{std::string(kInPool), in},
                        {std::string(kLosslessOutPool), lossless},
                        {std::string(kLossyOutPool), lossy}});
}

Json LossyProfiles(const SwitchNeeds& needs) {
  const auto profile = [](std::string_view pool) {
    return Row({{"pool", std::string(pool)}, {"size", "0"}, {"dynamic_th", "0"}});
  };
  Json out = profile(kLossyOutPool);
  Json profiles =
      Members<Json>({{StrCat(kLossy, "_in"), profile(kInPool)}, {StrCat(kLossy, "_out"), out}});
  if (!needs.trim) return profiles;
  out["packet_discard_action"] = "trim";
  profiles[StrCat(kLossy, "_trim")] = out;
  return profiles;
}

Section Buffers(const SwitchNeeds& needs, const TargetOptions& options) {
  const fabric::ClassParams defaults;
  Section section;
  Json profiles = LossyProfiles(needs);
  Json groups = Json::object(), queues = Json::object();
  for (const SwitchPort& port : needs.ports) {
    if (port.headroom_bytes != 0) {
      profiles[LosslessProfile(port)] = Row({{"pool", std::string(kInPool)},
                                             {"size", StrCat(defaults.reserved_bytes)},
                                             {"dynamic_th", "0"},
                                             {"xon", "0"},
                                             {"xon_offset", StrCat(defaults.resume_bytes)},
                                             {"xoff", StrCat(port.headroom_bytes)}});
    }
    for (const uint32_t c : needs.UsedClasses()) {
      const ClassNeeds& of = needs.classes[c];
      const bool lossless = of.lossless && port.headroom_bytes != 0;
      groups[Key(port.name, StrCat(c))] =
          Row({{"profile", lossless ? LosslessProfile(port) : StrCat(kLossy, "_in")}});
      queues[Key(port.name, StrCat(c))] =
          Row({{"profile", of.lossless ? StrCat(kLossless, "_out")
                                       : StrCat(kLossy, of.trimmed ? "_trim" : "_out")}});
    }
  }
  // A frame of a lossless class is dropped at the input alone, by its headroom.
  profiles[StrCat(kLossless, "_out")] =
      Row({{"pool", std::string(kLosslessOutPool)},
           {"size", "0"},
           {"static_th", StrCat(options.buffer_bytes != 0 ? options.buffer_bytes : UINT32_MAX)}});
  section.tables = Members<Json>({{"BUFFER_POOL", Pools(needs, options)},
                                  {"BUFFER_PROFILE", profiles},
                                  {"BUFFER_PG", groups},
                                  {"BUFFER_QUEUE", queues}});
  if (options.buffer_bytes == 0) {
    section.unset.push_back(
        "the sizes of the buffer pools are the platform's, and not known here; state the switch's "
        "with --buffer_bytes where it has buffer_model traditional");
  }
  return section;
}

Section Watchdog(const SwitchNeeds& needs) {
  Section section;
  const std::string ms = StrCat(std::clamp(needs.storm_ms, kMinStormMs, kMaxStormMs));
  Json& table = section.tables["PFC_WD"] = Json::object();
  table["GLOBAL"] = Row({{"POLL_INTERVAL", "100"}});
  for (const SwitchPort& port : needs.ports) {
    if (port.headroom_bytes == 0) continue;
    table[port.name] = Row({{"action", "drop"}, {"detection_time", ms}, {"restoration_time", ms}});
  }
  if (needs.storm_ms < kMinStormMs || needs.storm_ms > kMaxStormMs) {
    section.unset.push_back(StrCat("SONiC detects storms of ", kMinStormMs, " to ", kMaxStormMs,
                                   " ms, so it is ", ms, "; set pfc.storm_us within that"));
  }
  return section;
}

Section Marks(const SwitchNeeds& needs) {
  Section section;
  const std::vector<uint32_t> marked = needs.ClassesWith(&ClassNeeds::marked);
  if (marked.empty()) return section;
  if (const std::string names = NamesWithoutIp(needs); !names.empty()) {
    section.unset.push_back(StrCat("WRED marks the ECN of IP alone, and would drop the frames of ",
                                   names, "; use udp4 or udp6, or congestion: rccc"));
    return section;
  }
  Json profiles = Json::object(), queues = Json::object();
  for (const SwitchPort& port : needs.ports) {
    const std::string name = StrCat("suede_", port.ecn_min_bytes, "_", port.ecn_max_bytes);
    Json profile = Row({{"ecn", "ecn_all"}});
    for (const std::string_view color : {"green", "yellow", "red"}) {
      profile[StrCat("wred_", color, "_enable")] = "true";
      profile[StrCat(color, "_min_threshold")] = StrCat(port.ecn_min_bytes);
      profile[StrCat(color, "_max_threshold")] = StrCat(port.ecn_max_bytes);
      profile[StrCat(color, "_drop_probability")] = "100";
    }
    profiles[name] = std::move(profile);
    for (const uint32_t c : marked)
      queues[Key(port.name, StrCat(c))] = Row({{"wred_profile", name}});
  }
  section.tables = Members<Json>({{"WRED_PROFILE", profiles}, {"QUEUE", queues}});
  return section;
}

Section Trimming(const SwitchNeeds& needs) {
  Section section;
  section.tables["SWITCH_TRIMMING"]["GLOBAL"] =
      Row({{"size", StrCat(needs.trim->bytes)},
           {"dscp_value", StrCat(needs.trim->dscp)},
           {"queue_index", StrCat(needs.trim->class_of)}});
  if (!needs.Has(Need::kLossless)) section.tables.update(Buffers(needs, {}).tables);
  if (const std::string names = NamesWithoutIp(needs); !names.empty()) {
    section.unset.push_back(
        StrCat("SONiC trims IP alone, and not the frames of ", names, "; use udp4 or udp6"));
  }
  return section;
}

Section Hash(const SwitchNeeds& needs) {
  Section section;
  const bool by_port = std::ranges::any_of(
      needs.ports, [](const SwitchPort& port) { return kUdp.Has(port.config->encapsulation); });
  Json fields = Json::array({"SRC_MAC", "DST_MAC", "ETHERTYPE"});
  if (by_port)
    fields = Json::array({"SRC_IP", "DST_IP", "IP_PROTOCOL", "L4_SRC_PORT", "L4_DST_PORT"});
  section.tables["SWITCH_HASH"]["GLOBAL"] =
      Members<Json>({{"ecmp_hash", fields}, {"lag_hash", fields}});
  if (!by_port) {
    section.unset.push_back(
        "SONiC does not hash the session of a header without IP; all sessions "
        "take one path, so set sessions.max: 1");
  }
  return section;
}

// The profile is that of the endpoints; it stays unused until a NIC has the hardware's own retry.
Section Retry(const SwitchNeeds& needs) {
  Section section;
  const LlrConfig& llr = needs.retry;
  const auto ns = [](Duration time) { return static_cast<uint64_t>(time.count()); };
  const Json profile =
      Row({{"max_outstanding_frames", StrCat(llr.window_frames)},
           {"max_outstanding_bytes", StrCat(llr.window_octets)},
           {"max_replay_count", StrCat(std::max(1u, llr.replay_count))},
           {"max_replay_timer", StrCat(std::min(ns(llr.replay_timeout), kMaxReplayNs))},
           {"data_age_timeout", StrCat(std::min(ns(llr.max_age), kMaxAgeNs))}});
  Json ports = Json::object();
  for (const SwitchPort& port : needs.ports) {
    if (port.config->llr != OnOff::kOn) continue;
    ports[port.name] = Row({{"llr_mode", "static"},
                            {"llr_local", "disabled"},
                            {"llr_remote", "disabled"},
                            {"llr_profile", "suede"}});
  }
  section.tables =
      Members<Json>({{"LLR_PROFILE", Members<Json>({{"suede", profile}})}, {"LLR_PORT", ports}});
  section.unset.push_back(
      StrCat("LLR_PORT binds a profile with the endpoints' window and leaves it "
             "disabled: ",
             kNoLlr,
             ", or enable llr_local and llr_remote where the NIC has the retry "
             "of Ultra Ethernet"));
  return section;
}

}  // namespace

Section SonicSection(Need need, const SwitchNeeds& needs, const TargetOptions& options) {
  switch (need) {
    case Need::kMtu:
      return Mtu(needs);
    case Need::kVlan:
      return Vlan(needs);
    case Need::kUnknown:
      if (needs.floods) return {};
      return Absent(
          "CONFIG_DB has no keys for learning and flooding; set learn_mode to disable in the rows "
          "of "
          "APPL_DB's PORT_TABLE, and fdb_unicast_miss_packet_action to drop in SWITCH_TABLE:switch "
          "(swssconfig)");
    case Need::kHairpin:
      return Absent(
          "SONiC's ports send nothing back; give each XPU a port of its own, or remove "
          "own XPUs from peers");
    case Need::kAddresses:
      return Addresses(needs);
    case Need::kClasses:
      return Maps(needs);
    case Need::kLossless:
      return Buffers(needs, options);
    case Need::kWatchdog:
      return Watchdog(needs);
    case Need::kEcn:
      return Marks(needs);
    case Need::kTrimming:
      return Trimming(needs);
    case Need::kHash:
      return Hash(needs);
    case Need::kRetry:
      return Retry(needs);
    case Need::kCredit:
      return Absent(kNoCredit);
    case Need::kRoutes:
      return Absent("the weights of planes need BGP; use --for frr for FRR's part");
  }
  return {};
}

}  // namespace suede::ctl
