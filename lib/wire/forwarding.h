// SPDX-License-Identifier: Apache-2.0
// Forwarding addresses, which identify an instance in the AFH formats (wire profile §5).
#ifndef SUEDE_WIRE_FORWARDING_H_
#define SUEDE_WIRE_FORWARDING_H_

#include <cstdint>

#include "base/sue.h"
#include "wire/encap/traits.h"

namespace suede {

inline constexpr uint32_t kXpuidBits = 10;
static_assert(kMaxXpus == 1u << kXpuidBits);

// Returns the address of an instance that is not in the configuration's table; fits every format.
constexpr uint32_t DefaultForwardingAddress(uint32_t instance, uint32_t xpuid) {
  return instance << kXpuidBits | xpuid;
}

// Returns the bits of a forwarding address; 0: the encapsulation has none.
constexpr uint32_t ForwardingAddressBits(Encap encap) { return TraitsOf(encap).forwarding_bits; }

constexpr bool FitsForwardingAddress(Encap encap, uint64_t address) {
  return address >> ForwardingAddressBits(encap) == 0;
}

// Whether a source address is consistent with the xpuid of the sender: if the header holds the RH,
// the xpuid is only in the address's low bits. Other headers have the xpuid in the RH.
constexpr bool FitsXpuid(Encap encap, uint64_t source, uint32_t xpuid) {
  return !TraitsOf(encap).holds_rh || (source & (kMaxXpus - 1)) == xpuid;
}

}  // namespace suede

#endif  // SUEDE_WIRE_FORWARDING_H_
