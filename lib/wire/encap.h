// SPDX-License-Identifier: Apache-2.0
// Network headers in front of a PDU (SUE framework §3.4, wire profile §5), as templates.
//
// A connection's header is built once per traffic class; sending a PDU copies it and patches the
// fields that depend on the PDU. Each encapsulation is a struct of three functions, which one file
// per family defines; MakeTemplate, WriteHeader and ParseFrame choose among them by one switch.
#ifndef SUEDE_WIRE_ENCAP_H_
#define SUEDE_WIRE_ENCAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace suede {

enum class Encap : uint8_t { kUdp4, kUdp6, kAfh1, kAfh1s, kAfh2, kAfh2c };

// The wire profile's names, in the order of Encap.
inline constexpr std::array<std::string_view, 6> kEncapNames = {"udp4",  "udp6", "afh1",
                                                                 "afh1s", "afh2", "afh2c"};
constexpr std::string_view EncapName(Encap encap) {
  return kEncapNames[static_cast<size_t>(encap)];
}
std::optional<Encap> ParseEncap(std::string_view name);

using MacAddress = std::array<uint8_t, 6>;
using Ipv4Address = uint32_t;  // host order

// What a frame is forwarded by: an IPv4 address in `low`, an IPv6 address in both, most significant
// bytes in `high`, or a forwarding address in `low`.
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

// Sessions that a connection's frames can be told apart by.
constexpr uint32_t SessionCount(Encap encap) {
  switch (encap) {
    case Encap::kUdp4:
    case Encap::kUdp6: return 16384;  // source ports
    case Encap::kAfh1s: return 65536;
    case Encap::kAfh2: return 256;
    case Encap::kAfh1:
    case Encap::kAfh2c: break;
  }
  return 1;
}

// The EtherType of an AFH encapsulation: what is configured, or the default where that is 0.
constexpr uint16_t EtherTypeOf(Encap encap, uint16_t configured) {
  if (configured != 0) return configured;
  return encap == Encap::kAfh1s ? 0x88b6 : 0x88b5;
}

inline constexpr uint16_t kDefaultUdpPort = 3333;
inline constexpr uint32_t kDefaultMacPrefix = 0x02535545;

// Everything that a header of one connection and class depends on. An encapsulation passes over
// what it has no field for.
struct HeaderSpec {
  MacAddress source_mac{};       // udp4, udp6
  MacAddress destination_mac{};  // udp4, udp6
  bool tagged = false;           // all but afh2 and afh2c, which have no tag
  uint16_t vid = 0;              // 0 to 4095; 0 is a priority tag
  NetAddress source;
  NetAddress destination;
  uint16_t udp_port = kDefaultUdpPort;
  uint16_t session = 0;                     // below SessionCount of the encapsulation
  uint32_t mac_prefix = kDefaultMacPrefix;  // afh1, afh1s
  uint16_t ether_type = 0;                  // afh*; 0: the encapsulation's default
  TrafficClass traffic_class;
};

// What a receiving port takes for SUE.
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
  kNotSue,        // no rule of SUE matches: goes to the management packet path
  kTruncated,     // headers or lengths run past the end of the frame
  kIpHeader,      // IPv4 options, fragments, or an IP version or length that cannot be
  kIpChecksum,
  kUdpChecksum,   // wrong, or none where IPv6 wants one
  kShimVersion,   // afh1s: of a version that is not ours
  kNextHeader,    // afh1s: something else than SUE behind the shim
  kHopLimit,      // afh1s, afh2: arrived with a hop limit of 0
  kMulticast,     // afh2, afh2c: for a group, which SUE sends nothing to
};

// Their names, in the order of FrameError: a counter is called rx_drop_NAME_total.
inline constexpr std::array<std::string_view, 10> kFrameErrorNames = {
    "none",         "not_sue",      "truncated",   "ip_header", "ip_checksum",
    "udp_checksum", "shim_version", "next_header", "hop_limit", "multicast"};
constexpr std::string_view FrameErrorName(FrameError error) {
  return kFrameErrorNames[static_cast<size_t>(error)];
}

// A received frame's PDU and what the header said. The bytes are the frame's.
struct ParsedFrame {
  FrameError error = FrameError::kNone;
  uint8_t dscp = 0;      // this and ecn: 0 where the header has none
  uint8_t ecn = 0;
  uint16_t session = 0;  // udp*: modulo 2^16, 16384 and above where the port is no session's
  NetAddress source;
  NetAddress destination;
  const uint8_t* pdu = nullptr;  // the RH
  uint32_t pdu_bytes = 0;        // RH to R-CRC, both included
};

struct Udp4 {
  static constexpr uint32_t kHeaderBytes = 42;  // untagged, as in all of these
  static HeaderTemplate MakeTemplate(const HeaderSpec& spec);
  static uint8_t* Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes,
                        bool offload);
  static ParsedFrame Parse(const FrameRules& rules, const uint8_t* frame, uint32_t bytes,
                           bool checksums_good);
};

struct Udp6 {
  static constexpr uint32_t kHeaderBytes = 62;
  static HeaderTemplate MakeTemplate(const HeaderSpec& spec);
  static uint8_t* Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes,
                        bool offload);
  static ParsedFrame Parse(const FrameRules& rules, const uint8_t* frame, uint32_t bytes,
                           bool checksums_good);
};

struct Afh1 {
  static constexpr uint32_t kHeaderBytes = 14;
  static HeaderTemplate MakeTemplate(const HeaderSpec& spec);
  static uint8_t* Write(const HeaderTemplate& header, uint8_t* pdu);
  static ParsedFrame Parse(const FrameRules& rules, const uint8_t* frame, uint32_t bytes);
};

struct Afh1s {
  static constexpr uint32_t kHeaderBytes = 22;
  static HeaderTemplate MakeTemplate(const HeaderSpec& spec);
  static uint8_t* Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes);
  static ParsedFrame Parse(const FrameRules& rules, const uint8_t* frame, uint32_t bytes);
};

struct Afh2 {
  static constexpr uint32_t kHeaderBytes = 14;
  static HeaderTemplate MakeTemplate(const HeaderSpec& spec);
  static uint8_t* Write(const HeaderTemplate& header, uint8_t* pdu);
  static ParsedFrame Parse(const FrameRules& rules, const uint8_t* frame, uint32_t bytes);
};

struct Afh2c {
  static constexpr uint32_t kHeaderBytes = 6;  // what its 14 bytes add, as they hold the RH
  static HeaderTemplate MakeTemplate(const HeaderSpec& spec);
  static uint8_t* Write(const HeaderTemplate& header, uint8_t* pdu);
  static ParsedFrame Parse(const FrameRules& rules, uint8_t* frame, uint32_t bytes);
  static void Restore(const FrameRules& rules, uint8_t* frame, const ParsedFrame& parsed);
};

HeaderTemplate MakeTemplate(Encap encap, const HeaderSpec& spec);

// Writes the header in front of `pdu`, a PDU that FinishPdu has completed, and returns where the
// frame starts: `header.length` bytes in front of it. Writes up to HeaderTemplate::kRoomBytes
// bytes in front of `pdu`. afh2c, whose header holds the RH, writes over the RH too, and whoever
// sends the PDU again completes it again. With `offload` the device computes the checksum: udp4
// leaves the IPv4 header's 0, and udp6 puts the pseudo-header's sum where the UDP checksum goes.
inline uint8_t* WriteHeader(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes,
                            bool offload) {
  // Asked by itself, udp4 costs a compare and not a jump through a table.
  if (header.encap == Encap::kUdp4) return Udp4::Write(header, pdu, pdu_bytes, offload);
  switch (header.encap) {
    case Encap::kUdp4: break;
    case Encap::kUdp6: return Udp6::Write(header, pdu, pdu_bytes, offload);
    case Encap::kAfh1: return Afh1::Write(header, pdu);
    case Encap::kAfh1s: return Afh1s::Write(header, pdu, pdu_bytes);
    case Encap::kAfh2: return Afh2::Write(header, pdu);
    case Encap::kAfh2c: return Afh2c::Write(header, pdu);
  }
  return Udp4::Write(header, pdu, pdu_bytes, offload);
}

// Reads a frame's headers. afh2c puts the RH back into its canonical form, over the header's last
// bytes, so a frame is parsed once, or else put back by RestoreFrame. `checksums_good` says that
// the device has verified checksums.
inline ParsedFrame ParseFrame(const FrameRules& rules, uint8_t* frame, uint32_t bytes,
                              bool checksums_good) {
  if (rules.encap == Encap::kUdp4) return Udp4::Parse(rules, frame, bytes, checksums_good);
  switch (rules.encap) {
    case Encap::kUdp4: break;
    case Encap::kUdp6: return Udp6::Parse(rules, frame, bytes, checksums_good);
    case Encap::kAfh1: return Afh1::Parse(rules, frame, bytes);
    case Encap::kAfh1s: return Afh1s::Parse(rules, frame, bytes);
    case Encap::kAfh2: return Afh2::Parse(rules, frame, bytes);
    case Encap::kAfh2c: return Afh2c::Parse(rules, frame, bytes);
  }
  return Udp4::Parse(rules, frame, bytes, checksums_good);
}

// Makes a frame that was parsed without an error what it was before, for another to parse.
inline void RestoreFrame(const FrameRules& rules, uint8_t* frame, const ParsedFrame& parsed) {
  if (rules.encap == Encap::kAfh2c) Afh2c::Restore(rules, frame, parsed);
}

}  // namespace suede

#endif  // SUEDE_WIRE_ENCAP_H_
