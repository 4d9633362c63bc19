// SPDX-License-Identifier: Apache-2.0
// One life of a host of a PeerPair: a Peer, and the little of a pipeline that it needs.
#ifndef SUEDE_TESTS_PEER_PEER_HOST_H_
#define SUEDE_TESTS_PEER_PEER_HOST_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "peer_pair.h"

namespace suede {

struct PeerPair::Host {
  static constexpr uint32_t kHandshakeTimer = 0;
  static constexpr uint32_t kFirstSession = 1;
  static constexpr uint32_t kFirstConnection = 1 + kMaxPlanes;
  static constexpr uint32_t kTimers = kFirstConnection + kMaxPlanes * kVcCount;

  uint32_t number = 0;
  TransportParams transport;
  PathParams params;
  PeerPaths paths;
  std::array<PlaneSession, kMaxPlanes> sessions;
  std::array<SessionSlot, kMaxPlanes * kMaxSessions> slots;
  std::array<SessionGroup, kMaxPlanes> groups;
  std::array<Connection, kMaxPlanes * kVcCount> connections;
  std::optional<OwnEnd> own;
  std::optional<Peer> peer;
  std::array<PduList, kVcCount> queues;
  std::array<Time, kTimers> due;
  uint8_t blocked = 0;
  uint8_t lost = 0;
  bool refusing = false;
  PlaneMask held = 0;  // planes whose device lets nothing leave,
  std::array<Time, kMaxPlanes> held_since{};
  PlaneMask silent = 0;  // and whose frames are all lost on the way
  uint32_t owes = 0;     // connections, masks
  uint32_t resends = 0;
  uint32_t refused = 0;
  std::array<std::vector<Letter>, kMaxPlanes> out;  // on the way, the oldest first

  uint32_t NumberOf(PlaneIndex plane, PathConnection number) const {
    return own->map.At(0, plane, number);
  }
  Connection& at(PlaneIndex plane, PathConnection number) {
    return connections[NumberOf(plane, number)];
  }
};

}  // namespace suede

#endif  // SUEDE_TESTS_PEER_PEER_HOST_H_
