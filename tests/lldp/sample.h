// SPDX-License-Identifier: Apache-2.0
// Values and bytes that the tests of LLDP share.
#ifndef SUEDE_TESTS_LLDP_SAMPLE_H_
#define SUEDE_TESTS_LLDP_SAMPLE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "lldp/lldpdu.h"

namespace suede::lldp {

inline constexpr Mac kSource{0x02, 0, 0, 0, 0, 0x11};

inline Ets SampleEts() {
  return {.willing = true,
          .credit_shaper = true,
          .max_classes = 3,
          .class_of_priority = {0, 0, 1, 1, 2, 2, 2, 7},
          .percent = {20, 30, 50, 0, 0, 0, 0, 0},
          .selection = {2, 2, 2, 0, 1, 0, 255, 0}};
}

// Returns an LLDPDU with each TLV.
inline Lldpdu FullPdu() {
  Ets recommended = SampleEts();
  recommended.willing = recommended.credit_shaper = false;
  recommended.max_classes = 0;
  return {
      .chassis = {.subtype = Id::kChassisMac, .value = std::string("\x02\0\0\0\0\x11", 6)},
      .port = {.subtype = Id::kPortInterface, .value = "p0"},
      .ttl_s = 121,
      .port_description = "p0 (net_memif)",
      .system_name = "left",
      .system_description = "suede 0.1.0",
      .max_frame_bytes = 1518,
      .ets = SampleEts(),
      .recommended_ets = recommended,
      .pfc = Pfc{.willing = true, .bypass = true, .max_classes = 8, .classes = 0x4f},
      .applications = {{{.selector = 5, .protocol = 26, .priority = 3},
                        {.selector = 1, .protocol = 0x8915, .priority = 7}}},
      .link = LinkOptions{.llr = true,
                          .cbfc_sender = true,
                          .cbfc_receiver = true,
                          .by_pcp = true,
                          .ether_type = 0xfe50,
                          .credit_octets = 128,
                          .link_vc_of = {0, 1, 2, 3, 6},
                          .credits = {1, 2, 3, 4, 5, 6, 7, 0x10000}},
      .assignment = Assignment{
          .address = {.low = 0x0a000005}, .prefix = 24, .gateway = IpAddress{.low = 0x0a000001}}};
}

// Returns an LLDPDU with the mandatory TLVs alone.
inline Lldpdu SmallPdu(const std::string& chassis = "far", const std::string& port = "p9") {
  return {.chassis = {.subtype = 7, .value = chassis},
          .port = {.subtype = Id::kPortInterface, .value = port},
          .ttl_s = 100};
}

struct Tlv {
  uint32_t type = 0;
  std::vector<uint8_t> value;
};

// Returns a frame of these TLVs, with their true lengths.
inline std::vector<uint8_t> FrameOf(std::initializer_list<Tlv> tlvs) {
  std::vector<uint8_t> frame(kGroup.begin(), kGroup.end());
  frame.insert(frame.end(), kSource.begin(), kSource.end());
  frame.insert(frame.end(), {0x88, 0xcc});
  for (const Tlv& tlv : tlvs) {
    frame.push_back(static_cast<uint8_t>(tlv.type << 1 | tlv.value.size() >> 8));
    frame.push_back(static_cast<uint8_t>(tlv.value.size()));
    frame.insert(frame.end(), tlv.value.begin(), tlv.value.end());
  }
  return frame;
}

inline const Tlv kChassis{1, {7, 'f', 'a', 'r'}};
inline const Tlv kPort{2, {5, 'p', '9'}};
inline const Tlv kTtl{3, {0, 100}};
inline const Tlv kEnd{0, {}};

}  // namespace suede::lldp

#endif  // SUEDE_TESTS_LLDP_SAMPLE_H_
