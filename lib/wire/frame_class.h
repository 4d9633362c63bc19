// SPDX-License-Identifier: Apache-2.0
// Class of a frame as a switch derives it from the bytes by default (docs/switch.md, "Classes"),
// and its link VC (docs/link.md, "Link VCs"): both ends of a cable derive the same.
#ifndef SUEDE_WIRE_FRAME_CLASS_H_
#define SUEDE_WIRE_FRAME_CLASS_H_

#include <cstdint>

#include "base/coordinates.h"
#include "wire/ethernet.h"
#include "wire/rh.h"

namespace suede {

struct FrameRules;
struct HeaderTemplate;

struct FrameClassRule {
  bool afh2 = false;       // frames begin with the addresses of AFH Gen 2
  bool pcp_first = false;  // with both, the PCP decides instead of the DSCP
  bool levels = false;     // frames of AFH Gen 2 have a level (docs/mesh.md, "Levels")
  uint16_t esun_ether_type = 0;  // of ESUN frames, whose CoS decides before the PCP; 0: none
};

// Returns the rule for the frames of a port.
FrameClassRule ClassRuleFor(const FrameRules& rules, bool pcp_first);

// Levels of a class, and of its link VCs. Bits 2:1 of the DSCP hold the level.
inline constexpr uint32_t kLevelsOfClass = 4;
constexpr uint8_t LevelOfDs(uint8_t ds_byte) { return ds_byte >> 3 & (kLevelsOfClass - 1); }
constexpr uint8_t DsWithLevel(uint8_t ds_byte, uint8_t level) {
  return static_cast<uint8_t>((ds_byte & ~((kLevelsOfClass - 1) << 3)) | level << 3);
}

// Returns the class, 0 to 7; 0 for a frame with neither PCP nor DSCP, or that ends before them.
uint8_t FrameClassOf(const FrameClassRule& rule, const uint8_t* frame, uint32_t bytes);

// Default class of frames. PDUs of this class have their own VC as link VC.
inline constexpr uint8_t kUnclassified = 0;
// Link VC of PDUs of kUnclassified without commands: the default class of such PDUs.
inline constexpr uint8_t kAckLinkVc = 6;
// Returns the link VC, 0 to 7; with levels 4 times that, plus the level: 0 to 31. A sealed data PDU
// counts as one with commands, as its length does not show it.
uint8_t LinkVcOf(const FrameClassRule& rule, const uint8_t* frame, uint32_t bytes);
// Returns HeaderTemplate::link_class of the header: the part of LinkVcOf that frames with this
// header have in common. `rule` is of the header's encapsulation, without levels.
uint8_t LinkClassOf(const FrameClassRule& rule, const HeaderTemplate& header);
inline constexpr uint8_t kPlainLinkClass = 8;  // the link VC is 0, whatever the PDU
// Returns LinkVcOf for a PDU in a header of `link_class`. `counts`: the PDU has commands, or is
// sealed data.
constexpr uint8_t LinkVcOfPdu(uint8_t link_class, bool counts, Vc vc) {
  if (link_class != kUnclassified) return link_class % kPlainLinkClass;
  return counts ? static_cast<uint8_t>(vc) : kAckLinkVc;
}

// Bits of a command's first byte that are 0 behind the last command of a PDU.
inline constexpr uint8_t kControlLength = 0x0f;

// Whether a PDU has commands, as far as its bytes show. Versions 2 and 3 are control PDUs, sealed
// and plain, and 1 is sealed data.
inline bool HasCommands(uint8_t version, const uint8_t* commands, const uint8_t* end) {
  if (version >= 2) return false;
  return version == 1 || (commands < end && (*commands & kControlLength) != 0);
}

inline constexpr uint32_t kAfh2Ds = 6;  // offset of the DSCP and ECN
// Returns LinkVcOf for a frame of AFH Gen 2 with 32 bits of address.
inline uint8_t LinkVcOfAfh2(const FrameClassRule& rule, const uint8_t* frame, uint32_t bytes) {
  const uint8_t ds = frame[kAfh2Ds];
  uint8_t vc = ds >> 5;
  if (vc == kUnclassified && bytes >= kEthernetBytes + kRhBytes) {
    const RhWord rh(frame + kEthernetBytes);
    const bool counts =
        HasCommands(rh.ver(), frame + kEthernetBytes + kRhBytes, frame + bytes - kRcrcBytes);
    vc = LinkVcOfPdu(kUnclassified, counts, Vc(rh.vc()));
  }
  return rule.levels ? static_cast<uint8_t>(vc * kLevelsOfClass + LevelOfDs(ds)) : vc;
}

}  // namespace suede

#endif  // SUEDE_WIRE_FRAME_CLASS_H_
