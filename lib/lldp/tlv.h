// SPDX-License-Identifier: Apache-2.0
// Types and subtypes of the TLVs that suede sends and reads (docs/lldp.md).
#ifndef SUEDE_LLDP_TLV_H_
#define SUEDE_LLDP_TLV_H_

#include <cstddef>
#include <cstdint>

namespace suede::lldp {

enum class TlvType : uint8_t {
  kEnd = 0,
  kChassisId = 1,
  kPortId = 2,
  kTtl = 3,
  kPortDescription = 4,
  kSystemName = 5,
  kSystemDescription = 6,
  kOrganization = 127,
};

inline constexpr size_t kMaxTextOctets = 255;
inline constexpr size_t kOrganizationOctets = 4;  // OUI and subtype

inline constexpr uint32_t kOui8023 = 0x00120f;
inline constexpr uint8_t kMaxFrameSize = 4;

inline constexpr uint32_t kOui8021 = 0x0080c2;
inline constexpr uint8_t kEtsConfiguration = 9;
inline constexpr uint8_t kEtsRecommendation = 10;
inline constexpr uint8_t kPfcConfiguration = 11;
inline constexpr uint8_t kApplicationPriority = 12;

// Locally administered: no company has it.
inline constexpr uint32_t kOuiSuede = 0x025355;
inline constexpr uint8_t kLinkOptions = 1;
inline constexpr uint8_t kLinkOptionsVersion = 1;
inline constexpr uint8_t kFlagLlr = 1;
inline constexpr uint8_t kFlagCbfcSender = 2;
inline constexpr uint8_t kFlagCbfcReceiver = 4;
inline constexpr uint8_t kFlagByPcp = 8;
inline constexpr uint8_t kAssignedAddress = 2;
inline constexpr uint8_t kAssignedAddressVersion = 1;

}  // namespace suede::lldp

#endif  // SUEDE_LLDP_TLV_H_
