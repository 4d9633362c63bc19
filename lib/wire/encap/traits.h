// SPDX-License-Identifier: Apache-2.0
// The network headers: one row of traits for each, from which the configuration, the commands on
// frames, the documentation's tables and the dissector's tables derive. The file NAME.cc beside
// this one holds the header's functions and the declaration of its fields.
//
// To add a header, add a row at the end and a file: docs/contributing.md.
#ifndef SUEDE_WIRE_ENCAP_TRAITS_H_
#define SUEDE_WIRE_ENCAP_TRAITS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace suede {

// Addresses by which frames are forwarded.
enum class AddressKind : uint8_t { kIpv4, kIpv6, kForwarding };

// Content of the 12 bytes that Ethernet has for MAC addresses.
enum class MacKind : uint8_t {
  kAddresses,  // the MAC addresses of the port and the peer
  kPrefixed,   // a prefix of 32 bits, and a forwarding address of 16
  kOther,      // no MAC addresses at all
};

struct EncapTraits {
  std::string_view name;   // of the wire profile and the configuration
  std::string_view title;  // for people
  std::string_view then;   // headers behind the Ethernet header, for people
  // Bytes in front of the RH, untagged. If the header holds the RH: bytes in front of the commands,
  // less those of the RH.
  uint8_t header_bytes;
  AddressKind addresses;
  MacKind macs;
  uint8_t forwarding_bits = 0;  // of a forwarding address; 0: addressed by IP
  uint32_t sessions = 1;        // sessions of a connection that frames can name; 1: no field
  uint16_t ether_type;  // default with forwarding addresses, else fixed; 0: to be configured
  bool can_be_tagged = true;    // by IEEE 802.1Q, which also provides the PCP
  uint8_t class_bits = 6;       // of the DSCP; 3: its upper three bits; 0: neither DSCP nor ECN
  bool has_length = true;       // has the PDU's length: bytes behind the PDU are ignored
  uint8_t max_hop_limit = 255;  // of TTL, hop limit or hop count; 0: no field
  bool holds_rh = false;        // the xpuid is then only in the low bits of the source address
};

// In the order of Encap, whose values appear in frames, captures and registers: add new rows at the
// end.
#define SUEDE_ENCAPS(X)                                                                         \
  X(Udp4, .name = "udp4", .title = "IPv4 and UDP", .then = "IPv4, UDP", .header_bytes = 42,     \
    .addresses = AddressKind::kIpv4, .macs = MacKind::kAddresses, .sessions = 16384,            \
    .ether_type = 0x0800)                                                                       \
  X(Udp6, .name = "udp6", .title = "IPv6 and UDP", .then = "IPv6, UDP", .header_bytes = 62,     \
    .addresses = AddressKind::kIpv6, .macs = MacKind::kAddresses, .sessions = 16384,            \
    .ether_type = 0x86dd)                                                                       \
  X(Afh1, .name = "afh1", .title = "AFH Gen 1", .header_bytes = 14,                             \
    .addresses = AddressKind::kForwarding, .macs = MacKind::kPrefixed, .forwarding_bits = 16,   \
    .ether_type = 0x88b5, .class_bits = 0, .has_length = false, .max_hop_limit = 0)             \
  X(Afh1s, .name = "afh1s", .title = "AFH Gen 1 with shim", .then = "shim", .header_bytes = 22, \
    .addresses = AddressKind::kForwarding, .macs = MacKind::kPrefixed, .forwarding_bits = 16,   \
    .sessions = 65536, .ether_type = 0x88b6)                                                    \
  X(Afh2, .name = "afh2", .title = "AFH Gen 2", .header_bytes = 14,                             \
    .addresses = AddressKind::kForwarding, .macs = MacKind::kOther, .forwarding_bits = 32,      \
    .sessions = 256, .ether_type = 0x88b5, .can_be_tagged = false, .has_length = false)         \
  X(Afh2c, .name = "afh2c", .title = "AFH Gen 2, compressed", .header_bytes = 6,                \
    .addresses = AddressKind::kForwarding, .macs = MacKind::kOther, .forwarding_bits = 16,      \
    .ether_type = 0x88b5, .can_be_tagged = false, .has_length = false, .max_hop_limit = 0,      \
    .holds_rh = true)                                                                           \
  X(Esun, .name = "esun", .title = "ESUN", .then = "ESUN", .header_bytes = 18,                  \
    .addresses = AddressKind::kForwarding, .macs = MacKind::kPrefixed, .forwarding_bits = 16,   \
    .sessions = 65536, .ether_type = 0, .class_bits = 3, .has_length = false, .max_hop_limit = 15)

enum class Encap : uint8_t {
#define SUEDE_ENCAP_ID(id, ...) k##id,
  SUEDE_ENCAPS(SUEDE_ENCAP_ID)
#undef SUEDE_ENCAP_ID
};

inline constexpr EncapTraits kEncapTraits[] = {
#define SUEDE_ENCAP_TRAITS(id, ...) {__VA_ARGS__},
    SUEDE_ENCAPS(SUEDE_ENCAP_TRAITS)
#undef SUEDE_ENCAP_TRAITS
};
inline constexpr size_t kEncapCount = std::size(kEncapTraits);

constexpr const EncapTraits& TraitsOf(Encap encap) {
  return kEncapTraits[static_cast<size_t>(encap)];
}

// The wire profile's names, in the order of Encap.
inline constexpr auto kEncapNames = [] {
  std::array<std::string_view, kEncapCount> names;
  for (size_t i = 0; i < kEncapCount; ++i) names[i] = kEncapTraits[i].name;
  return names;
}();
constexpr std::string_view EncapName(Encap encap) { return TraitsOf(encap).name; }

constexpr std::optional<Encap> ParseEncap(std::string_view name) {
  for (size_t i = 0; i < kEncapCount; ++i) {
    if (kEncapNames[i] == name) return static_cast<Encap>(i);
  }
  return std::nullopt;
}

// Returns the number of sessions of a connection that frames can distinguish.
constexpr uint32_t SessionCount(Encap encap) { return TraitsOf(encap).sessions; }

// Returns the EtherType of a header with forwarding addresses: the configured one, or the default
// if that is 0. A header without a default has to be configured.
constexpr uint16_t EtherTypeOf(Encap encap, uint16_t configured) {
  return configured != 0 ? configured : TraitsOf(encap).ether_type;
}

inline constexpr uint8_t kDefaultHopLimit = 64;

// Returns the hop limit, or the largest one that fits the header.
constexpr uint8_t HopLimitIn(Encap encap, uint8_t hop_limit) {
  const uint8_t max = TraitsOf(encap).max_hop_limit;
  return hop_limit < max ? hop_limit : max;
}

// A set of headers.
class EncapSet {
 public:
  constexpr EncapSet() = default;
  constexpr bool Has(Encap encap) const {
    return (bits_ >> static_cast<uint32_t>(encap) & 1u) != 0;
  }
  constexpr void Add(Encap encap) { bits_ |= 1u << static_cast<uint32_t>(encap); }
  friend constexpr bool operator==(const EncapSet&, const EncapSet&) = default;

 private:
  uint32_t bits_ = 0;
};

// Returns the headers whose traits fulfil a condition.
template <class Condition>
constexpr EncapSet EncapsWith(Condition condition) {
  EncapSet set;
  for (size_t i = 0; i < kEncapCount; ++i) {
    if (condition(kEncapTraits[i])) set.Add(static_cast<Encap>(i));
  }
  return set;
}

inline constexpr EncapSet kEveryEncap = EncapsWith([](const EncapTraits&) { return true; });
// Headers whose EtherType has to be configured.
inline constexpr EncapSet kWithoutEtherType =
    EncapsWith([](const EncapTraits& traits) { return traits.ether_type == 0; });

// Returns the names of a set's headers, in the order of Encap, with `between` between names and
// `last` in front of the last one.
std::string JoinEncaps(const EncapSet& set, std::string_view between, std::string_view last);

}  // namespace suede

#endif  // SUEDE_WIRE_ENCAP_TRAITS_H_
