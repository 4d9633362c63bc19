// SPDX-License-Identifier: Apache-2.0
#include "wire/frame_class.h"

#include "base/big_endian.h"
#include "wire/ethernet.h"

namespace suede {
namespace {

constexpr uint16_t kTypeIpv4 = 0x0800;
constexpr uint16_t kTypeIpv6 = 0x86dd;
constexpr uint32_t kIpv4Bytes = 20;
constexpr uint32_t kIpv6Bytes = 40;
constexpr uint32_t kShimBytes = 8;
constexpr uint32_t kAfh2Ds = 6;
constexpr uint8_t kAfh2Fixed = 0x7e;  // bits that say that the header is AFH Gen 2's
constexpr uint8_t kAfh2FixedValue = 0x02;
constexpr uint32_t kNone = 8;  // no class

// Of the upper three bits of the DSCP.
uint32_t ClassOfDs(uint32_t ds_byte) { return ds_byte >> 5; }

uint8_t ClassOfAfh2(const uint8_t* frame, uint32_t bytes) {
  if (bytes < kEthernetBytes || (frame[0] & kAfh2Fixed) != kAfh2FixedValue ||
      LoadBe16(frame + 12) != TraitsOf(Encap::kAfh2).ether_type) {
    return 0;
  }
  return static_cast<uint8_t>(ClassOfDs(frame[kAfh2Ds]));
}

// Of the header behind `at` bytes, by its DSCP.
uint32_t ClassOfNetwork(const uint8_t* frame, uint32_t bytes, uint32_t at) {
  const uint8_t* const header = frame + at;
  const uint16_t ether_type = LoadBe16(header - 2);
  if (ether_type == kTypeIpv4 && bytes >= at + kIpv4Bytes && header[0] >> 4 == 4) {
    return ClassOfDs(header[1]);
  }
  if (ether_type == kTypeIpv6 && bytes >= at + kIpv6Bytes && header[0] >> 4 == 6) {
    return ClassOfDs(LoadBe16(header) >> 4 & 0xffu);
  }
  if (ether_type == TraitsOf(Encap::kAfh1s).ether_type && bytes >= at + kShimBytes) {
    return ClassOfDs(header[1]);
  }
  return kNone;
}

}  // namespace

uint8_t FrameClassOf(const FrameClassRule& rule, const uint8_t* frame, uint32_t bytes) {
  if (rule.afh2) return ClassOfAfh2(frame, bytes);
  const uint32_t l2 = EthernetBytes(frame, bytes);
  if (l2 == 0) return 0;
  const bool tagged = l2 != kEthernetBytes;
  if (tagged && rule.pcp_first) return frame[kEthernetBytes] >> 5;
  const uint32_t of_network = ClassOfNetwork(frame, bytes, l2);
  if (of_network != kNone) return static_cast<uint8_t>(of_network);
  return tagged ? frame[kEthernetBytes] >> 5 : 0;
}

}  // namespace suede
