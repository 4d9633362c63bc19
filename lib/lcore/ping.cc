// SPDX-License-Identifier: Apache-2.0
#include "lcore/ping.h"

namespace suede {

// Takes a HELLO of the peer. Returns whether it answers the ping; each HELLO does so once.
bool Ping::TakeAnswer(uint32_t from, const Hello& own, const Hello& theirs, Time now) {
  if (hello == 0 || peer != from) return false;
  for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) {
    if ((hello & 1u << plane) == 0 || nonces[plane] != theirs.echo) continue;
    hello &= static_cast<PlaneMask>(~(1u << plane));
    probe &= static_cast<PlaneMask>(~(1u << plane));
    PingBoard::Plane& shown = board.planes[plane];
    const Disagreement found = Compare(own, theirs);
    shown.mismatch.store(found.what, std::memory_order_relaxed);
    shown.own.store(found.own, std::memory_order_relaxed);
    shown.theirs.store(found.theirs, std::memory_order_relaxed);
    shown.rtt_ns.store((now - asked_at[plane]).count(), std::memory_order_relaxed);
    shown.state.store(PingState::kAnswered, std::memory_order_release);
    return true;
  }
  return false;
}

// A NACK of the peer: the answer to a probe, if one was sent.
[[gnu::cold]] void Ping::OnNack(uint32_t from, PlaneIndex plane, Time now) {
  if (peer != from || (probe & 1u << plane) == 0) return;
  probe &= static_cast<PlaneMask>(~(1u << plane));
  PingBoard::Plane& shown = board.planes[plane];
  shown.rtt_ns.store((now - asked_at[plane]).count(), std::memory_order_relaxed);
  shown.state.store(PingState::kAnsweredProbe, std::memory_order_release);
}

}  // namespace suede
