// SPDX-License-Identifier: Apache-2.0
#include "peer/plane_rates.h"

#include <algorithm>
#include <bit>

namespace suede {

// The bandwidth that the plane's weight represents. The plane with the largest weight for its link
// counts with its whole link, and the others in proportion to their weights.
uint64_t PlaneRates::ExpectedBps(PlaneIndex plane) const {
  uint64_t of_weight = UINT64_MAX;
  for (PlaneIndex other = 0; other < own_->map.plane_count(); ++other) {
    if ((paths_->present & 1u << other) == 0 || !paths_->HasRoute(other)) continue;
    of_weight = std::min(of_weight, own_->link_bps[other] / paths_->weight[other]);
  }
  return paths_->HasRoute(plane) ? of_weight * paths_->weight[plane] : 0;
}

PathRate::Facts PlaneRates::FactsOf(PlaneIndex plane, const Facts& known) const {
  PathRate::Facts facts{.inflight_bytes = paths_->inflight_bytes[plane],
                        .frame_octets = own_->frame_octets,
                        .expected_bps = ExpectedBps(plane),
                        .best = 0,
                        .disturbed = known.disturbed};
  // An acknowledgement covers all PDUs that its connection has delivered. Acknowledgements of other
  // connections may wait meanwhile.
  if (!known.prompt && own_->map.path_connections() != 1) {
    facts.ack_wait = own_->transport.ack_delay;
  }
  for (PathConnection number = 0; number < own_->map.path_connections(); ++number) {
    const Connection& one = connections_[own_->map.At(0, plane, number)];
    facts.acked_pdus += one.tx().tx_pdus() - one.in_flight().count();
    facts.disturbed |=
        one.tx().tries() != 0 || one.tx().paused() || one.tx().frozen() || one.tx().lost();
    const Duration min = one.tx().round_trip().min_rtt();
    if (min == Duration(0)) continue;
    facts.min_rtt = facts.min_rtt == Duration(0) ? min : std::min(facts.min_rtt, min);
  }
  for (uint32_t left = paths_->usable; left != 0; left &= left - 1) {
    facts.best = std::max(facts.best, rates_[std::countr_zero(left)].part());
  }
  return facts;
}

bool PlaneRates::Check(PlaneIndex plane, const Facts& facts, Time now, Effects& effects) {
  const Duration interval = own_->paths.hello_interval;
  if (rates_ == nullptr || now < rates_[plane].due(interval)) return false;
  const PathRate::Verdict verdict = rates_[plane].CloseWindow(FactsOf(plane, facts), interval, now);
  if (verdict.was_limit) effects.Add(effect::Count{Counter::kPlaneRates});
  if (verdict.changed) effects.Add(effect::Count{Counter::kPlaneRateChanges});
  return TakePart(plane);
}

bool PlaneRates::Forget(PlaneIndex plane) {
  if (rates_ == nullptr) return false;
  rates_[plane].Reset();
  return TakePart(plane);
}

bool PlaneRates::TakePart(PlaneIndex plane) {
  const uint32_t part = rates_[plane].part();
  if (part == paths_->part[plane]) return false;
  paths_->SetPart(plane, part);
  paths_->PublishShares(own_->shares);
  return true;
}

}  // namespace suede
