// SPDX-License-Identifier: Apache-2.0
// The instance's own end: the state that all of its peers have in common.
#ifndef SUEDE_PEER_OWN_END_H_
#define SUEDE_PEER_OWN_END_H_

#include <array>
#include <cstdint>

#include "base/secret_numbers.h"
#include "peer/failed_planes.h"
#include "peer/params.h"
#include "peer/peer_paths.h"
#include "transport/params.h"
#include "wire/control_pdu.h"

namespace suede {

struct OwnEnd {
  // The parameters are the instance's: they outlive this, and may be changed between two facts.
  OwnEnd(uint16_t own_xpuid, uint32_t planes, uint32_t sessions,
         const TransportParams& of_transport, const PathParams& of_paths, const SecretKey& secret)
      : xpuid(own_xpuid),
        plane_count(static_cast<uint8_t>(planes)),
        vc_count(of_transport.psn_scope == PsnScope::kVc ? kVcCount : 1),
        session_count(static_cast<uint8_t>(sessions)),
        connection_count(static_cast<uint8_t>(sessions * vc_count)),
        has_sessions(planes > 1 || sessions > 1),
        transport(of_transport),
        paths(of_paths),
        numbers(secret),
        ports_up(has_sessions ? 0 : 1),
        failed(own_xpuid) {}

  bool is_strict() const { return paths.ordering == Ordering::kStrict; }
  bool port_up(uint32_t plane) const { return (ports_up & 1u << plane) != 0; }
  // The VC of a connection, by its number on its plane; 0 where the connection carries all VCs.
  uint32_t VcOf(uint32_t number) const { return number & (vc_count - 1u); }
  // The VCs that the connection carries, a mask.
  uint8_t VcsOf(uint32_t number) const {
    return vc_count == 1 ? (1u << kVcCount) - 1 : static_cast<uint8_t>(1u << VcOf(number));
  }

  // The slot of the connection's session.
  uint32_t SlotOf(uint32_t number) const { return number / vc_count; }
  // The number, among a plane's connections, of the session's connection that carries the VC.
  uint32_t ConnectionOf(uint32_t slot, uint32_t vc) const { return slot * vc_count + VcOf(vc); }

  // The port of a plane, and an operator's wish for the plane. False where that changes nothing:
  // PDUs of an instance with one plane take that plane in any state.
  bool SetPort(uint32_t plane, bool up) {
    if (!has_sessions) return false;
    const auto bit = static_cast<PlaneMask>(1u << plane);
    ports_up = static_cast<PlaneMask>(up ? ports_up | bit : ports_up & ~bit);
    return true;
  }
  bool SetAdmin(uint32_t plane, PlaneAdmin setting) {
    if (!has_sessions || plane >= plane_count) return false;
    admin[plane] = setting;
    return true;
  }

  // A connection of the plane has PDUs in flight now, and had none. / OnIdle: the other way round.
  void OnBusy(uint32_t plane) { ++busy[plane]; }
  void OnIdle(uint32_t plane) { --busy[plane]; }
  // Busy connections of the plane, where each moving flow counts where it goes.
  uint32_t LoadOf(uint32_t plane) const { return busy[plane] + coming[plane]; }
  void Shift(uint32_t from, uint32_t to, uint32_t count) {
    coming[from] -= count;
    coming[to] += count;
  }

  // Draws any session number that a header of the plane can have.
  uint16_t DrawSessionNumber(uint32_t plane) {
    return static_cast<uint16_t>((numbers.Next() >> 32) % session_numbers[plane]);
  }

  const uint16_t xpuid;
  const uint8_t plane_count;
  const uint8_t vc_count;          // connections of each session,
  const uint8_t session_count;     // sessions of each {peer, plane},
  const uint8_t connection_count;  // and of each {peer, plane}
  // The planes have sessions and send in generations: there is more than one plane or session, so
  // PDUs may move. PLANEs of peers are answered in any case.
  const bool has_sessions;
  const TransportParams& transport;
  const PathParams& paths;
  SecretNumbers numbers;  // for identities, nonces and first PSNs
  Hello hello;            // the settings, as HELLO tells them
  PlaneMask ports_up;     // planes whose port can send
  std::array<PlaneAdmin, kMaxPlanes> admin{};
  std::array<uint32_t, kMaxPlanes> session_numbers{1, 1, 1, 1};  // that headers tell apart
  std::array<uint64_t, kMaxPlanes> link_bps{};         // of each plane's port; 0: not known
  uint32_t frame_octets = 0;  // on the wire, around the commands of a PDU
  std::array<uint32_t, kMaxPlanes> inflight_bytes{};  // of commands, on each plane to all peers
  std::array<uint32_t, kMaxPlanes> aside_bytes{};     // not in inflight_bytes: see PeerPaths
  PlaneShares shares;                                 // of what is sent
  FailedPlanes failed;                                // to a peer, and to be asked about
  // Where planes have sessions: connections of each plane with PDUs in flight, to all peers; and
  // connections of moving flows, modulo 2^32, that a plane gains when these have moved.
  std::array<uint32_t, kMaxPlanes> busy{};
  std::array<uint32_t, kMaxPlanes> coming{};
};

}  // namespace suede

#endif  // SUEDE_PEER_OWN_END_H_
