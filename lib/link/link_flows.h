// SPDX-License-Identifier: Apache-2.0
// The flows of a link, which are held up separately: the VCs, and PDUs without commands.
#ifndef SUEDE_LINK_LINK_FLOWS_H_
#define SUEDE_LINK_LINK_FLOWS_H_

#include <cstdint>

#include "base/sue.h"

namespace suede {

using VcMask = uint8_t;
inline constexpr VcMask kEveryVc = (1u << kVcCount) - 1;
inline constexpr uint32_t kLinkFlows = kVcCount + 1;
inline constexpr VcMask kAckBit = 1u << kVcCount;
inline constexpr VcMask kEveryFlow = kEveryVc | kAckBit;
constexpr VcMask BitOf(uint32_t flow) { return static_cast<VcMask>(1u << flow); }

}  // namespace suede

#endif  // SUEDE_LINK_LINK_FLOWS_H_
