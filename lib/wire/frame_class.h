// SPDX-License-Identifier: Apache-2.0
// The class of a frame by its bytes, as a switch gives it by default (docs/switch.md, "Classes"),
// and its link VC (docs/link.md, "Link VCs"): both ends of a cable find the same ones.
#ifndef SUEDE_WIRE_FRAME_CLASS_H_
#define SUEDE_WIRE_FRAME_CLASS_H_

#include <cstdint>

namespace suede {

struct FrameClassRule {
  bool afh2 = false;       // frames begin with the addresses of AFH Gen 2
  bool pcp_first = false;  // of frames with both the PCP counts, else the DSCP
};

// 0 to 7; of a frame with neither, or that ends before it: 0.
uint8_t FrameClassOf(const FrameClassRule& rule, const uint8_t* frame, uint32_t bytes);

// The class of frames that name no other: PDUs of it have the link VC of their VC.
inline constexpr uint8_t kUnclassified = 0;
// The link VC of those that carry no commands: the class that these have by default.
inline constexpr uint8_t kAckLinkVc = 6;
// 0 to 7. A sealed data PDU is taken for one with commands: its length does not tell.
uint8_t LinkVcOf(const FrameClassRule& rule, const uint8_t* frame, uint32_t bytes);

}  // namespace suede

#endif  // SUEDE_WIRE_FRAME_CLASS_H_
