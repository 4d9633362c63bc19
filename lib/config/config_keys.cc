// SPDX-License-Identifier: Apache-2.0
// The sections, and all keys as rows of the documentation.
#include <algorithm>

#include "base/text.h"
#include "config/config_fields.h"
#include "config/fare_config.h"
#include "config/switch_config.h"

namespace suede {
namespace {

// A key that holds other keys, or a list.
struct ConfigSection {
  std::string_view path;  // as in "ports[].vlan"
  std::string_view sentence;
  bool required = false;
};

constexpr ConfigSection kSections[] = {
    {"eal", "DPDK's environment."},
    {"lcores", "List of the CPUs that each run one pipeline.", true},
    {"ports", "List of network ports, at most 32.", true},
    {"ports[].vlan", "Tag of every frame of the port. Absent: untagged, as {untagged} always are."},
    {"instances", "List of own instances, at most 1024 after ranges are expanded.", true},
    {"instances[].ports", "The ports of the instance, which are its planes: 1, 2 or 4.", true},
    {"peers", "List of destinations, at most 1024 after ranges are expanded."},
    {"peers[].ports", "Addresses of the peer, for each own port that reaches it.", true},
    {"classes", "Classes of traffic."},
    {"classes.vc", "Exactly four classes, for VC 0 to 3."},
    {"classes.ack", "Class of PDUs without commands."},
    {"packing", "How commands are packed into PDUs."},
    {"transport", "Windows, acknowledgements and timers."},
    {"planes", "How planes are found dead, and come back (planes.md)."},
    {"sessions", "Session groups: several paths behind each plane (sessions.md)."},
    {"pfc", "Priority flow control, for ports with pfc: software (pfc.md)."},
    {"congestion", "Congestion control (congestion.md)."},
    {"llr", "Link-level retry, for ports with llr: on (link.md)."},
    {"cbfc", "Credit-based flow control, for ports with cbfc: on (link.md)."},
    {"sealing", "Keys of instances that seal their PDUs (sealing.md)."},
    {"sealing.tls", "Secrets that are agreed with peers over TLS. Absent: those of a file alone."},
    {"clients", "Places, rings and credit of client processes."},
    {"management", "How the endpoint is monitored and controlled."},
    {"log", "The log, on standard error."},
};

constexpr ConfigSection kSwitchSections[] = {
    {"eal", "DPDK's environment."},
    {"lcores", "List of CPUs: the first one switches, the others drive ports.", true},
    {"table", "The forwarding table."},
    {"buffer", "The shared buffer."},
    {"classes", "Classes of traffic."},
    {"classes.dscp", "List of DSCPs with another class than DSCP / 8."},
    {"classes.of", "List of classes with other values than these."},
    {"classes.of[].ecn", "Marks of the queues of the class. Absent: none."},
    {"trim", "Frames that are cut instead of being dropped."},
    {"pfc", "Pauses by priority, of the ports that have pfc: on."},
    {"llr", "Link-level retry, of the ports that have llr: on."},
    {"cbfc", "Credit-based flow control, of the ports that have cbfc: on."},
    {"ports", "List of network ports, 2 to 32, which is as many as DPDK has.", true},
    {"ports[].impair_in", "Faults of the link towards the switch."},
    {"ports[].impair_out", "Faults of the link from the switch, with the same keys."},
    {"addresses", "List of configured entries of the forwarding table."},
    {"management", "How the switch is monitored and controlled."},
    {"log", "The log, on standard error."},
};

constexpr ConfigSection kFareSections[] = {
    {"planes", "List of the instance's planes, 2 to 4.", true},
    {"peers", "List of peers whose routes are followed.", true},
    {"bgp", "The way to bgpd, with source: bgp."},
    {"damping", "Damping of routes that flap."},
    {"log", "The log, on standard error."},
};

void AddSection(std::string_view path, std::vector<ConfigKey>& out,
                std::span<const ConfigSection> sections = kSections) {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const ConfigSection& s) { return s.path == path; });
  const ConfigSection& section = found != sections.end() ? *found : sections.front();
  out.push_back({.path = std::string(path),
                 .default_value = section.required ? "required" : "",
                 .sentence = ExpandTraits(section.sentence),
                 .is_section = true});
}

template <class S>
void AddFields(std::string_view prefix, std::vector<ConfigKey>& out, const S& defaults = {}) {
  for (const ConfigField<S>& field : FieldsOf<S>()) {
    std::string shown = ExpandTraits(field.shown_default);
    if (field.required) shown = "required";
    if (shown.empty()) shown = field.write(defaults, field.limits).value_or("");
    std::string sentence = ExpandTraits(field.sentence);
    if (field.only != kAnyEncapsulation) {
      StrAppend(&sentence, " Only with ", JoinNames(field.only), ".");
    }
    out.push_back({.path = StrCat(prefix, field.key),
                   .unit = std::string(field.unit),
                   .range = field.range(field.limits),
                   .default_value = shown,
                   .sentence = sentence,
                   .effect = field.effect});
  }
}

template <class S>
void AddSectionWithFields(std::string_view path, std::string_view prefix,
                          std::vector<ConfigKey>& out, const S& defaults = {},
                          std::span<const ConfigSection> sections = kSections) {
  AddSection(path, out, sections);
  AddFields<S>(prefix, out, defaults);
}

std::vector<ConfigKey> MakeKeys() {
  std::vector<ConfigKey> keys;
  AddFields<RootEntry>("", keys);
  AddSectionWithFields<EalConfig>("eal", "eal.", keys);
  AddSectionWithFields<LcoreConfig>("lcores", "lcores[].", keys);
  AddSectionWithFields<PortConfig>("ports", "ports[].", keys);
  AddSectionWithFields<VlanEntry>("ports[].vlan", "ports[].vlan.", keys);
  AddSectionWithFields<InstanceEntry>("instances", "instances[].", keys);
  AddSectionWithFields<InstancePortEntry>("instances[].ports", "instances[].ports[].", keys);
  AddSectionWithFields<PeerEntry>("peers", "peers[].", keys);
  AddSectionWithFields<PeerPortEntry>("peers[].ports", "peers[].ports[].", keys);
  AddSection("classes", keys);
  AddSectionWithFields<ConfigVcClass>("classes.vc", "classes.vc[].", keys);
  AddSectionWithFields<ConfigClass>("classes.ack", "classes.ack.", keys, ClassesConfig{}.ack);
  AddSectionWithFields<PackingConfig>("packing", "packing.", keys);
  AddSectionWithFields<TransportConfig>("transport", "transport.", keys);
  AddSectionWithFields<PlanesConfig>("planes", "planes.", keys);
  AddSectionWithFields<SessionsConfig>("sessions", "sessions.", keys);
  AddSectionWithFields<PfcConfig>("pfc", "pfc.", keys);
  AddSectionWithFields<CongestionConfig>("congestion", "congestion.", keys);
  AddSectionWithFields<LlrConfig>("llr", "llr.", keys);
  AddSectionWithFields<CbfcConfig>("cbfc", "cbfc.", keys);
  AddSectionWithFields<SealingConfig>("sealing", "sealing.", keys);
  AddSectionWithFields<SealingTlsConfig>("sealing.tls", "sealing.tls.", keys);
  AddSectionWithFields<ClientsConfig>("clients", "clients.", keys);
  AddSectionWithFields<ManagementConfig>("management", "management.", keys);
  AddSectionWithFields<LogConfig>("log", "log.", keys);
  return keys;
}

std::vector<ConfigKey> MakeSwitchKeys() {
  std::vector<ConfigKey> keys;
  const auto add = [&]<class S>(std::string_view path, std::string_view prefix, const S& section) {
    AddSectionWithFields<S>(path, prefix, keys, section, kSwitchSections);
  };
  AddFields<SwitchRoot>("", keys);
  add("eal", "eal.", EalConfig{});
  add("lcores", "lcores[].", LcoreConfig{});
  add("table", "table.", SwitchTable{});
  add("buffer", "buffer.", SwitchBuffer{});
  add("classes", "classes.", SwitchClassesConfig{});
  add("classes.dscp", "classes.dscp[].", SwitchDscpConfig{});
  add("classes.of", "classes.of[].", SwitchClassConfig{});
  add("classes.of[].ecn", "classes.of[].ecn.", SwitchEcnConfig{});
  add("trim", "trim.", SwitchTrimConfig{});
  add("pfc", "pfc.", SwitchPfcConfig{});
  add("llr", "llr.", LlrConfig{});
  add("cbfc", "cbfc.", CbfcConfig{});
  add("ports", "ports[].", SwitchPortConfig{});
  add("ports[].impair_in", "ports[].impair_in.", SwitchImpairConfig{});
  AddSection("ports[].impair_out", keys, kSwitchSections);
  add("addresses", "addresses[].", SwitchAddressConfig{});
  add("management", "management.", ManagementConfig{});
  add("log", "log.", LogConfig{});
  return keys;
}

std::vector<ConfigKey> MakeFareKeys() {
  std::vector<ConfigKey> keys;
  const auto add = [&]<class S>(std::string_view path, std::string_view prefix, const S& section) {
    AddSectionWithFields<S>(path, prefix, keys, section, kFareSections);
  };
  AddFields<FareRoot>("", keys);
  add("planes", "planes[].", FarePlaneConfig{});
  add("peers", "peers[].", FarePeerConfig{});
  add("bgp", "bgp.", FareBgpConfig{});
  add("damping", "damping.", FareDampingConfig{});
  add("log", "log.", LogConfig{});
  return keys;
}

}  // namespace

const std::vector<ConfigKey>& FareConfigKeys() {
  static const std::vector<ConfigKey> keys = MakeFareKeys();
  return keys;
}

const std::vector<ConfigKey>& SwitchConfigKeys() {
  static const std::vector<ConfigKey> keys = MakeSwitchKeys();
  return keys;
}

const std::vector<ConfigKey>& ConfigKeys() {
  static const std::vector<ConfigKey> keys = MakeKeys();
  return keys;
}

const ConfigKey* FindConfigKey(std::string_view path) {
  std::string plain;  // without indices
  for (const char c : path) {
    const bool in_brackets = !plain.empty() && plain.back() == '[';
    if (!in_brackets || c == ']') plain += c;
  }
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.path == plain && !key.is_section) return &key;
  }
  return nullptr;
}

}  // namespace suede
