// SPDX-License-Identifier: Apache-2.0
// The fields of a frame that a switch reads and rewrites: addresses, tag, class and hop limit (wire
// profile §5). The R-CRC covers none of them.
#ifndef SUEDE_FABRIC_FRAME_VIEW_H_
#define SUEDE_FABRIC_FRAME_VIEW_H_

#include <cstdint>

#include "base/big_endian.h"
#include "wire/encap/header.h"
#include "wire/encap/traits.h"
#include "wire/ethernet.h"
#include "wire/frame_class.h"

namespace suede::fabric {

// The addresses that a switch forwards by.
enum class Forwarding : uint8_t {
  kMac,   // MAC address and VLAN; also AFH Gen 1, whose MAC addresses hold its forwarding addresses
  kAfh1,  // forwarding addresses of AFH Gen 1; other frames are dropped
  kAfh2,  // forwarding addresses of AFH Gen 2, compressed or not
  kIp,    // IPv4 and IPv6 addresses of hosts; frames without a route like kMac
  kMesh,  // forwarding addresses of AFH Gen 2 with 32 bits, by routing tables (docs/mesh.md)
  kEsun,  // MAC address and VLAN of ESUN frames, never learnt; other frames are dropped
};
// Whether the table holds MAC addresses, and not forwarding addresses.
constexpr bool IsByMac(Forwarding forwarding) {
  return forwarding == Forwarding::kMac || forwarding == Forwarding::kIp ||
         forwarding == Forwarding::kEsun;
}
// Whether frames begin with a header of AFH Gen 2.
constexpr bool IsByAfh2(Forwarding forwarding) {
  return forwarding == Forwarding::kAfh2 || forwarding == Forwarding::kMesh;
}

// The header that holds the DSCP, the ECN and the hop limit.
enum class NetworkHeader : uint8_t { kNone, kIpv4, kIpv6, kShim, kAfh2, kEsun };

inline constexpr uint8_t kAfh2FixedValue = 0x02;  // of the bits that identify AFH Gen 2
// Offsets in the header of AFH Gen 2 with 32 bits of address.
inline constexpr uint32_t kAfh2HopCount = 1;
inline constexpr uint32_t kAfh2Destination = 2;
// Whether a frame has such a header, and goes to one receiver: ViewFrame of kMesh has no error.
inline bool IsMeshFrame(const uint8_t* frame, uint32_t bytes) {
  return bytes >= kEthernetBytes && frame[0] == kAfh2FixedValue &&
         LoadBe16(frame + kEthernetBytes - 2) == TraitsOf(Encap::kAfh2).ether_type;
}

enum class ViewError : uint8_t {
  kNone,
  kRunt,       // shorter than its headers
  kForeign,    // of a kind that the switch does not forward
  kRevision,   // of an unsupported revision of the ESUN header
  kLinkLocal,  // 01-80-C2-00-00-0X: for this link only
};

struct FrameView {
  ViewError error = ViewError::kNone;
  NetworkHeader network = NetworkHeader::kNone;
  uint8_t network_at = 0;  // offset of the network header
  bool tagged = false;
  bool group = false;  // for several receivers
  uint8_t pcp = 0;     // 0 to 7, of a tagged frame
  uint16_t vid = 0;    // 0 to 4095; 0: none, or a priority tag
  uint16_t ether_type = 0;
  // MAC addresses, or forwarding addresses if the switch forwards by these.
  uint64_t destination = 0;
  uint64_t source = 0;
  // Valid if `network` is kIpv4 or kIpv6.
  NetAddress ip_destination;

  // The byte of IPv4, IPv6, the shim and AFH Gen 2 with DSCP (7:2) and ECN (1:0); of ESUN the CoS
  // (7:5) and ECN. Not of kNone.
  uint8_t ds_byte(const uint8_t* frame) const;
  void set_ds_byte(uint8_t* frame, uint8_t value) const;
  // AFH Gen 1 and the compressed form of Gen 2 have no hop limit.
  bool has_hop_limit(const uint8_t* frame) const;
  // has_hop_limit must be true; to decrement, the hop limit must not be 0. A TTL of ESUN is the
  // value, or its maximum.
  uint8_t hop_limit(const uint8_t* frame) const;
  void set_hop_limit(uint8_t* frame, uint8_t value) const;
  void DecrementHopLimit(uint8_t* frame) const;
  // Sets the priority of a tagged frame.
  void set_pcp(uint8_t* frame, uint8_t value) const;
  // Returns a hash of the frame's flow: addresses, and UDP ports, entropy or a valid flow label.
  // `bytes`: of the frame, without FCS.
  uint32_t FlowHash(const uint8_t* frame, uint32_t bytes) const;
  // The same of its addresses alone.
  uint32_t AddressHash(const uint8_t* frame) const;
};

// `bytes`: of the frame, without FCS. `esun_ether_type`: of ESUN frames, with kEsun.
FrameView ViewFrame(Forwarding forwarding, const uint8_t* frame, uint32_t bytes,
                    uint16_t esun_ether_type = 0);

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_FRAME_VIEW_H_
