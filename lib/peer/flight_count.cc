// SPDX-License-Identifier: Apache-2.0
#include "peer/flight_count.h"

namespace suede {

// Subtracts `bytes` of the connection from the bytes in flight.
void FlightCount::CountOut(PlaneIndex plane, PathConnection number, uint32_t bytes) {
  const Connection& one = peer_.connection(plane, number);
  if (one.tx().has_aside()) TakeBack(plane, number);
  peer_.paths->OnEnd(plane, bytes);
  choice_.rates().Spoil(plane);
  peer_.own->inflight_bytes[plane] -= bytes;
  if (peer_.own->has_sessions && one.in_flight().oldest() == nullptr) peer_.own->OnIdle(plane);
}

void FlightCount::Restart(PlaneIndex plane, PathConnection number, int ahead, PduList& rest,
                          Effects& effects) {
  Connection& one = peer_.connection(plane, number);
  const uint32_t bytes = one.in_flight().bytes();
  const bool was_busy = one.in_flight().oldest() != nullptr;
  PduList pdus;
  one.tx().Restart(one.in_flight().next_psn().Plus(ahead), pdus);
  PduList delivered;
  while (!pdus.empty()) {
    Pdu* const pdu = pdus.PopFront();
    // (In strict order the peer has dropped what had arrived ahead.)
    (pdu->arrived && !peer_.own->is_strict() ? delivered : rest).PushBack(pdu);
  }
  if (was_busy) CountOut(plane, number, bytes);
  if (!delivered.empty()) effects.Add(effect::Acknowledged{plane, number, delivered});
}

void FlightCount::SetAside(PlaneIndex plane, PathConnection number) {
  Connection& stuck = peer_.connection(plane, number);
  const ConnectionMap& map = peer_.own->map;
  const SlotMask others = peer_.groups[plane].open() & ~(SlotMask{1} << map.SessionOf(number));
  const Pdu* const next = stuck.in_flight().next_retransmission();
  if (!map.has_planes() || others == 0 || next == nullptr ||
      peer_.sessions[plane].last_received() <= next->sent_at) {
    return;
  }
  CountAside(plane, stuck.tx().SetAside());
  choice_.rates().Spoil(plane);
}

void FlightCount::TakeBack(PlaneIndex plane, PathConnection number) {
  CountAside(plane, 0u - peer_.connection(plane, number).tx().TakeBack());
}

// Sets `bytes` of a plane aside; or takes them back if negative, modulo 2^32.
[[gnu::cold]] void FlightCount::CountAside(PlaneIndex plane, uint32_t bytes) {
  peer_.paths->SetAside(plane, bytes);
  peer_.own->inflight_bytes[plane] -= bytes;
  peer_.own->aside_bytes[plane] += bytes;
}

}  // namespace suede
