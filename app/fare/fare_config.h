// SPDX-License-Identifier: Apache-2.0
// Configuration of suede-fare, as a value. docs/fare.md lists every key; the defaults below are
// those of the file's keys; unit, range and sentence of each key are in fare_fields.cc.
#ifndef SUEDE_APP_FARE_FARE_CONFIG_H_
#define SUEDE_APP_FARE_FARE_CONFIG_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/daemon_config.h"

namespace suede {

struct FareRoot {
  enum class Source : uint8_t { kKernel, kBgp };
  uint32_t version = 1;
  std::string endpoint = "suede";
  std::optional<std::string> socket;
  uint32_t xpu = 0;
  uint32_t instance = 0;
  Source source = Source::kKernel;
  uint32_t table = 254;
  Decimal scale{.value = 1};
  uint32_t retry_ms = 500;
};
std::span<const std::string_view> NamesOf(FareRoot::Source);

struct FarePlaneConfig {
  uint32_t plane = 0;
  std::vector<std::string> interfaces;
  Decimal bandwidth_gbps{.value = 0};
};

// A prefix in network byte order; IPv4 in the first four bytes. Host bits are 0.
struct FarePrefix {
  bool is_v6 = false;
  uint8_t bits = 0;
  std::array<uint8_t, 16> bytes{};
  friend auto operator<=>(const FarePrefix&, const FarePrefix&) = default;
};

struct FarePeerConfig {
  uint32_t xpu = 0;
  std::string prefix;
  FarePrefix parsed;  // not a key
};

struct FareBgpConfig {
  std::string vtysh = "/usr/bin/vtysh";
  std::optional<std::string> name;
  uint32_t timeout_ms = 2000;
};

struct FareDampingConfig {
  uint32_t half_life_ms = 5000;
  uint32_t penalty = 1000;
  uint32_t suppress = 2500;
  uint32_t reuse = 1000;
  uint32_t max = 12000;
};

struct FareConfig {
  FareRoot root;
  std::vector<FarePlaneConfig> planes;
  std::vector<FarePeerConfig> peers;
  FareBgpConfig bgp;
  FareDampingConfig damping;
  LogConfig log;
};

// Parses "10.0.0.1/32" or "fd00::1/128"; without a length, the whole address. Returns nullopt and
// sets `problem` if the text is not a prefix, or has host bits.
std::optional<FarePrefix> ParseFarePrefix(std::string_view text, std::string* problem);

// See LoadConfig and ParseConfig of config.h.
absl::StatusOr<FareConfig> LoadFareConfig(const std::string& path,
                                          const std::vector<ConfigOverride>& overrides = {});
absl::StatusOr<FareConfig> ParseFareConfig(std::string_view text, std::string_view file_name,
                                           const std::vector<ConfigOverride>& overrides = {});
// Returns the effective configuration as a file that loads to the same value.
std::string DumpFareConfig(const FareConfig& config);
// Returns the keys of suede-fare's configuration, which are the rows of docs/fare.md.
const std::vector<ConfigKey>& FareConfigKeys();

}  // namespace suede

#endif  // SUEDE_APP_FARE_FARE_CONFIG_H_
