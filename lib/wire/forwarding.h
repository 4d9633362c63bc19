// SPDX-License-Identifier: Apache-2.0
// Forwarding addresses, by which the AFH formats name an instance (wire profile §5).
#ifndef SUEDE_WIRE_FORWARDING_H_
#define SUEDE_WIRE_FORWARDING_H_

#include <cstdint>

#include "base/sue.h"
#include "wire/encap.h"

namespace suede {

inline constexpr uint32_t kXpuidBits = 10;
static_assert(kMaxXpus == 1u << kXpuidBits);

// The address of an instance that the configuration's table does not name: fits everywhere.
constexpr uint32_t DefaultForwardingAddress(uint32_t instance, uint32_t xpuid) {
  return instance << kXpuidBits | xpuid;
}

// Bits of a forwarding address; 0 where frames carry none.
constexpr uint32_t ForwardingAddressBits(Encap encap) {
  switch (encap) {
    case Encap::kAfh1:
    case Encap::kAfh1s:
    case Encap::kAfh2c: return 16;
    case Encap::kAfh2: return 32;
    case Encap::kUdp4:
    case Encap::kUdp6: break;
  }
  return 0;
}

constexpr bool FitsForwardingAddress(Encap encap, uint64_t address) {
  return address >> ForwardingAddressBits(encap) == 0;
}

// Whether a source address leaves room for saying which XPU sends: afh2c says it by the address
// alone, so its low bits must be the xpuid. The other headers leave it to the RH.
constexpr bool FitsXpuid(Encap encap, uint64_t source, uint32_t xpuid) {
  return encap != Encap::kAfh2c || (source & (kMaxXpus - 1)) == xpuid;
}

}  // namespace suede

#endif  // SUEDE_WIRE_FORWARDING_H_
