// SPDX-License-Identifier: Apache-2.0
#include "lcore/events.h"

#include "lcore/instance.h"

namespace suede {

void Events::Emit(const LcoreEvent& event) {
  const bool yields = IsOfSession(event.kind) && ring_.size() >= kEventRingItems / 2;
  if (yields || !ring_.Push(event)) counters_.Add(Counter::kEventsLost);
}

void Events::Emit(LcoreEventKind kind, const Instance& instance, ConnectionIndex connection) {
  const bool per_vc = instance.params.transport.psn_scope == PsnScope::kVc;
  const PeerIndex peer = instance.map.PeerOf(connection);
  Emit({.kind = kind,
        .vc = per_vc ? static_cast<uint8_t>(instance.map.VcOf(connection)) : LcoreEvent::kAllVcs,
        .peer_xpuid = instance.params.peers[peer].xpuid,
        .instance = instance.number});
}

void Events::EmitPlane(LcoreEventKind kind, const Instance& instance, PeerIndex peer,
                       PlaneIndex plane, uint8_t what) {
  Emit({.kind = kind,
        .plane = static_cast<uint8_t>(plane),
        .what = what,
        .peer_xpuid = instance.params.peers[peer].xpuid,
        .instance = instance.number});
}

void Events::EmitSealMismatch(const Instance& instance, PeerIndex peer, bool theirs, Time now) {
  if (!sealing_.Take(now)) return;
  Emit({.kind = LcoreEventKind::kSealMismatch,
        .peer_xpuid = instance.params.peers[peer].xpuid,
        .instance = instance.number,
        .own = static_cast<uint32_t>(instance.params.seal.mode),
        .theirs = theirs ? 1u : 0u});
}

void Events::EmitMalformed(const Instance& instance, PeerIndex peer, uint8_t vc, Time now) {
  if (!malformed_.Take(now)) return;
  Emit({.kind = LcoreEventKind::kMalformed,
        .vc = vc,
        .peer_xpuid = instance.params.peers[peer].xpuid,
        .instance = instance.number});
}

}  // namespace suede
