// SPDX-License-Identifier: Apache-2.0
// LLDP frames (IEEE 802.1AB) with the TLVs that suede uses (docs/lldp.md): values to bytes, and
// bytes to values. No I/O.
#ifndef SUEDE_LLDP_LLDPDU_H_
#define SUEDE_LLDP_LLDPDU_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lldp/assignment.h"

namespace suede::lldp {

using Mac = std::array<uint8_t, 6>;

// Group address of the nearest bridge, which no bridge forwards.
inline constexpr Mac kGroup{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
inline constexpr uint16_t kEtherType = 0x88cc;
inline constexpr uint32_t kMinFrameBytes = 60;
inline constexpr uint32_t kPriorities = 8;
inline constexpr uint32_t kVcs = 5;  // VC 0 to 3, and PDUs without commands

// Whether a frame is an LLDP frame to the nearest bridge. Any bytes.
bool IsLldp(std::span<const uint8_t> frame);

// Chassis id or port id.
struct Id {
  static constexpr uint8_t kChassisMac = 4;
  static constexpr uint8_t kPortMac = 3;
  static constexpr uint8_t kPortInterface = 5;
  uint8_t subtype = 0;
  std::string value;  // 1 to 255 octets
  friend bool operator==(const Id&, const Id&) = default;
};

// Enhanced transmission selection (IEEE 802.1Q, D.2.8 and D.2.9).
struct Ets {
  static constexpr uint8_t kStrict = 0;
  static constexpr uint8_t kCreditShaper = 1;
  static constexpr uint8_t kWeighted = 2;
  static constexpr uint8_t kVendor = 255;
  bool willing = false;        // not of a recommendation
  bool credit_shaper = false;  // not of a recommendation
  uint8_t max_classes = 0;     // 0: eight. Not of a recommendation
  std::array<uint8_t, kPriorities> class_of_priority{};
  std::array<uint8_t, kPriorities> percent{};  // of each class; their sum is 100, or 0
  std::array<uint8_t, kPriorities> selection{};
  friend bool operator==(const Ets&, const Ets&) = default;
};

// Priority-based flow control (D.2.10).
struct Pfc {
  bool willing = false;
  bool bypass = false;
  uint8_t max_classes = 0;
  uint8_t classes = 0;  // a bit for each priority
  friend bool operator==(const Pfc&, const Pfc&) = default;
};

// The priority of one protocol (D.2.11).
struct Application {
  static constexpr uint8_t kEtherType = 1;
  static constexpr uint8_t kDscp = 5;
  uint8_t selector = 0;  // 1 to 5
  uint16_t protocol = 0;
  uint8_t priority = 0;  // 0 to 7
  friend bool operator==(const Application&, const Application&) = default;
};

// Suede's own TLV: options of the link layer (docs/link.md).
struct LinkOptions {
  static constexpr uint8_t kUnknownVc = 255;
  bool llr = false;
  bool cbfc_sender = false;
  bool cbfc_receiver = false;
  bool by_pcp = false;  // the PCP precedes the DSCP in the class of frames
  uint16_t ether_type = 0;
  uint16_t credit_octets = 0;  // 0: no credit is granted
  std::array<uint8_t, kVcs> link_vc_of{kUnknownVc, kUnknownVc, kUnknownVc, kUnknownVc, kUnknownVc};
  std::array<uint32_t, kPriorities> credits{};  // granted to link VC 0 to 7
  friend bool operator==(const LinkOptions&, const LinkOptions&) = default;
};

// An LLDPDU; an optional TLV that is absent is nullopt.
struct Lldpdu {
  static constexpr uint32_t kMaxApplications = 168;
  Id chassis;
  Id port;
  uint16_t ttl_s = 0;                           // 0: the sender ends
  std::optional<std::string> port_description;  // up to 255 octets, as the other texts
  std::optional<std::string> system_name;
  std::optional<std::string> system_description;
  std::optional<uint16_t> max_frame_bytes;
  std::optional<Ets> ets;
  std::optional<Ets> recommended_ets;
  std::optional<Pfc> pfc;
  std::optional<std::vector<Application>> applications;  // up to kMaxApplications
  std::optional<LinkOptions> link;
  std::optional<Assignment> assignment;
  friend bool operator==(const Lldpdu&, const Lldpdu&) = default;
};

// Returns the ones' complement of the ones' complement sum of the octets as big-endian 16-bit words
// (RFC 1071). An odd octet counts as if a zero followed.
uint16_t InternetChecksum(std::span<const uint8_t> octets);

// Returns a frame, without FCS, of at least kMinFrameBytes. Longer texts and lists are cut. An end
// of an agent (ttl_s 0) has only the mandatory TLVs.
std::vector<uint8_t> Encode(const Lldpdu& pdu, const Mac& source);

// Why a frame is discarded, with all that it says.
enum class FrameFault : uint8_t {
  kNone,
  kTruncated,  // a TLV is longer than the rest of the frame
  kOrder,      // chassis id, port id and TTL do not come first
  kMandatory,  // one of them, or the end, has a wrong length
  kDuplicate,  // one of them is there twice
  kNoEnd,
};

// TLVs that were ignored, by reason. Further ones of the frame are valid.
struct TlvFaults {
  uint32_t length = 0;
  uint32_t value = 0;
  uint32_t duplicate = 0;
  uint32_t checksum = 0;  // of an assigned address
  uint32_t unknown = 0;  // of a kind that suede does not use: no fault
  friend bool operator==(const TlvFaults&, const TlvFaults&) = default;
};

struct Decoded {
  FrameFault fault = FrameFault::kNone;
  Lldpdu pdu;  // meaningful without a fault
  TlvFaults tlvs;
};

// `frame`: IsLldp.
Decoded Decode(std::span<const uint8_t> frame);

// Return text for people: printable ASCII, with ? for other octets.
std::string TextOf(const std::string& octets);
std::string ChassisText(const Id& chassis);
std::string PortText(const Id& port);
// "10.0.0.5", and "10.0.0.5/24".
std::string AddressText(const IpAddress& address);
std::string AssignmentText(const Assignment& assignment);
// "0,3", or "none".
std::string ClassesText(uint8_t mask);

}  // namespace suede::lldp

#endif  // SUEDE_LLDP_LLDPDU_H_
