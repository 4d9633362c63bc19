// SPDX-License-Identifier: Apache-2.0
#include "path/plane_rates.h"

#include <algorithm>
#include <bit>

namespace suede {

// The bandwidth that the plane's weight represents. The plane with the largest weight for its link
// counts with its whole link, and the others in proportion to their weights.
uint64_t PlaneRates::ExpectedBps(PlaneIndex plane) const {
  uint64_t of_weight = UINT64_MAX;
  for (PlaneIndex other = 0; other < peer_.own->map.plane_count(); ++other) {
    if ((peer_.paths->present & 1u << other) == 0 || !peer_.paths->HasRoute(other)) continue;
    of_weight = std::min(of_weight, peer_.own->link_bps[other] / peer_.paths->weight[other]);
  }
  return peer_.paths->HasRoute(plane) ? of_weight * peer_.paths->weight[plane] : 0;
}

PathRate::Facts PlaneRates::FactsOf(PlaneIndex plane, const Facts& known) const {
  PathRate::Facts facts{.inflight_bytes = peer_.paths->inflight_bytes[plane],
                        .frame_octets = peer_.own->frame_octets,
                        .expected_bps = ExpectedBps(plane),
                        .best = 0,
                        .disturbed = known.disturbed};
  // An acknowledgement covers all PDUs that its connection has delivered. Acknowledgements of other
  // connections may wait meanwhile.
  if (!known.prompt && peer_.own->map.path_connections() != 1) {
    facts.ack_wait = peer_.own->transport.ack_delay;
  }
  for (PathConnection number = 0; number < peer_.own->map.path_connections(); ++number) {
    const Connection& one = peer_.connection(plane, number);
    facts.acked_pdus += one.tx().tx_pdus() - one.in_flight().count();
    facts.disturbed |=
        one.tx().tries() != 0 || one.tx().paused() || one.tx().frozen() || one.tx().lost();
    const Duration min = one.tx().round_trip().min_rtt();
    if (min == Duration(0)) continue;
    facts.min_rtt = facts.min_rtt == Duration(0) ? min : std::min(facts.min_rtt, min);
  }
  for (uint32_t left = peer_.paths->usable; left != 0; left &= left - 1) {
    facts.best = std::max(facts.best, peer_.rates[std::countr_zero(left)].part());
  }
  return facts;
}

PlaneRates::Verdict PlaneRates::Check(PlaneIndex plane, const Facts& facts, Time now) {
  const Duration interval = peer_.own->paths.hello_interval;
  if (peer_.rates == nullptr || now < peer_.rates[plane].due(interval)) return {};
  const PathRate::Verdict verdict =
      peer_.rates[plane].CloseWindow(FactsOf(plane, facts), interval, now);
  return {verdict, TakePart(plane)};
}

bool PlaneRates::Forget(PlaneIndex plane) {
  if (peer_.rates == nullptr) return false;
  peer_.rates[plane].Reset();
  return TakePart(plane);
}

bool PlaneRates::TakePart(PlaneIndex plane) {
  const uint32_t part = peer_.rates[plane].part();
  if (part == peer_.paths->part[plane]) return false;
  peer_.paths->SetPart(plane, part);
  peer_.paths->PublishShares(peer_.own->shares);
  return true;
}

}  // namespace suede
