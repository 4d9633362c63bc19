// SPDX-License-Identifier: Apache-2.0
// The measured rates of planes to the peer (docs/planes.md, "Measured bandwidth"): their facts, and
// their effects on the choice of planes.
#include <algorithm>

#include "peer/peer.h"

namespace suede {

// The bandwidth that the plane's weight represents. The plane with the largest weight for its link
// counts with its whole link, and the others in proportion to their weights.
uint64_t Peer::ExpectedBps(PlaneIndex plane) const {
  uint64_t of_weight = UINT64_MAX;
  for (PlaneIndex other = 0; other < own_->map.plane_count(); ++other) {
    if (!IsPresent(other) || !paths_->HasRoute(other)) continue;
    of_weight = std::min(of_weight, own_->link_bps[other] / paths_->weight[other]);
  }
  return paths_->HasRoute(plane) ? of_weight * paths_->weight[plane] : 0;
}

PathRate::Facts Peer::RateFactsOf(PlaneIndex plane, Hold hold) const {
  PathRate::Facts facts{.inflight_bytes = paths_->inflight_bytes[plane],
                        .frame_octets = own_->frame_octets,
                        .expected_bps = ExpectedBps(plane),
                        .best = 0,
                        .disturbed = hold != Hold::kNone || !sessions_[plane].up()};
  // An acknowledgement covers all PDUs that its connection has delivered. Acknowledgements of other
  // connections may wait meanwhile.
  const bool prompt = own_->hello.wants_echoes && hello_.answers_congestion;
  if (!prompt && own_->map.path_connections() != 1) facts.ack_wait = own_->transport.ack_delay;
  for (PathConnection number = 0; number < own_->map.path_connections(); ++number) {
    const Connection& one = connection(plane, number);
    facts.acked_pdus += one.tx_pdus() - one.unacked_count();
    facts.disturbed |= one.tries() != 0 || one.paused() || one.frozen() || one.lost();
    const Duration min = one.min_rtt();
    if (min == Duration(0)) continue;
    facts.min_rtt = facts.min_rtt == Duration(0) ? min : std::min(facts.min_rtt, min);
  }
  for (uint32_t left = paths_->usable; left != 0; left &= left - 1) {
    facts.best = std::max(facts.best, rates_[std::countr_zero(left)].part());
  }
  return facts;
}

void Peer::CheckRate(PlaneIndex plane, Hold hold, Time now, Effects& effects) {
  const Duration interval = own_->paths.hello_interval;
  if (rates_ == nullptr || now < rates_[plane].due(interval)) return;
  const PathRate::Verdict verdict =
      rates_[plane].CloseWindow(RateFactsOf(plane, hold), interval, now);
  if (verdict.was_limit) effects.Add(effect::Count{Counter::kPlaneRates});
  if (verdict.changed) effects.Add(effect::Count{Counter::kPlaneRateChanges});
  TakePart(plane, effects);
}

// Resets the plane's measured rate.
void Peer::ForgetRate(PlaneIndex plane, Effects& effects) {
  if (rates_ == nullptr) return;
  rates_[plane].Reset();
  TakePart(plane, effects);
}

void Peer::TakePart(PlaneIndex plane, Effects& effects) {
  const uint32_t part = rates_[plane].part();
  if (part == paths_->part[plane]) return;
  paths_->SetPart(plane, part);
  paths_->PublishShares(own_->shares);
  placement_.Place(effects);
}

}  // namespace suede
