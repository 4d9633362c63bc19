// SPDX-License-Identifier: Apache-2.0
// The one declaration of the configuration's keys. Loader, dump, overrides from the environment and
// docs/configuration.md derive from it.
#ifndef SUEDE_CONFIG_CONFIG_FIELDS_H_
#define SUEDE_CONFIG_CONFIG_FIELDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"

namespace suede {

// When a changed value takes effect in a daemon that runs.
enum class Effect : uint8_t {
  kRestart,          // after a restart
  kAtOnce,           // as soon as it is applied
  kAtOnceUpToStart,  // the same, up to the value that the daemon was started with: memory was taken
                     // for that
};
// "after a restart", as in the table.
std::string_view NameOf(Effect effect);

// A key that holds a value. S is the struct with a member for each value of a section; the
// default is the member's value in S{}.
template <class S>
struct ConfigField {
  std::string_view key;
  std::string_view unit;
  ValueLimits limits;
  std::string_view sentence;
  bool required = false;
  std::string_view shown_default{};           // for the table, where S{} does not tell it
  EncapsulationSet only = kAnyEncapsulation;  // ports that have the key
  std::string_view otherwise{};               // the mend where it is given on another port
  Effect effect = Effect::kRestart;
  Problem (*read)(const ConfigNode& node, const ValueLimits& limits, S& section) = nullptr;
  Written (*write)(const S& section, const ValueLimits& limits) = nullptr;
  std::string (*range)(const ValueLimits& limits) = nullptr;  // for the table
  void (*copy)(const S& from, S& to) = nullptr;
  // The value as a number: durations in the key's unit, names by their position. None: it is no
  // number, or is not set.
  std::optional<uint64_t> (*number)(const S& section) = nullptr;
  // The number as a file would have it. None: no value has that number.
  Written (*text)(uint64_t number, const ValueLimits& limits) = nullptr;
};

// Sections that are in a file in another form than in Config.
struct RootEntry {
  uint32_t version = 1;
  std::string name;
  uint32_t partition = 0;
};
struct VlanEntry {
  uint16_t vid = 0;
};
struct InstanceEntry {
  std::optional<uint32_t> xpu;
  std::optional<XpuRange> xpus;
  uint32_t instance = 0;
  std::optional<uint32_t> lcore;  // its CPU
  InstanceConfig::Ordering ordering = InstanceConfig::Ordering::kStrict;
  InstanceConfig::Congestion congestion = InstanceConfig::Congestion::kFixed;
  InstanceConfig::Sealing sealing = InstanceConfig::Sealing::kOff;
};
struct InstancePortEntry {
  std::string port;
  std::optional<IpText> ip;
  std::optional<IpText> ip_base;
  std::optional<uint32_t> forwarding_address;
  std::optional<uint32_t> forwarding_base;
};
struct PeerEntry {
  std::optional<uint32_t> xpu;
  std::optional<XpuRange> xpus;
  PeerConfig::Hello hello = PeerConfig::Hello::kAuto;
  std::optional<std::string> control;
};
struct PeerPortEntry {
  std::string port;
  std::optional<uint32_t> instance;
  std::optional<IpText> ip;
  std::optional<IpText> ip_base;
  std::optional<uint32_t> forwarding_address;
  std::optional<uint32_t> forwarding_base;
  std::optional<ConfigMac> mac;
  std::optional<ConfigMac> mac_base;
};

// The keys of a section, in the order of dump and documentation. One specialisation for each.
template <class S>
std::span<const ConfigField<S>> FieldsOf();

// A row of the documentation, for values and sections alike.
struct ConfigKey {
  std::string path;  // as in "ports[].mtu_bytes"
  std::string unit;
  std::string range;
  std::string default_value;
  std::string sentence;
  bool is_section = false;
  Effect effect = Effect::kRestart;
};
const std::vector<ConfigKey>& ConfigKeys();
// The row of a key, whose path may have indices in it; nullptr: there is none.
const ConfigKey* FindConfigKey(std::string_view path);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_FIELDS_H_
