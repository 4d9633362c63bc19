// SPDX-License-Identifier: Apache-2.0
// Parts common to all network headers: spec, rules, template, and the result of parsing.
#ifndef SUEDE_WIRE_ENCAP_HEADER_H_
#define SUEDE_WIRE_ENCAP_HEADER_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "wire/encap/traits.h"

namespace suede {

using MacAddress = std::array<uint8_t, 6>;
using Ipv4Address = uint32_t;  // host order

// Address by which a frame is forwarded: an IPv4 address in `low`, an IPv6 address in both, most
// significant bytes in `high`, or a forwarding address in `low`.
struct NetAddress {
  uint64_t high = 0;
  uint64_t low = 0;
  friend auto operator<=>(const NetAddress&, const NetAddress&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const NetAddress& address) {
    return H::combine(std::move(state), address.high, address.low);
  }
};

// Traffic class of a PDU: one per VC, and one for PDUs without commands.
struct TrafficClass {
  uint8_t pcp = 0;   // 0 to 7, sent if the port tags
  uint8_t dscp = 0;  // 0 to 63
  uint8_t ecn = 0;   // 0 to 3
  friend bool operator==(const TrafficClass&, const TrafficClass&) = default;
  // Returns the DS byte that IPv4, IPv6, the shim and AFH Gen 2 share.
  uint8_t ds_byte() const { return static_cast<uint8_t>((dscp & 0x3f) << 2 | (ecn & 3)); }
};

inline constexpr uint16_t kDefaultUdpPort = 3333;
inline constexpr uint32_t kDefaultMacPrefix = 0x02535545;

// Parameters of a header of one connection and class. An encapsulation ignores those for which it
// has no field.
struct HeaderSpec {
  MacAddress source_mac{};       // udp4, udp6
  MacAddress destination_mac{};  // udp4, udp6
  bool tagged = false;           // if the header can be tagged
  uint16_t vid = 0;              // 0 to 4095; 0 is a priority tag
  NetAddress source;
  NetAddress destination;
  uint16_t udp_port = kDefaultUdpPort;
  uint16_t session = 0;                     // below SessionCount of the encapsulation
  uint32_t mac_prefix = kDefaultMacPrefix;  // if MAC addresses are prefixed
  uint16_t ether_type = 0;  // of forwarding addresses; 0: the encapsulation's default
  uint8_t hop_limit = kDefaultHopLimit;  // 1 to 255; larger than fits the header: its maximum
  TrafficClass traffic_class;
};

// Properties of frames that a receiving port accepts as SUE.
struct FrameRules {
  Encap encap = Encap::kUdp4;
  uint16_t udp_port = kDefaultUdpPort;
  uint32_t mac_prefix = kDefaultMacPrefix;
  uint16_t ether_type = 0;  // 0: the encapsulation's default
};

// A finished header. It ends at the end of the array, so that the copied bytes do not depend on the
// tag; its last 48 bytes, more than any header but udp6 has, share a cache line with the numbers.
struct alignas(64) HeaderTemplate {
  static constexpr uint32_t kMaxBytes = 112;
  // Maximum bytes in front of a PDU that WriteHeader writes.
  static constexpr uint32_t kRoomBytes = 80;

  uint8_t bytes[kMaxBytes] = {};
  uint32_t checksum = 0;         // partial sum of the parts that do not depend on the PDU
  uint32_t pseudo_checksum = 0;  // udp6: the pseudo-header's part of `checksum`
  Encap encap = Encap::kUdp4;
  uint8_t length = 0;     // bytes that the header adds to the PDU
  uint8_t l2_length = 0;  // bytes of Ethernet header and tag
  uint8_t l3_length = 0;  // bytes of the IP header; 0: none
  uint16_t session = 0;   // session number, if the header has a field for it
  // Class of its frames on a link with credit, which the sender sets (LinkClassOf).
  uint8_t link_class = 0;

  // Copies the last `kBytes` bytes so that they end at `end`. `kBytes`: a multiple of 16 that
  // covers the header with and without a tag.
  template <uint32_t kBytes>
  void CopyTo(uint8_t* end) const {
    static_assert(kBytes % 16 == 0 && kBytes <= kRoomBytes);
    std::memcpy(end - kBytes, bytes + kMaxBytes - kBytes, kBytes);
  }
};
static_assert(sizeof(HeaderTemplate) == 128);
static_assert(offsetof(HeaderTemplate, checksum) == HeaderTemplate::kMaxBytes);

// Reason why a frame does not hold a valid PDU; each has its own drop counter.
enum class FrameError : uint8_t {
  kNone,
  kNotSue,     // no SUE rule matches: passed to the management packet path
  kTruncated,  // headers or lengths exceed the frame
  kIpHeader,   // IPv4 options, fragments, or an invalid IP version or length
  kIpChecksum,
  kUdpChecksum,  // wrong, or missing over IPv6
  kShimVersion,  // unsupported shim version
  kNextHeader,   // shim not followed by SUE
  kHopLimit,     // not of IP: received with a hop limit of 0
  kMulticast,    // AFH Gen 2 frame to a multicast group, which SUE does not use
  kRevision,     // unsupported revision of the ESUN header
};

// Names of errors, in the order of FrameError: the counter is rx_drop_NAME_total.
inline constexpr std::array<std::string_view, 11> kFrameErrorNames = {
    "none",         "not_sue",     "truncated", "ip_header", "ip_checksum", "udp_checksum",
    "shim_version", "next_header", "hop_limit", "multicast", "revision"};
constexpr std::string_view FrameErrorName(FrameError error) {
  return kFrameErrorNames[static_cast<size_t>(error)];
}

// PDU of a received frame, and the fields of its header. `pdu` points into the frame.
struct ParsedFrame {
  FrameError error = FrameError::kNone;
  uint8_t dscp = 0;  // 0 if the header has no DSCP and ECN; esun: 8 times the CoS
  uint8_t ecn = 0;
  uint16_t session = 0;  // udp*: modulo 2^16; 16384 and above: the port is not a session's
  NetAddress source;
  NetAddress destination;
  const uint8_t* pdu = nullptr;  // the RH
  uint32_t pdu_bytes = 0;        // RH to R-CRC, both included
};

}  // namespace suede

#endif  // SUEDE_WIRE_ENCAP_HEADER_H_
