// SPDX-License-Identifier: Apache-2.0
// Configuration of a switch process, as a value: filled from a YAML file and overrides, and checked
// once. docs/switch.md lists every key. The defaults below are the defaults of the file's keys.
#ifndef SUEDE_APP_SWITCH_SWITCH_CONFIG_H_
#define SUEDE_APP_SWITCH_SWITCH_CONFIG_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "config/config_values.h"
#include "config/daemon_config.h"
#include "wire/encap/header.h"

namespace suede {

struct ConfigKey;

struct SwitchRoot {
  enum class Forwarding : uint8_t { kMac, kAfh1, kAfh2, kIp, kEsun };
  enum class Unknown : uint8_t { kFlood, kDrop };
  uint32_t version = 1;
  std::string name;
  uint32_t seed = 1;
  Forwarding forwarding = Forwarding::kMac;
  std::optional<uint16_t> esun_ether_type;  // with kEsun
  OnOff learning = OnOff::kOn;
  Unknown unknown = Unknown::kFlood;
};
std::span<const std::string_view> NamesOf(SwitchRoot::Forwarding);
std::span<const std::string_view> NamesOf(SwitchRoot::Unknown);
struct SwitchTable {
  uint32_t addresses = 8192;
  uint32_t of_port = 4096;
  uint32_t max_age_s = 300;
};
struct SwitchBuffer {
  uint32_t bytes = 4u << 20;
  uint32_t cell_bytes = 256;
};

// Mapping of frames to classes.
struct SwitchClassesConfig {
  OnOff pcp_first = OnOff::kOff;
  uint32_t other = 0;
  std::vector<uint32_t> pcp = {0, 1, 2, 3, 4, 5, 6, 7};
};
struct SwitchDscpConfig {
  uint32_t dscp = 0;
  uint32_t traffic_class = 0;
};
struct SwitchEcnConfig {
  uint32_t least_bytes = 0;
  uint32_t most_bytes = 0;
  Decimal probability{1};
};
struct SwitchClassConfig {
  uint32_t traffic_class = 0;
  OnOff lossless = OnOff::kOff;
  OnOff strict = OnOff::kOff;
  uint32_t weight = 1;
  uint32_t reserved_bytes = 8192;
  Decimal alpha{1};
  uint32_t cable_m = 100;
  std::optional<uint32_t> headroom_bytes;  // nullopt: computed
  uint32_t resume_bytes = 3072;
  Duration max_wait{};
  std::optional<SwitchEcnConfig> ecn;
};

struct SwitchTrimConfig {
  std::vector<uint32_t> dscps;  // empty: nothing is trimmed
  uint32_t trimmed_dscp = 0;
  uint32_t trimmed_class = 7;
  uint32_t max_queue_bytes = 0;  // 0: no limit
  uint32_t ipv4_bytes = 64;
  uint32_t ipv6_bytes = 128;
};

struct SwitchPfcConfig {
  uint32_t quanta = 65535;
  Duration storm = std::chrono::milliseconds(100);
  Duration calm = std::chrono::milliseconds(100);
};

// Faults of one direction of a port's link.
struct SwitchImpairConfig {
  Decimal rate_gbps;
  Duration delay{};
  Duration jitter{};
  Decimal loss;
  Decimal burst_begins;
  Decimal burst_ends{1};
  Decimal burst_loss{1};
  Decimal reorder;
  Duration reorder_delay = std::chrono::microseconds(20);
  Decimal duplicate;
  Decimal bad_fcs;
  Decimal flip;
  uint32_t longest_bytes = 0;
  OnOff down = OnOff::kOff;
  std::vector<uint32_t> hole_classes;
  std::vector<std::string> hole_destinations;
  // Values that frames get; nullopt: their own.
  std::optional<uint8_t> dscp;
  std::optional<uint8_t> ecn;
  std::optional<uint8_t> pcp;
  std::optional<uint8_t> hop_limit;
  OnOff strip_tag = OnOff::kOff;
};

// Address that LLDP assigns to the neighbour of a port (docs/lldp.md).
struct SwitchAssignConfig {
  IpText ip;
  uint32_t prefix = 0;
  std::optional<IpText> gateway;
};

struct SwitchPortConfig {
  std::string name;
  std::string device;
  uint32_t socket_mode = 0600;
  std::optional<uint32_t> lcore_cpu;  // nullopt: the first lcore's
  std::optional<MacAddress> mac;
  uint32_t mtu_bytes = 0;  // never 0 in a loaded configuration
  uint32_t rx_descriptors = 1024;
  uint32_t tx_descriptors = 1024;
  Decimal rate_gbps;
  OnOff pfc = OnOff::kOff;
  OnOff llr = OnOff::kOff;            // docs/link.md
  OnOff cbfc = OnOff::kOff;           // docs/link.md
  uint16_t link_ether_type = 0xfe50;  // of shims and link frames
  OnOff lldp = OnOff::kOff;           // docs/lldp.md
  std::optional<SwitchAssignConfig> lldp_assign;
  OnOff ecn = OnOff::kOn;
  OnOff strict_vlans = OnOff::kOff;
  std::vector<uint32_t> vlans;
  OnOff decrements_hops = OnOff::kOn;
  OnOff hairpin = OnOff::kOff;
  uint32_t lcore = 0;  // index into SwitchConfig::lcores; not a key
  SwitchImpairConfig impair_in;
  SwitchImpairConfig impair_out;
};

// Ports that share the frames to an address.
struct SwitchGroupConfig {
  enum class Spread : uint8_t { kFlow, kRoundRobin, kQueue };
  enum class Hash : uint8_t { kFlow, kAddresses };
  std::string name;
  std::vector<std::string> ports;
  std::vector<uint32_t> weights;  // of the ports; empty: 1 each
  Spread spread = Spread::kFlow;
  Hash hash = Hash::kFlow;
  std::vector<uint16_t> port_numbers;  // not a key
};
std::span<const std::string_view> NamesOf(SwitchGroupConfig::Spread);
std::span<const std::string_view> NamesOf(SwitchGroupConfig::Hash);

// A configured entry of the forwarding table.
struct SwitchAddressConfig {
  std::optional<MacAddress> mac;
  uint32_t vlan = 0;
  std::optional<uint32_t> forwarding_address;
  std::optional<std::string> ip;
  std::string port;
  uint16_t port_number = 0;  // of a port or a group (fabric/params.h); not a key
};

struct SwitchConfig {
  SwitchRoot root;
  EalConfig eal;
  std::vector<LcoreConfig> lcores;  // at least one; the first runs the switching
  std::vector<SwitchPortConfig> ports;
  SwitchTable table;
  SwitchBuffer buffer;
  SwitchClassesConfig classes;
  std::vector<SwitchDscpConfig> dscps;
  std::vector<SwitchClassConfig> of_class;
  SwitchTrimConfig trim;
  SwitchPfcConfig pfc;
  LlrConfig llr;
  CbfcConfig cbfc;
  std::vector<SwitchGroupConfig> groups;
  std::vector<SwitchAddressConfig> addresses;
  ManagementConfig management;
  LogConfig log;
  const std::string& name() const { return root.name; }
};

// See LoadConfig and ParseConfig of config.h.
absl::StatusOr<SwitchConfig> LoadSwitchConfig(const std::string& path, const MachineFacts& machine,
                                              const std::vector<ConfigOverride>& overrides = {});
absl::StatusOr<SwitchConfig> ParseSwitchConfig(std::string_view text, std::string_view file_name,
                                               const MachineFacts& machine,
                                               const std::vector<ConfigOverride>& overrides = {});
// Returns the effective configuration as a file that loads to the same value.
std::string DumpSwitchConfig(const SwitchConfig& config);
// Returns the keys of a switch's configuration, which are the rows of docs/switch.md.
const std::vector<ConfigKey>& SwitchConfigKeys();

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_CONFIG_H_
