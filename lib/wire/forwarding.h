// SPDX-License-Identifier: Apache-2.0
// Forwarding addresses, by which the AFH formats name an instance (wire profile §5).
#ifndef SUEDE_WIRE_FORWARDING_H_
#define SUEDE_WIRE_FORWARDING_H_

#include <cstdint>

#include "base/sue.h"
#include "wire/encap/traits.h"

namespace suede {

inline constexpr uint32_t kXpuidBits = 10;
static_assert(kMaxXpus == 1u << kXpuidBits);

// The address of an instance that the configuration's table does not name: fits everywhere.
constexpr uint32_t DefaultForwardingAddress(uint32_t instance, uint32_t xpuid) {
  return instance << kXpuidBits | xpuid;
}

// Bits of a forwarding address; 0 where frames carry none.
constexpr uint32_t ForwardingAddressBits(Encap encap) { return TraitsOf(encap).forwarding_bits; }

constexpr bool FitsForwardingAddress(Encap encap, uint64_t address) {
  return address >> ForwardingAddressBits(encap) == 0;
}

// Whether a source address names the XPU that sends where the header holds the RH: the xpuid is
// then the address's low bits alone. The other headers leave it to the RH.
constexpr bool FitsXpuid(Encap encap, uint64_t source, uint32_t xpuid) {
  return !TraitsOf(encap).holds_rh || (source & (kMaxXpus - 1)) == xpuid;
}

}  // namespace suede

#endif  // SUEDE_WIRE_FORWARDING_H_
