// SPDX-License-Identifier: Apache-2.0
// Parts of the configurations of all daemons: sections that they share, facts of the machine, and
// values set outside the file.
#ifndef SUEDE_CONFIG_DAEMON_CONFIG_H_
#define SUEDE_CONFIG_DAEMON_CONFIG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "link/link_params.h"

namespace suede {

struct ConfigKey;

// A number that may have a fraction; its bounds are ValueLimits' min and max.
struct Decimal {
  double value = 0;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

enum class Hugepages : uint8_t { kAuto, kOn, kOff };

struct EalConfig {
  Hugepages hugepages = Hugepages::kAuto;  // kOff is --no-huge
  uint32_t memory_mb = 0;                  // -m if hugepages are off; 0: computed
  std::vector<std::string> args;           // additional EAL arguments
  friend bool operator==(const EalConfig&, const EalConfig&) = default;
};

enum class OnOff : uint8_t { kOff, kOn };

struct LcoreConfig {
  enum class Idle : uint8_t { kSpin, kYield, kSleep };
  uint32_t cpu = 0;
  Idle idle = Idle::kSpin;
  friend bool operator==(const LcoreConfig&, const LcoreConfig&) = default;
};

// For ports with llr: on, of endpoints and switches (docs/link.md). Each port has its own `on`.
struct LlrConfig : RetryParams {
  Duration hello = LinkParams{}.hello;
  friend bool operator==(const LlrConfig&, const LlrConfig&) = default;
};

// For ports with cbfc: on, of endpoints and switches (docs/link.md).
struct CbfcConfig : CreditTimes {
  uint32_t credit_bytes = 128;
  uint32_t overhead_bytes = 0;
  std::vector<uint32_t> credits;  // granted per link VC, eight of them; empty: computed
  friend bool operator==(const CbfcConfig&, const CbfcConfig&) = default;
};

struct ManagementConfig {
  std::string socket;  // never empty in a loaded configuration
  uint32_t socket_mode = 0660;
  uint32_t max_clients = 32;
  uint32_t packet_burst = 64;  // maximum burst of management packets, per port and direction
  std::string http_address;    // empty: no web server
  friend bool operator==(const ManagementConfig&, const ManagementConfig&) = default;
};

struct LogConfig {
  enum class Level : uint8_t { kDebug, kInfo, kWarning, kError };
  enum class Format : uint8_t { kText, kJson };
  Level level = Level::kInfo;
  Format format = Format::kText;
  friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

// Facts of the machine that the configuration is checked against.
struct MachineFacts {
  uint32_t cpu_count = 1;                   // CPUs are 0 to cpu_count - 1
  std::string runtime_root = "/run/suede";  // an endpoint's files are in runtime_root/NAME
  std::string runtime_directory;            // replaces runtime_root/NAME if set (service manager)
  uint32_t switch_ports = 32;               // maximum ports of a switch: DPDK's RTE_MAX_ETHPORTS
  static MachineFacts Here();
};

// A value set outside the file, before any check. `path`: as in messages, "transport.window_pdus"
// or "ports[0].mac". `value`: YAML. `place`: stands in messages in place of the file's line: "flag
// --set", "environment SUEDE_LOG_LEVEL".
struct ConfigOverride {
  std::string path;
  std::string value;
  std::string place;
};

// Parses "key=value" of a --set flag.
absl::StatusOr<ConfigOverride> OverrideFromFlag(std::string_view assignment);

// Returns the overrides of SUEDE_<KEY> variables, for keys outside lists: transport.window_pdus is
// SUEDE_TRANSPORT_WINDOW_PDUS. A variable that begins like a section's but names none of its keys
// is an error; other variables are ignored. `environment`: NAME=VALUE entries, ended by nullptr;
// `keys`: those of the program.
absl::StatusOr<std::vector<ConfigOverride>> OverridesFromEnvironment(
    const char* const* environment, const std::vector<ConfigKey>& keys);

}  // namespace suede

#endif  // SUEDE_CONFIG_DAEMON_CONFIG_H_
