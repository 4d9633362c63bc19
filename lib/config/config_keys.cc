// SPDX-License-Identifier: Apache-2.0
// The sections, and all keys as rows of the documentation.
#include "base/text.h"
#include "config/config_fields.h"

namespace suede {
namespace {

// A key that holds further keys, or a list.
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
    {"pfc", "Priority flow control, for ports with pfc: software (pfc.md)."},
    {"clients", "Places, rings and credit of client processes."},
    {"management", "How the endpoint is monitored and controlled."},
    {"log", "The log, on standard error."},
};

const ConfigSection& SectionAt(std::string_view path) {
  for (const ConfigSection& section : kSections) {
    if (section.path == path) return section;
  }
  return kSections[0];
}

void AddSection(std::string_view path, std::vector<ConfigKey>& out) {
  const ConfigSection& section = SectionAt(path);
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
                          std::vector<ConfigKey>& out, const S& defaults = {}) {
  AddSection(path, out);
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
  AddSectionWithFields<PfcConfig>("pfc", "pfc.", keys);
  AddSectionWithFields<ClientsConfig>("clients", "clients.", keys);
  AddSectionWithFields<ManagementConfig>("management", "management.", keys);
  AddSectionWithFields<LogConfig>("log", "log.", keys);
  return keys;
}

}  // namespace

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
