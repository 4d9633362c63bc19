// SPDX-License-Identifier: Apache-2.0
#include "transport/in_flight.h"

#include <cstdlib>

namespace suede {

uint8_t InFlight::vcs() const {
  uint8_t mask = 0;
  for (const Pdu* pdu = pdus_.head(); pdu != nullptr; pdu = pdu->next) {
    mask = static_cast<uint8_t>(mask | 1u << pdu->vc);
  }
  return mask;
}

uint32_t InFlight::ArrivedOf(uint32_t count) const {
  uint32_t arrived = 0;
  for (const Pdu* pdu = pdus_.head(); count != 0; --count, pdu = pdu->next) {
    arrived += pdu->arrived ? 1 : 0;
  }
  return arrived;
}

void InFlight::CheckInvariants(bool moved) const {
  uint32_t count = 0;
  uint32_t bytes = 0;
  bool found = retransmit_next_ == nullptr;
  for (const Pdu* pdu = pdus_.head(); pdu != nullptr; pdu = pdu->next) {
    if (pdu->psn != oldest_psn().Plus(static_cast<int>(count))) std::abort();
    found |= pdu == retransmit_next_;
    bytes += BytesOf(*pdu);
    ++count;
  }
  if (count != (moved ? 0u : count_) || bytes != bytes_ || !found) std::abort();
}

}  // namespace suede
