// SPDX-License-Identifier: Apache-2.0
// The bytes of a peer's PDUs in flight: counted out as PDUs end in any way but by an
// acknowledgement on the data path, and set aside while no load of their plane.
//
// Takes facts, adds effects; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PEER_FLIGHT_COUNT_H_
#define SUEDE_PEER_FLIGHT_COUNT_H_

#include <cstdint>

#include "base/coordinates.h"
#include "pdu/pdu_list.h"
#include "peer/effects.h"
#include "peer/parts.h"
#include "peer/plane_choice.h"

namespace suede {

class FlightCount {
 public:
  FlightCount(const PeerParts& peer, PlaneChoice& choice) : peer_(peer), choice_(choice) {}

  // Runs `take`, which moves PDUs of the connection that have arrived to a list.
  template <typename Take>
  auto Acknowledge(PlaneIndex plane, PathConnection number, Effects& effects, Take&& take) {
    Connection& one = peer_.connection(plane, number);
    const uint32_t before = one.in_flight().bytes();
    PduList acked;
    const auto verdict = take(one, acked);
    if (acked.empty()) return verdict;
    CountOut(plane, number, before - one.in_flight().bytes());
    effects.Add(effect::Acknowledged{plane, number, acked});
    if (peer_.paths->moving != 0) choice_.OnEnded(effects);
    return verdict;
  }
  // Runs `end`, which moves PDUs of the connection that are given up to a list.
  template <typename End>
  void GiveUp(PlaneIndex plane, PathConnection number, Ending ending, bool hold_last,
              Effects& effects, End&& end) {
    Connection& ended = peer_.connection(plane, number);
    const uint32_t bytes = ended.in_flight().bytes();
    PduList pdus;
    end(ended, pdus);
    if (pdus.empty()) return;
    CountOut(plane, number, bytes);
    effects.Add(effect::GiveUp{plane, number, ending, hold_last, pdus});
  }
  // Moves the connection's PDUs in flight to `rest`, and begins `ahead` PSNs after them. PDUs that
  // were delivered ahead of others end as acknowledged.
  void Restart(PlaneIndex plane, PathConnection number, int ahead, PduList& rest, Effects& effects);

  // A session has timed out. If the plane was proved since the session's PDUs were sent, and
  // another session of the plane is open, these PDUs do not count as load of the plane: otherwise
  // the plane would carry no other PDUs until they arrive.
  [[gnu::cold]] void SetAside(PlaneIndex plane, PathConnection number);
  // PDUs of a connection that has_aside() were acknowledged, and are not counted out yet.
  [[gnu::cold]] void TakeBack(PlaneIndex plane, PathConnection number);

 private:
  void CountOut(PlaneIndex plane, PathConnection number, uint32_t bytes);
  void CountAside(PlaneIndex plane, uint32_t bytes);

  const PeerParts& peer_;
  PlaneChoice& choice_;
};

}  // namespace suede

#endif  // SUEDE_PEER_FLIGHT_COUNT_H_
