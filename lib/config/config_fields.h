// SPDX-License-Identifier: Apache-2.0
// Declaration of the configuration's keys, from which loader, dump, overrides from the environment
// and docs/configuration.md derive.
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

// Time at which a changed value takes effect in a running daemon.
enum class Effect : uint8_t {
  kRestart,          // after a restart
  kAtOnce,           // as soon as it is applied
  kAtOnceUpToStart,  // like kAtOnce, up to the value at the start: memory was allocated for that
};
// Returns the text for the table, as "after a restart".
std::string_view NameOf(Effect effect);

// A key with a value. S is the struct with a member for each value of a section; the default is the
// member's value in S{}.
template <class S>
struct ConfigField {
  std::string_view key;
  std::string_view unit;
  ValueLimits limits;
  std::string_view sentence;
  bool required = false;
  std::string_view shown_default{};           // for the table, if S{} does not give it
  EncapsulationSet only = kAnyEncapsulation;  // ports that have the key
  std::string_view otherwise{};               // the mend if it is given on another port
  Effect effect = Effect::kRestart;
  Problem (*read)(const ConfigNode& node, const ValueLimits& limits, S& section) = nullptr;
  Written (*write)(const S& section, const ValueLimits& limits) = nullptr;
  std::string (*range)(const ValueLimits& limits) = nullptr;  // for the table
  void (*copy)(const S& from, S& to) = nullptr;
  // Returns the value as a number: durations in the key's unit, names by their position. nullopt:
  // not numeric, or not set.
  std::optional<uint64_t> (*number)(const S& section) = nullptr;
  // Returns the number as text for a file. nullopt: no value has that number.
  Written (*text)(uint64_t number, const ValueLimits& limits) = nullptr;
};

// Sections whose form in a file differs from that in Config.
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
  std::optional<uint32_t> lcore;  // CPU of the lcore
  Ordering ordering = Ordering::kStrict;
  CongestionControl congestion = CongestionControl::kFixed;
  InstanceConfig::Sealing sealing = InstanceConfig::Sealing::kOff;
  std::optional<uint32_t> partition;
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
  std::optional<std::string> name;
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
  std::optional<MacAddress> mac;
  std::optional<MacAddress> mac_base;
};

struct DeviceEntry {
  std::string device;
  std::optional<uint32_t> lcore;  // CPU of the lcore
};
struct TableEntry {
  std::vector<std::string> devices;
  std::vector<std::string> meshes;
};
struct CableEntry {
  std::string from;
  std::string to;
  std::optional<std::string> port;
  uint32_t plane = 0;
};

// Returns the keys of a section, in the order of dump and documentation. One specialization per
// section.
template <class S>
std::span<const ConfigField<S>> FieldsOf();

// Calls `visit` with path, sentence and values of each section that holds only values, in the order
// of a file, but for those in front of the lists.
template <class Visit, class... C>
void VisitSections(const Visit& visit, C&&... c) {
  visit("packing", "How commands are packed into PDUs.", c.packing...);
  visit("transport", "Windows, acknowledgements and timers.", c.transport...);
  visit("planes", "How planes are found dead, and come back (planes.md).", c.planes...);
  visit("sessions", "Session groups: several paths behind each plane (sessions.md).",
        c.sessions...);
  visit("pfc", "Priority flow control, for ports with pfc: software (pfc.md).", c.pfc...);
  visit("congestion", "Congestion control (congestion.md).", c.congestion...);
  visit("llr", "Link-level retry, for ports with llr: on (link.md).", c.llr...);
  visit("cbfc", "Credit-based flow control, for ports with cbfc: on (link.md).", c.cbfc...);
  visit("mesh", "All devices of a mesh that the endpoint represents (mesh.md).", c.mesh...);
  visit("sealing", "Keys of instances that seal their PDUs (sealing.md).", c.sealing...);
  visit("sealing.tls",
        "Secrets that are agreed with peers over TLS. Absent: those of a file alone.",
        c.sealing.tls...);
  visit("clients", "Places, rings and credit of client processes.", c.clients...);
  visit("management", "How the endpoint is monitored and controlled.", c.management...);
  visit("log", "The log, on standard error.", c.log...);
}

// A row of the documentation, for a value or a section.
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
// Returns the row of a key, whose path may contain indices; nullptr: unknown key.
const ConfigKey* FindConfigKey(std::string_view path);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_FIELDS_H_
