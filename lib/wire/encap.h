// Network headers in front of a PDU (SUE framework §3.4.1, wire profile §5), as templates.
//
// A connection's header is built once per traffic class; sending a PDU copies it and patches the
// fields that depend on the PDU's length. One file per encapsulation holds its three functions.
#ifndef SUEDE_WIRE_ENCAP_H_
#define SUEDE_WIRE_ENCAP_H_

#include <array>
#include <cstdint>

namespace suede {

enum class Encap : uint8_t { kUdp4 };  // the names on the wire profile's list join as they are built

using MacAddress = std::array<uint8_t, 6>;
using Ipv4Address = uint32_t;  // host order

// Class of a PDU: one per VC, and one for PDUs without commands.
struct TrafficClass {
  uint8_t pcp = 0;   // 0 to 7, sent where the port tags
  uint8_t dscp = 0;  // 0 to 63
  uint8_t ecn = 0;   // 0 to 3
  friend bool operator==(const TrafficClass&, const TrafficClass&) = default;
};

// Everything that a header of one connection and class depends on.
struct HeaderSpec {
  MacAddress source_mac{};
  MacAddress destination_mac{};
  bool tagged = false;
  uint16_t vid = 0;  // 0 to 4095; 0 is a priority tag
  Ipv4Address source_ip = 0;
  Ipv4Address destination_ip = 0;
  uint16_t udp_port = 3333;
  uint16_t session = 0;  // source port 49152 + session
  TrafficClass traffic_class;
};

struct HeaderTemplate {
  static constexpr uint32_t kMaxBytes = 56;
  uint8_t bytes[kMaxBytes] = {};  // the header ends where the array ends
  uint32_t checksum = 0;  // partial sum of what does not depend on the length, where there is one
  uint8_t length = 0;     // octets of the header
  uint8_t l2_length = 0;  // octets of Ethernet header and tag
};
static_assert(sizeof(HeaderTemplate) == 64);

// Why a frame is not handed on as a PDU; each is a drop counter of its own.
enum class FrameError : uint8_t {
  kNone,
  kNotSue,          // no rule of SUE matches: goes to the management packet path
  kTruncated,       // headers or lengths run past the end of the frame
  kIpHeader,        // IPv4 options, fragments, or a version or length that cannot be
  kIpChecksum,
  kUdpChecksum,
};

// A received frame's PDU and the addresses that the header gave. The octets are the frame's.
struct ParsedFrame {
  FrameError error = FrameError::kNone;
  Ipv4Address source_ip = 0;
  Ipv4Address destination_ip = 0;
  uint16_t session = 0;  // modulo 2^16: 16384 and above where the sender's port is no session's
  uint8_t dscp = 0;
  uint8_t ecn = 0;
  const uint8_t* pdu = nullptr;  // the RH
  uint32_t pdu_bytes = 0;        // RH to R-CRC, both included
};

struct Udp4 {
  static constexpr uint32_t kHeaderBytes = 42;  // untagged
  static HeaderTemplate MakeTemplate(const HeaderSpec& spec);

  // Writes the header in front of `pdu` and returns where the frame starts. Writes up to
  // HeaderTemplate::kMaxBytes octets in front of `pdu`. With `offload`, the IPv4 header checksum
  // is left 0 for the device.
  static uint8_t* Write(const HeaderTemplate& header, uint8_t* pdu, uint32_t pdu_bytes,
                        bool offload);

  // Reads a frame's headers. `udp_port` is the port's configured one; `checksums_good` says that the
  // device has verified them already.
  static ParsedFrame Parse(const uint8_t* frame, uint32_t bytes, uint16_t udp_port,
                           bool checksums_good);
};

}  // namespace suede

#endif  // SUEDE_WIRE_ENCAP_H_
