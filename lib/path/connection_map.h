// SPDX-License-Identifier: Apache-2.0
// The places of an instance's paths and connections in its dense arrays: by peer, then by plane, by
// session, and by VC if each VC has a connection of its own.
#ifndef SUEDE_PATH_CONNECTION_MAP_H_
#define SUEDE_PATH_CONNECTION_MAP_H_

#include <bit>
#include <cstdint>

#include "base/coordinates.h"
#include "base/sue.h"
#include "transport/params.h"

namespace suede {

class ConnectionMap {
 public:
  // `planes` and `sessions`, of a plane, are powers of two.
  ConnectionMap(uint32_t planes, uint32_t sessions, PsnScope scope)
      : vc_bits_(scope == PsnScope::kVc ? static_cast<uint8_t>(std::countr_zero(kVcCount)) : 0),
        vc_mask_(static_cast<uint8_t>((1u << vc_bits_) - 1)),
        session_bits_(static_cast<uint8_t>(std::countr_zero(sessions))),
        plane_bits_(static_cast<uint8_t>(std::countr_zero(planes))),
        path_bits_(static_cast<uint8_t>(session_bits_ + vc_bits_)),
        peer_bits_(static_cast<uint8_t>(plane_bits_ + path_bits_)) {}

  uint32_t plane_count() const { return 1u << plane_bits_; }
  bool has_planes() const { return plane_bits_ != 0; }    // more than one
  bool has_groups() const { return session_bits_ != 0; }  // several sessions of a {peer, plane}
  bool is_per_vc() const { return vc_bits_ != 0; }        // each VC has its connections
  // The part of each plane in an even division of `count`.
  uint32_t PerPlane(uint32_t count) const { return count >> plane_bits_; }
  // Sessions of a {peer, plane}.
  uint32_t session_count() const { return 1u << session_bits_; }
  // Connections of a session: one, or one for each VC.
  uint32_t vc_count() const { return 1u << vc_bits_; }
  // Connections of a {peer, plane}, and of a peer.
  uint32_t path_connections() const { return 1u << path_bits_; }
  uint32_t peer_connections() const { return 1u << peer_bits_; }

  // ---- Paths: {peer, plane}.

  PathIndex PathAt(PeerIndex peer, PlaneIndex plane) const {
    return PathIndex(peer << plane_bits_ | plane);
  }
  PeerIndex PeerOf(PathIndex path) const { return PeerIndex(path >> plane_bits_); }
  PlaneIndex PlaneOf(PathIndex path) const { return PlaneIndex(path & (plane_count() - 1)); }

  // ---- The connections of a path.

  PathConnection Number(SessionIndex session, Vc vc) const {
    return PathConnection(session << vc_bits_ | KeyOf(vc));
  }
  SessionIndex SessionOf(PathConnection number) const { return SessionIndex(number >> vc_bits_); }
  // The VC that the connection carries; 0: it carries all VCs.
  Vc VcOf(PathConnection number) const { return Vc(number & vc_mask_); }
  // The VCs that the connection carries, a mask.
  uint8_t VcsOf(PathConnection number) const {
    return vc_bits_ == 0 ? (1u << kVcCount) - 1 : static_cast<uint8_t>(1u << VcOf(number));
  }
  // KeyOf: the VC that represents all VCs of its connections: `vc`, or 0. VcsWith: these VCs, a
  // mask.
  Vc KeyOf(Vc vc) const { return Vc(vc & vc_mask_); }
  uint8_t VcsWith(Vc vc) const { return VcsOf(Number(0, vc)); }

  // ---- The connections of an instance.

  ConnectionIndex At(PathIndex path, PathConnection number) const {
    return ConnectionIndex(path << path_bits_ | number);
  }
  ConnectionIndex At(PeerIndex peer, PlaneIndex plane, PathConnection number) const {
    return At(PathAt(peer, plane), number);
  }
  ConnectionIndex At(PeerIndex peer, PlaneIndex plane, SessionIndex session, Vc vc) const {
    return At(peer, plane, Number(session, vc));
  }
  PathIndex PathOf(ConnectionIndex connection) const { return PathIndex(connection >> path_bits_); }
  PeerIndex PeerOf(ConnectionIndex connection) const { return PeerIndex(connection >> peer_bits_); }
  PlaneIndex PlaneOf(ConnectionIndex connection) const { return PlaneOf(PathOf(connection)); }
  PathConnection NumberOf(ConnectionIndex connection) const {
    return PathConnection(connection & (path_connections() - 1));
  }
  SessionIndex SessionOf(ConnectionIndex connection) const {
    return SessionOf(NumberOf(connection));
  }
  Vc VcOf(ConnectionIndex connection) const { return Vc(connection & vc_mask_); }
  uint8_t VcsOf(ConnectionIndex connection) const { return VcsOf(NumberOf(connection)); }
  // The connection's number among all those with its peer.
  uint32_t NumberAtPeer(ConnectionIndex connection) const {
    return connection & (peer_connections() - 1);
  }

  // ---- Arrays by {path, session}.

  uint32_t SessionAt(PathIndex path, SessionIndex session) const {
    return path << session_bits_ | session;
  }
  uint32_t SessionAt(ConnectionIndex connection) const { return connection >> vc_bits_; }

 private:
  uint8_t vc_bits_;
  uint8_t vc_mask_;
  uint8_t session_bits_;
  uint8_t plane_bits_;
  uint8_t path_bits_;  // of the connections of a path
  uint8_t peer_bits_;  // of the connections of a peer
};

}  // namespace suede

#endif  // SUEDE_PATH_CONNECTION_MAP_H_
