// SPDX-License-Identifier: Apache-2.0
// The parts of the arrays of an instance that belong to one peer.
#ifndef SUEDE_PATH_PATH_PARTS_H_
#define SUEDE_PATH_PATH_PARTS_H_

#include <cstdint>
#include <span>

#include "base/coordinates.h"
#include "path/own_end.h"
#include "path/path_rate.h"
#include "path/peer_paths.h"
#include "path/plane_session.h"
#include "path/session_group.h"
#include "transport/connection.h"

namespace suede {

struct PathParts {
  OwnEnd* own;
  uint16_t xpuid;             // of the peer
  PeerPaths* paths;           // with `present`, `resolving` and the weights
  PlaneSession* sessions;     // [plane]
  SessionGroup* groups;       // [plane]
  Connection* connections;    // [plane][session][VC]
  PathRate* rates = nullptr;  // [plane]; null: nothing is measured
  EarlyPdus* early = nullptr;  // [plane][session][VC]; null: no selective repair

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
};

}  // namespace suede

#endif  // SUEDE_PATH_PATH_PARTS_H_
