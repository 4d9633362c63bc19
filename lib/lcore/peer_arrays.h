// SPDX-License-Identifier: Apache-2.0
// The peers of an instance, and their parts in dense arrays, on which the data path works: paths,
// sessions and connections.
#ifndef SUEDE_LCORE_PEER_ARRAYS_H_
#define SUEDE_LCORE_PEER_ARRAYS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "lcore/params.h"
#include "lcore/snapshot.h"
#include "path/connection_map.h"
#include "path/own_end.h"
#include "path/peer_paths.h"
#include "path/plane_session.h"
#include "path/session_group.h"
#include "peer/peer.h"
#include "transport/connection.h"

namespace suede {

struct PeerArrays {
  static constexpr uint16_t kNoPeer = 0xffff;

  // `params`: the instance's, which outlive this object.
  PeerArrays(const InstanceParams& params, const ConnectionMap& map);

  size_t size() const { return all.size(); }
  Peer& operator[](PeerIndex peer) { return all[peer]; }
  const Peer& operator[](PeerIndex peer) const { return all[peer]; }
  PeerIndex OfXpu(uint32_t xpuid) const { return PeerIndex(of_xpu[xpuid]); }  // kNoPeer: none
  Peer& Of(ConnectionIndex connection) { return all[own.map.PeerOf(connection)]; }
  PlaneSession& session(PeerIndex peer, PlaneIndex plane) {
    return sessions[own.map.PathAt(peer, plane)];
  }
  SessionGroup& group(PeerIndex peer, PlaneIndex plane) {
    return groups[own.map.PathAt(peer, plane)];
  }
  const SessionGroup& group(PeerIndex peer, PlaneIndex plane) const {
    return groups[own.map.PathAt(peer, plane)];
  }
  // Whether the MAC address of the peer is not known yet on the plane.
  bool IsResolving(PeerIndex peer, PlaneIndex plane) const {
    return (paths[peer].resolving & 1u << plane) != 0;
  }
  // The planes whose addresses are also those of another plane that leads to the peer.
  static PlaneMask AlikeOf(const InstanceParams& params, PeerIndex peer);
  ConnectionState StateOf(ConnectionIndex connection) const;
  // Whether a connection on a usable plane is paused.
  bool IsPaused(PeerIndex peer) const;
  // Whether the connection of one of the plane's sessions can take a PDU with `bytes` bytes of
  // commands.
  bool AnySessionCan(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const {
    return RunGoesOn(peer, plane, vc, bytes) || AnyOpenCan(peer, plane, vc, bytes);
  }
  // Whether the run of the group's sessions takes the PDU.
  bool RunGoesOn(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const {
    const SessionGroup& of = group(peer, plane);
    return of.InRun() && connections[own.map.At(peer, plane, of.run_slot(), vc)].tx().CanSend(
                             bytes, own.transport);
  }
  bool AnyOpenCan(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const;
  // Whether the receivers of the path's connections count PDUs.
  void SetCounted(PathIndex path, bool counted) {
    for (PathConnection i = 0; i < own.map.path_connections(); ++i) {
      connections[own.map.At(path, i)].rx().SetCounted(counted);
    }
  }
  // Counts bytes of commands that are put in flight (CountIn), or whose flight ends (CountOut).
  void CountIn(PeerIndex peer, PlaneIndex plane, uint32_t bytes) {
    if (!own.map.has_planes()) {
      paths[peer].OnSendAlone(bytes);
    } else {
      paths[peer].OnSend(plane, bytes);
      own.shares.Note(paths[peer].share);
    }
    own.inflight_bytes[plane] += bytes;
  }
  void CountOut(PeerIndex peer, PlaneIndex plane, uint32_t bytes) {
    paths[peer].OnEnd(plane, bytes);
    own.inflight_bytes[plane] -= bytes;
    if (!measures) [[likely]]
      return;
    rates[own.map.PathAt(peer, plane)].OnAcked(bytes, paths[peer].inflight_bytes[plane]);
  }

  OwnEnd own;                           // the state that the peers have in common
  const bool measures;                  // the rates that planes carry are measured
  uint32_t first_timer = 0;             // of the connections' timers, then the handshakes', the
                                        // sessions'
  uint32_t widest_window = 0;           // the widest window so far, in PDUs, for CheckInvariants
  std::vector<Connection> connections;  // [connection]
  std::vector<EarlyPdus> early;         // [connection]; empty without selective repair
  std::vector<PeerPaths> paths;         // [peer]
  std::vector<PlaneSession> sessions;   // [path]
  std::vector<PathRate> rates;          // [path]; empty if rates are not measured
  std::vector<SessionSlot> slots;       // [SessionAt]
  std::vector<SessionGroup> groups;     // [path]
  std::vector<Peer> all;                // run the protocol across frames, with the above
  std::array<uint16_t, kMaxXpus> of_xpu;
};

}  // namespace suede

#endif  // SUEDE_LCORE_PEER_ARRAYS_H_
