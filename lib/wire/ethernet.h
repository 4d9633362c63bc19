// SPDX-License-Identifier: Apache-2.0
// Ethernet II and the 802.1Q tag, shared by the encapsulations (wire profile §5).
#ifndef SUEDE_WIRE_ETHERNET_H_
#define SUEDE_WIRE_ETHERNET_H_

#include <cstdint>
#include <cstring>

#include "base/big_endian.h"
#include "wire/encap/header.h"

namespace suede {

inline constexpr uint32_t kEthernetBytes = 14;
inline constexpr uint32_t kTagBytes = 4;
inline constexpr uint16_t kTypeTag = 0x8100;

// Returns the bytes of the Ethernet header and of one tag, if present, of a frame of at least
// kEthernetBytes.
inline uint32_t EthernetBytes(const uint8_t* frame) {
  return kEthernetBytes + (LoadBe16(frame + 12) == kTypeTag ? kTagBytes : 0);
}
// EthernetBytes of a frame of any length; 0 if the frame ends before that.
inline uint32_t EthernetBytes(const uint8_t* frame, uint32_t bytes) {
  if (bytes < kEthernetBytes) return 0;
  const uint32_t l2 = EthernetBytes(frame);
  return l2 <= bytes ? l2 : 0;
}

// Writes the Ethernet header and, if the port tags, the tag of a template in which `inner_bytes`
// bytes of header follow. Returns the start of these bytes.
inline uint8_t* StartTemplate(HeaderTemplate& header, const HeaderSpec& spec,
                              const MacAddress& destination, const MacAddress& source,
                              uint16_t ether_type, uint32_t inner_bytes) {
  header.l2_length = static_cast<uint8_t>(kEthernetBytes + (spec.tagged ? kTagBytes : 0));
  header.length = static_cast<uint8_t>(header.l2_length + inner_bytes);
  uint8_t* at = header.bytes + HeaderTemplate::kMaxBytes - header.length;
  std::memcpy(at, destination.data(), destination.size());
  std::memcpy(at + 6, source.data(), source.size());
  if (spec.tagged) {
    StoreBe16(at + 12, kTypeTag);
    StoreBe16(at + 14,
              static_cast<uint16_t>((spec.traffic_class.pcp & 7) << 13 | (spec.vid & 0xfff)));
  }
  at += header.l2_length;
  StoreBe16(at - 2, ether_type);
  return at;
}

}  // namespace suede

#endif  // SUEDE_WIRE_ETHERNET_H_
