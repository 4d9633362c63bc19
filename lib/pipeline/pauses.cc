// SPDX-License-Identifier: Apache-2.0
// Ports that are paused: what lies in a device has no answer, and that says nothing of planes and
// peers (docs/planes.md, "A port that is paused").
#include "pipeline/pipeline.h"

namespace suede {

// As whoever waits for an answer to `oldest` sees it; null: to what is not kept.
[[gnu::cold]] Pipeline::Hold Pipeline::HoldOf(Instance& instance, uint32_t peer, uint32_t plane,
                                              Pdu* oldest, Time now) {
  const TransportParams& params = instance.params.transport;
  const Duration limit = params.pause_limit;
  if (limit == Duration{}) return Hold::kNone;
  Link& link = instance.ports[plane]->link;
  // Before what is asked a second time in a row may be taken for lost.
  const Duration least = std::min(params.rto_min, instance.params.paths.hello_interval) / 2;
  const Time since = link.HeldSince(oldest, least, now);
  if (link.departures().TakeNews()) {
    instance.counters.Add(Counter::kTxHeldUp);
    if (link.departures().MayTell(now)) {
      TellPlane(LcoreEventKind::kHeldUp, instance, peer, plane, 0);
    }
  }
  if (since != kNever) return now - since < limit ? Hold::kOwn : Hold::kTooLong;
  return instance.session(peer, plane).IsExcused(now, limit) ? Hold::kPeers : Hold::kNone;
}

// As the plane's session sees it.
[[gnu::cold]] Pipeline::Hold Pipeline::HoldOf(Instance& instance, uint32_t peer, uint32_t plane,
                                              Time now) {
  Hold hold = HoldOf(instance, peer, plane, nullptr, now);
  for (uint32_t vc = 0; hold == Hold::kNone && vc < instance.connections_per_plane(); ++vc) {
    Pdu* oldest = instance.connections[instance.ConnectionIndex(peer, plane, vc)].oldest();
    if (oldest != nullptr) hold = HoldOf(instance, peer, plane, oldest, now);
  }
  return hold;
}

// Tells the peer, over another plane, that its silence on this one is none. Without one that is up,
// over all whose ports let frames out: the peer may hear us where it cannot answer, as its own port
// is paused there.
void Pipeline::SayHeldUp(Instance& instance, uint32_t peer, uint32_t plane, Time now) {
  if (!instance.hellos[peer].hears_pauses) return;
  const PlaneHello said{.plane = static_cast<uint8_t>(plane), .held_up = true};
  PlaneMask passing = 0;
  for (uint32_t other = 0; other < instance.plane_count(); ++other) {
    if (other == plane || (instance.paths[peer].present & 1u << other) == 0) continue;
    if (!instance.port_up[other] || instance.plane_admin[other] == PlaneAdmin::kDown) continue;
    if (HoldOf(instance, peer, other, nullptr, now) == Hold::kOwn) continue;
    if (instance.session(peer, other).up()) {
      SendControl(instance, peer, other, said);
      return;
    }
    passing |= static_cast<PlaneMask>(1u << other);
  }
  for (uint32_t other = 0; other < instance.plane_count(); ++other) {
    if ((passing & 1u << other) != 0) SendControl(instance, peer, other, said);
  }
}

// The peer says so of a plane.
void Pipeline::OnHeldUp(Instance& instance, uint32_t peer, uint32_t plane, uint8_t held, Time now) {
  const uint32_t silent = PlaneOfPeer(instance, peer, held);
  if (silent == kNoPlane || silent == plane) return;
  instance.counters.Add(Counter::kRxHeldUp);
  const PathParams& params = instance.params.paths;
  const Duration span = params.hello_interval * (params.hello_multiplier + 1);
  instance.session(peer, silent).OnHeldUp(now, span);
}

}  // namespace suede
