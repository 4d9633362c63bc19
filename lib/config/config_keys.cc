// SPDX-License-Identifier: Apache-2.0
// The sections, and all keys as rows of the documentation.
#include "config/config_key_rows.h"

namespace suede {
namespace {

std::vector<ConfigKey> MakeKeys() {
  ConfigKeyRows keys;
  keys.AddFields("", RootEntry{});
  keys.Add("eal", "DPDK's environment.", EalConfig{});
  keys.AddList("lcores", "List of the CPUs that each run one pipeline.", LcoreConfig{}, true);
  keys.AddList("ports", "List of network ports, at most 64.", PortConfig{}, true);
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
  keys.AddList("devices", "List of own devices of a mesh (mesh.md), at most 1024.", DeviceEntry{});
  keys.AddList("devices[].tables", "Routing table of the device for each plane, in order.",
               TableEntry{}, true);
  keys.AddList("cables", "List of the cables of own devices.", CableEntry{});
  keys.AddSection("classes", "Classes of traffic.");
  keys.AddList("classes.vc", "Exactly four classes, for VC 0 to 3.", ConfigVcClass{});
  keys.Add("classes.ack", "Class of PDUs without commands.", ClassesConfig{}.ack);
  VisitSections([&](std::string_view path, std::string_view sentence,
                    const auto& defaults) { keys.Add(path, sentence, defaults); },
                Config{});
  return keys.Take();
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
