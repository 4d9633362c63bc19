// SPDX-License-Identifier: Apache-2.0
// The instance's own end: the state that all of its peers have in common.
#ifndef SUEDE_PATH_OWN_END_H_
#define SUEDE_PATH_OWN_END_H_

#include <array>
#include <cstdint>

#include "base/coordinates.h"
#include "base/secret_numbers.h"
#include "path/connection_map.h"
#include "path/failed_planes.h"
#include "path/params.h"
#include "path/peer_paths.h"
#include "transport/params.h"
#include "wire/control_pdu.h"

namespace suede {

struct OwnEnd {
  // The parameters are the instance's: they outlive this object, and may change between two facts.
  OwnEnd(uint16_t own_xpuid, const ConnectionMap& connections, const TransportParams& of_transport,
         const PathParams& of_paths, const SecretKey& secret)
      : xpuid(own_xpuid),
        map(connections),
        has_sessions(map.has_planes() || map.has_groups() ||
                     of_transport.recovery == LossRecovery::kSelective),
        transport(of_transport),
        paths(of_paths),
        numbers(secret),
        ports_up(has_sessions ? 0 : 1),
        failed(own_xpuid) {}

  bool is_strict() const { return paths.ordering == Ordering::kStrict; }
  bool port_up(PlaneIndex plane) const { return (ports_up & 1u << plane) != 0; }

  // Set the state of a plane's port, and an operator's setting of the plane. Return false if that
  // has no effect: PDUs of an instance with one plane take that plane in any state.
  bool SetPort(PlaneIndex plane, bool up) {
    if (!has_sessions) return false;
    const auto bit = static_cast<PlaneMask>(1u << plane);
    ports_up = static_cast<PlaneMask>(up ? ports_up | bit : ports_up & ~bit);
    return true;
  }
  bool SetAdmin(PlaneIndex plane, PlaneAdmin setting) {
    if (!has_sessions || plane >= map.plane_count()) return false;
    admin[plane] = setting;
    return true;
  }

  // OnBusy: a connection of the plane has PDUs in flight now, and had none. OnIdle: the reverse.
  void OnBusy(PlaneIndex plane) { ++busy[plane]; }
  void OnIdle(PlaneIndex plane) { --busy[plane]; }
  // Busy connections of the plane; each moving flow counts at its target.
  uint32_t LoadOf(PlaneIndex plane) const { return busy[plane] + coming[plane]; }
  void Shift(PlaneIndex from, PlaneIndex to, uint32_t count) {
    coming[from] -= count;
    coming[to] += count;
  }

  // Draws any session number that a header of the plane can have.
  uint16_t DrawSessionNumber(PlaneIndex plane) {
    return static_cast<uint16_t>((numbers.Next() >> 32) % session_numbers[plane]);
  }

  const uint16_t xpuid;
  const ConnectionMap map;
  // The planes have sessions and send in generations: there is more than one plane or session, so
  // PDUs may move; or PDUs are repaired selectively, so that doubts end by a fence. PLANEs of peers
  // are answered in any case.
  const bool has_sessions;
  const TransportParams& transport;
  const PathParams& paths;
  SecretNumbers numbers;  // for identities, nonces and first PSNs
  Hello hello;            // the settings, as HELLO carries them
  PlaneMask ports_up;     // planes whose port can send
  std::array<PlaneAdmin, kMaxPlanes> admin{};
  std::array<uint32_t, kMaxPlanes> session_numbers{1, 1, 1, 1};  // that headers distinguish
  std::array<uint64_t, kMaxPlanes> link_bps{};        // of each plane's port; 0: not known
  uint32_t frame_octets = 0;                          // on the wire, around the commands of a PDU
  std::array<uint32_t, kMaxPlanes> inflight_bytes{};  // of commands, on each plane to all peers
  std::array<uint32_t, kMaxPlanes> aside_bytes{};     // not in inflight_bytes: see PeerPaths
  PlaneShares shares;                                 // of what is sent
  FailedPlanes failed;                                // to a peer, and to be probed
  // Where planes have sessions: connections of each plane with PDUs in flight, to all peers; and
  // connections of moving flows, modulo 2^32, that a plane gains when these have moved.
  std::array<uint32_t, kMaxPlanes> busy{};
  std::array<uint32_t, kMaxPlanes> coming{};
};

}  // namespace suede

#endif  // SUEDE_PATH_OWN_END_H_
