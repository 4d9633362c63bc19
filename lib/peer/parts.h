// SPDX-License-Identifier: Apache-2.0
// One peer's parts of the arrays of its instance: the view that the classes of a peer share.
#ifndef SUEDE_PEER_PARTS_H_
#define SUEDE_PEER_PARTS_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/coordinates.h"
#include "path/own_end.h"
#include "path/path_rate.h"
#include "path/peer_paths.h"
#include "path/plane_session.h"
#include "path/session_group.h"
#include "peer/effects.h"
#include "transport/connection.h"
#include "wire/control_pdu.h"

namespace suede {

struct PeerParts {
  OwnEnd* own;
  uint16_t xpuid;
  bool plain = false;         // the peer is known not to speak HELLO
  PeerPaths* paths;           // with `present`, `resolving` and the weights
  PlaneSession* sessions;     // [plane]
  SessionGroup* groups;       // [plane]
  Connection* connections;    // [plane][session][VC]
  PathRate* rates = nullptr;  // [plane]; null: nothing is measured

  // `number`, here and below: index of the connection on the plane, by session, and within a
  // session by VC if each VC has a connection.
  Connection& connection(PlaneIndex plane, PathConnection number) const {
    return connections[own->map.At(0, plane, number)];
  }
  // The connections of a session of the plane, by VC if each VC has one.
  std::span<Connection> ConnectionsOf(PlaneIndex plane, SessionIndex slot) const {
    return {&connection(plane, own->map.Number(slot, 0)), own->map.vc_count()};
  }
  bool IsPresent(PlaneIndex plane) const { return (paths->present & 1u << plane) != 0; }
  // Whether the peer's MAC address is known on no plane.
  bool IsResolving() const { return (paths->present & ~paths->resolving) == 0; }
  // Whether the plane is paired with a plane of the peer, and frames of others may arrive on it.
  bool Pairs(PlaneIndex plane, bool sealed) const {
    return sealed && (paths->alike & 1u << plane) != 0;
  }

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
