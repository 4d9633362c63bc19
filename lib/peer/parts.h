// SPDX-License-Identifier: Apache-2.0
// One peer's parts of the arrays of its instance: the view that the classes of a peer share.
#ifndef SUEDE_PEER_PARTS_H_
#define SUEDE_PEER_PARTS_H_

#include <algorithm>
#include <cstdint>

#include "base/coordinates.h"
#include "path/path_parts.h"
#include "peer/effects.h"
#include "transport/connection.h"
#include "wire/control_pdu.h"

namespace suede {

struct PeerParts : PathParts {
  bool plain = false;  // the peer is known not to speak HELLO

  void ArmSession(PlaneIndex plane, Effects& effects) const {
    effects.Add(effect::Arm{.timer = effect::Timer::kSession,
                            .plane = plane,
                            .due = std::min(sessions[plane].deadline(), groups[plane].deadline())});
  }
  void ArmConnection(PlaneIndex plane, PathConnection number, Effects& effects) const {
    effects.Add(effect::Arm{.timer = effect::Timer::kConnection,
                            .plane = plane,
                            .number = number,
                            .due = connection(plane, number).deadline()});
  }

  // ---- PSNs in messages.

  // The report of PDUs of the peer that have arrived ahead of the expected one.
  Repair ReportOf(PlaneIndex plane, PathConnection number) const {
    const ReceiveHalf& rx = connection(plane, number).rx();
    return {.vc = static_cast<uint8_t>(own->map.VcOf(number)),
            .slot = static_cast<uint8_t>(own->map.SessionOf(number)),
            .expected = rx.expected(),
            .marks = rx.early().MarksFrom(rx.expected())};
  }

  // Number of the plane's connections that both ends distinguish.
  uint32_t DistinctConnections(PlaneIndex plane) const {
    return groups[plane].count() * own->map.vc_count();
  }
  // Whether the message has a PSN for each of these connections.
  bool HasAllPsns(PlaneIndex plane, const MorePsns& more) const {
    return more.count + uint32_t{own->map.vc_count()} >= DistinctConnections(plane);
  }
  // The PSN that the peer's message has for a connection.
  Psn PsnIn(PathConnection number, const VcPsns& first, const MorePsns& more) const {
    return number < own->map.vc_count() ? first[number] : more.psns[number - own->map.vc_count()];
  }
  // Fills in a PSN of each connection that both ends distinguish.
  template <typename PsnOf>
  void FillAllPsns(PlaneIndex plane, VcPsns& first, MorePsns& more, PsnOf&& psn_of) const {
    const uint32_t count = DistinctConnections(plane);
    more.count = static_cast<uint8_t>(count - own->map.vc_count());
    for (PathConnection number = 0; number < count; ++number) {
      const Psn psn = psn_of(connection(plane, number));
      (number < own->map.vc_count() ? first[number] : more.psns[number - own->map.vc_count()]) =
          psn;
    }
  }
  // Fills in a PSN of each of the session's connections.
  template <typename PsnOf>
  void FillPsns(PlaneIndex plane, SessionIndex slot, VcPsns& psns, PsnOf&& psn_of) const {
    for (Vc vc = 0; vc < own->map.vc_count(); ++vc) {
      psns[vc] = psn_of(connection(plane, own->map.Number(slot, vc)));
    }
  }
};

}  // namespace suede

#endif  // SUEDE_PEER_PARTS_H_
