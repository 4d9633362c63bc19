// SPDX-License-Identifier: Apache-2.0
// The parts common to all network headers: spec, rules, template, and the result of parsing.
#ifndef SUEDE_WIRE_ENCAP_HEADER_H_
#define SUEDE_WIRE_ENCAP_HEADER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "wire/encap/traits.h"

namespace suede {

using MacAddress = std::array<uint8_t, 6>;
using Ipv4Address = uint32_t;  // host order

// The address that a frame is forwarded by: an IPv4 address in `low`, an IPv6 address in both, most
// significant bytes in `high`, or a forwarding address in `low`.
struct NetAddress {
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const NetAddress&, const NetAddress&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const NetAddress& address) {
    return H::combine(std::move(state), address.high, address.low);
  }
};

// Class of a PDU: one per VC, and one for PDUs without commands.
struct TrafficClass {
  uint8_t pcp = 0;   // 0 to 7, sent where the port tags
  uint8_t dscp = 0;  // 0 to 63
  uint8_t ecn = 0;   // 0 to 3
  friend bool operator==(const TrafficClass&, const TrafficClass&) = default;
  // The byte that IPv4, IPv6, the shim and AFH Gen 2 have in common.
  uint8_t ds_byte() const { return static_cast<uint8_t>((dscp & 0x3f) << 2 | (ecn & 3)); }
};

inline constexpr uint16_t kDefaultUdpPort = 3333;
inline constexpr uint32_t kDefaultMacPrefix = 0x02535545;

// Everything that a header of one connection and class depends on. An encapsulation passes over
// what it has no field for.
struct HeaderSpec {
  MacAddress source_mac{};       // udp4, udp6
  MacAddress destination_mac{};  // udp4, udp6
  bool tagged = false;           // where the header can be tagged
  uint16_t vid = 0;              // 0 to 4095; 0 is a priority tag
  NetAddress source;
  NetAddress destination;
  uint16_t udp_port = kDefaultUdpPort;
  uint16_t session = 0;                     // below SessionCount of the encapsulation
  uint32_t mac_prefix = kDefaultMacPrefix;  // where MAC addresses are prefixed
  uint16_t ether_type = 0;  // of forwarding addresses; 0: the encapsulation's default
  TrafficClass traffic_class;
};

// The properties of frames that a receiving port takes for SUE.
struct FrameRules {
  Encap encap = Encap::kUdp4;
  uint16_t udp_port = kDefaultUdpPort;
  uint32_t mac_prefix = kDefaultMacPrefix;
  uint16_t ether_type = 0;  // 0: the encapsulation's default
};

// A finished header. It ends where the array ends, so that what is copied does not depend on the
// tag; its last 48 bytes, more than any header but udp6 has, share a cache line with the numbers.
struct alignas(64) HeaderTemplate {
  static constexpr uint32_t kMaxBytes = 112;
  // Bytes in front of a PDU that WriteHeader may write.
  static constexpr uint32_t kRoomBytes = 80;

  uint8_t bytes[kMaxBytes] = {};
  uint32_t checksum = 0;         // partial sum of what does not depend on the PDU
  uint32_t pseudo_checksum = 0;  // udp6: the part of it that is the pseudo-header's
  Encap encap = Encap::kUdp4;
  uint8_t length = 0;     // bytes that the header adds to the PDU
  uint8_t l2_length = 0;  // bytes of Ethernet header and tag
  uint8_t l3_length = 0;  // bytes of the IP header, where there is one
  uint16_t session = 0;   // its number, where the header has a field for it

  // Copies `kBytes` bytes, a multiple of 16 that covers the header with and without a tag, so that
  // they end at `end`.
  template <uint32_t kBytes>
  void CopyTo(uint8_t* end) const {
    static_assert(kBytes % 16 == 0 && kBytes <= kRoomBytes);
    std::memcpy(end - kBytes, bytes + kMaxBytes - kBytes, kBytes);
  }
};
static_assert(sizeof(HeaderTemplate) == 128);
static_assert(offsetof(HeaderTemplate, checksum) == HeaderTemplate::kMaxBytes);

// Why a frame is not handed on as a PDU; each is a drop counter of its own.
enum class FrameError : uint8_t {
  kNone,
  kNotSue,     // no rule of SUE matches: goes to the management packet path
  kTruncated,  // headers or lengths run past the end of the frame
  kIpHeader,   // IPv4 options, fragments, or an IP version or length that cannot be
  kIpChecksum,
  kUdpChecksum,  // wrong, or none where IPv6 wants one
  kShimVersion,  // a shim of a version that is not ours
  kNextHeader,   // something else than SUE behind a shim
  kHopLimit,     // not of IP: arrived with a hop limit of 0
  kMulticast,    // of AFH Gen 2: for a group, which SUE sends nothing to
};

// Names of errors, in the order of FrameError: a counter is called rx_drop_NAME_total.
inline constexpr std::array<std::string_view, 10> kFrameErrorNames = {
    "none",         "not_sue",      "truncated",   "ip_header", "ip_checksum",
    "udp_checksum", "shim_version", "next_header", "hop_limit", "multicast"};
constexpr std::string_view FrameErrorName(FrameError error) {
  return kFrameErrorNames[static_cast<size_t>(error)];
}

// A received frame's PDU and what the header said. The bytes are the frame's.
struct ParsedFrame {
  FrameError error = FrameError::kNone;
  uint8_t dscp = 0;  // this and ecn: 0 where the header has none
  uint8_t ecn = 0;
  uint16_t session = 0;  // udp*: modulo 2^16, 16384 and above where the port is no session's
  NetAddress source;
  NetAddress destination;
  const uint8_t* pdu = nullptr;  // the RH
  uint32_t pdu_bytes = 0;        // RH to R-CRC, both included
};

}  // namespace suede

#endif  // SUEDE_WIRE_ENCAP_HEADER_H_
