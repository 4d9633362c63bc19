// SPDX-License-Identifier: Apache-2.0
// The sections, and all keys as rows of the documentation.
#include <algorithm>

#include "base/text.h"
#include "config/config_fields.h"
#include "config/fare_config.h"
#include "config/switch_config.h"

namespace suede {
namespace {

// The rows of a program's keys.
class KeyRows {
 public:
  // Adds the row of a section.
  void AddSection(std::string_view path, std::string_view sentence, bool required = false) {
    rows_.push_back({.path = std::string(path),
                     .default_value = required ? "required" : "",
                     .sentence = ExpandTraits(sentence),
                     .is_section = true});
  }
  // Adds the row of a section and those of its values; AddList: of a list, and of the values of an
  // entry.
  template <class S>
  void Add(std::string_view path, std::string_view sentence, const S& defaults,
           bool required = false) {
    AddSection(path, sentence, required);
    AddFields(StrCat(path, "."), defaults);
  }
  template <class S>
  void AddList(std::string_view path, std::string_view sentence, const S& defaults,
               bool required = false) {
    AddSection(path, sentence, required);
    AddFields(StrCat(path, "[]."), defaults);
  }
  template <class S>
  void AddFields(std::string_view prefix, const S& defaults) {
    for (const ConfigField<S>& field : FieldsOf<S>()) {
      std::string shown = ExpandTraits(field.shown_default);
      if (field.required) shown = "required";
      if (shown.empty()) shown = field.write(defaults, field.limits).value_or("");
      std::string sentence = ExpandTraits(field.sentence);
      if (field.only != kAnyEncapsulation) {
        StrAppend(&sentence, " Only with ", JoinNames(field.only), ".");
      }
      rows_.push_back({.path = StrCat(prefix, field.key),
                       .unit = std::string(field.unit),
                       .range = field.range(field.limits),
                       .default_value = shown,
                       .sentence = sentence,
                       .effect = field.effect});
    }
  }
  std::vector<ConfigKey> Take() { return std::move(rows_); }

 private:
  std::vector<ConfigKey> rows_;
};

std::vector<ConfigKey> MakeKeys() {
  KeyRows keys;
  keys.AddFields("", RootEntry{});
  keys.Add("eal", "DPDK's environment.", EalConfig{});
  keys.AddList("lcores", "List of the CPUs that each run one pipeline.", LcoreConfig{}, true);
  keys.AddList("ports", "List of network ports, at most 32.", PortConfig{}, true);
  keys.Add("ports[].vlan",
           "Tag of every frame of the port. Absent: untagged, as {untagged} always are.",
           VlanEntry{});
  keys.AddList("instances", "List of own instances, at most 1024 after ranges are expanded.",
               InstanceEntry{}, true);
  keys.AddList("instances[].ports", "The ports of the instance, which are its planes: 1, 2 or 4.",
               InstancePortEntry{}, true);
  keys.AddList("peers", "List of destinations, at most 1024 after ranges are expanded.",
               PeerEntry{});
  keys.AddList("peers[].ports", "Addresses of the peer, for each own port that reaches it.",
               PeerPortEntry{}, true);
  keys.AddSection("classes", "Classes of traffic.");
  keys.AddList("classes.vc", "Exactly four classes, for VC 0 to 3.", ConfigVcClass{});
  keys.Add("classes.ack", "Class of PDUs without commands.", ClassesConfig{}.ack);
  VisitSections([&](std::string_view path, std::string_view sentence,
                    const auto& defaults) { keys.Add(path, sentence, defaults); },
                Config{});
  return keys.Take();
}

std::vector<ConfigKey> MakeSwitchKeys() {
  KeyRows keys;
  keys.AddFields("", SwitchRoot{});
  keys.Add("eal", "DPDK's environment.", EalConfig{});
  keys.AddList("lcores", "List of CPUs: the first one switches, the others drive ports.",
               LcoreConfig{}, true);
  keys.Add("table", "The forwarding table.", SwitchTable{});
  keys.Add("buffer", "The shared buffer.", SwitchBuffer{});
  keys.Add("classes", "Classes of traffic.", SwitchClassesConfig{});
  keys.AddList("classes.dscp", "List of DSCPs with another class than DSCP / 8.",
               SwitchDscpConfig{});
  keys.AddList("classes.of", "List of classes with other values than these.", SwitchClassConfig{});
  keys.Add("classes.of[].ecn", "Marks of the queues of the class. Absent: none.",
           SwitchEcnConfig{});
  keys.Add("trim", "Frames that are cut instead of being dropped.", SwitchTrimConfig{});
  keys.Add("pfc", "Pauses by priority, of the ports that have pfc: on.", SwitchPfcConfig{});
  keys.Add("llr", "Link-level retry, of the ports that have llr: on.", LlrConfig{});
  keys.Add("cbfc", "Credit-based flow control, of the ports that have cbfc: on.", CbfcConfig{});
  keys.AddList("ports", "List of network ports, 2 to 32.", SwitchPortConfig{}, true);
  keys.Add("ports[].impair_in", "Faults of the link towards the switch.", SwitchImpairConfig{});
  keys.AddSection("ports[].impair_out", "Faults of the link from the switch, with the same keys.");
  keys.AddList("addresses", "List of configured entries of the forwarding table.",
               SwitchAddressConfig{});
  keys.Add("management", "How the switch is monitored and controlled.", ManagementConfig{});
  keys.Add("log", "The log, on standard error.", LogConfig{});
  return keys.Take();
}

std::vector<ConfigKey> MakeFareKeys() {
  KeyRows keys;
  keys.AddFields("", FareRoot{});
  keys.AddList("planes", "List of the instance's planes, 2 to 4.", FarePlaneConfig{}, true);
  keys.AddList("peers", "List of peers whose routes are followed.", FarePeerConfig{}, true);
  keys.Add("bgp", "The way to bgpd, with source: bgp.", FareBgpConfig{});
  keys.Add("damping", "Damping of routes that flap.", FareDampingConfig{});
  keys.Add("log", "The log, on standard error.", LogConfig{});
  return keys.Take();
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
