// SPDX-License-Identifier: Apache-2.0
// Conversion of a key's value from and to YAML, by its C++ type: one ReadValue and one WriteValue
// each.
#ifndef SUEDE_CONFIG_CONFIG_VALUES_H_
#define SUEDE_CONFIG_CONFIG_VALUES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/config.h"
#include "config/config_node.h"

namespace suede {

// A fault of a value, as "PROBLEM; MEND". Empty: none.
using Problem = std::string;

enum class TextRule : uint8_t {
  kPrintable,
  kName,
  kAbsolutePath,
  kListenAddress,  // or empty
  kSocketAddress,
};

// Whether a text of TextRule::kName may have the character.
bool IsNameCharacter(char c);

// Limits of a value: bounds of a number, or of a text's length.
struct ValueLimits {
  uint64_t min = 0;
  uint64_t max = UINT64_MAX;
  bool octal = false;
  bool hex = false;  // written as hexadecimal; decimal digits are accepted too
  bool power_of_two = false;
  TextRule rule = TextRule::kPrintable;
};

struct XpuRange {
  uint32_t first = 0;
  uint32_t last = 0;
};

struct IpText {
  bool is_v6 = false;
  NetAddress value;
};

// Enumerations, and the names of their values, in order.
#define SUEDE_CONFIG_ENUMS(X)                                                      \
  X(Hugepages, "auto", "on", "off")                                                \
  X(OnOff, "off", "on")                                                            \
  X(LcoreConfig::Idle, "spin", "yield", "sleep")                                   \
  X(PortConfig::Queues, "lcore", "instance")                                       \
  X(PortConfig::Pfc, "off", "software", "device")                                  \
  X(PortConfig::PfcClass, "dscp", "pcp")                                           \
  X(PortConfig::Fec, "device", "off", "auto", "baser", "rs")                       \
  X(Ordering, "strict", "unordered")                                               \
  X(PlaneWeights, "static", "measured")                                            \
  X(CongestionControl, "fixed", "rccc", "nscc")                                    \
  X(InstanceConfig::Sealing, "off", "preferred", "required")                       \
  X(SealingConfig::Cipher, "aes_128_gcm", "aes_256_gcm")                           \
  X(SealingConfig::Device, "auto", "ipsec_mb", "aesni_gcm", "aesni_mb", "openssl") \
  X(PeerConfig::Hello, "auto", "never")                                            \
  X(PsnScope, "port", "vc")                                                        \
  X(LossRecovery, "go_back_n", "selective")                                        \
  X(ClientsConfig::Registers, "off", "read", "write")                              \
  X(LogConfig::Level, "debug", "info", "warning", "error")                         \
  X(LogConfig::Format, "text", "json")

#define SUEDE_NAMES_OF(type, ...)                               \
  inline std::span<const std::string_view> NamesOf(type) {      \
    static constexpr std::string_view kNames[] = {__VA_ARGS__}; \
    return kNames;                                              \
  }
SUEDE_CONFIG_ENUMS(SUEDE_NAMES_OF)
#undef SUEDE_NAMES_OF
inline std::span<const std::string_view> NamesOf(Encap) { return kEncapNames; }

std::string JoinNames(std::span<const std::string_view> names);
std::string FormatIp(const IpText& ip);
std::string FormatMac(const MacAddress& mac);
std::optional<MacAddress> ParseMac(std::string_view text);  // six bytes, separated by colons
// Returns the number whose most significant byte is the first of the address.
uint64_t MacNumber(const MacAddress& mac);
std::string FormatText(std::string_view text);  // double-quoted
// Whether `mac` can be a station's address: neither zero nor a group address.
bool IsUnicast(const MacAddress& mac);
// Checks that the address is valid for an endpoint.
Problem CheckUnicast(const IpText& ip);

Problem ReadNumber(const ConfigNode& node, const ValueLimits& limits, uint64_t& out);
Problem ReadName(const ConfigNode& node, std::span<const std::string_view> names, size_t& index);

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, std::string& out);
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, std::vector<std::string>& out);
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, ClientRule& out);
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, std::vector<ClientRule>& out);
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, Duration& out);
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, MacAddress& out);
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, ConfigMacPrefix& out);
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, IpText& out);
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, XpuRange& out);

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, Decimal& out);
// Reads a list; the limits apply to each entry.
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, std::vector<uint32_t>& out);

template <class T>
requires std::is_unsigned_v<T> Problem ReadValue(const ConfigNode& node, const ValueLimits& limits,
                                                 T& out) {
  uint64_t number = 0;
  Problem problem = ReadNumber(node, limits, number);
  if (problem.empty()) out = static_cast<T>(number);
  return problem;
}

template <class E>
requires std::is_enum_v<E> Problem ReadValue(const ConfigNode& node, const ValueLimits&, E& out) {
  size_t index = 0;
  Problem problem = ReadName(node, NamesOf(E{}), index);
  if (problem.empty()) out = static_cast<E>(index);
  return problem;
}

template <class T>
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, std::optional<T>& out) {
  T value{};
  Problem problem = ReadValue(node, limits, value);
  if (problem.empty()) out = value;
  return problem;
}

// Text of a value; nullopt: the key is omitted from a dump.
using Written = std::optional<std::string>;

Written WriteValue(const std::string& value, const ValueLimits& limits);
Written WriteValue(const std::vector<std::string>& value, const ValueLimits& limits);
Written WriteValue(const std::vector<ClientRule>& value, const ValueLimits& limits);
Written WriteValue(const Duration& value, const ValueLimits& limits);
Written WriteValue(const MacAddress& value, const ValueLimits& limits);
Written WriteValue(const ConfigMacPrefix& value, const ValueLimits& limits);
Written WriteValue(const IpText& value, const ValueLimits& limits);
Written WriteValue(const XpuRange& value, const ValueLimits& limits);
Written WriteValue(const Decimal& value, const ValueLimits& limits);
Written WriteValue(const std::vector<uint32_t>& value, const ValueLimits& limits);
Written WriteNumber(uint64_t value, const ValueLimits& limits);

template <class T>
requires std::is_unsigned_v<T> Written WriteValue(const T& value, const ValueLimits& limits) {
  return WriteNumber(value, limits);
}

template <class E>
requires std::is_enum_v<E> Written WriteValue(const E& value, const ValueLimits&) {
  return std::string(NamesOf(E{})[static_cast<size_t>(value)]);
}

template <class T>
Written WriteValue(const std::optional<T>& value, const ValueLimits& limits) {
  if (!value) return std::nullopt;
  return WriteValue(*value, limits);
}

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_VALUES_H_
