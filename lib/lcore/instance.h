// SPDX-License-Identifier: Apache-2.0
// One SUE instance: the state that an lcore keeps for one {XPU, instance number}, in parts. A
// function that works on one part takes that part.
#ifndef SUEDE_LCORE_INSTANCE_H_
#define SUEDE_LCORE_INSTANCE_H_

#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "lcore/header_table.h"
#include "lcore/params.h"
#include "lcore/path_probe.h"
#include "lcore/peer_arrays.h"
#include "lcore/ping.h"
#include "lcore/port_context.h"
#include "lcore/receive_state.h"
#include "lcore/seal_state.h"
#include "lcore/settings.h"
#include "lcore/trace.h"
#include "lcore/transmit_state.h"
#include "path/connection_map.h"
#include "stats/counters.h"
#include "stats/gauges.h"
#include "stats/histograms.h"

namespace suede {

// Counters, gauges and histograms of an instance: written by its lcore, read by any thread.
struct InstanceStats {
  CounterBlock counters;
  GaugeBlock gauges;
  HistogramBlock histograms;
};

struct Instance {
  static constexpr uint16_t kNoPeer = PeerArrays::kNoPeer;
  static constexpr uint32_t kAckClass = HeaderTable::kAckClass;

  // `number`: in the pipeline. `plane_ports` are those of params.planes, in order.
  Instance(uint32_t number, const InstanceParams& instance_params, const PlanePorts& plane_ports,
           InstanceStats& instance_stats);

  // The port from whose pool the instance's frames come.
  PortContext& home() const { return *ports[0]; }
  // Whether the operator has taken the instance down, or each of its planes with its port.
  bool IsOutOfService() const;
  // Whether a connection on a usable plane is paused, or a queue waits for the peer's credit.
  bool IsPaused(PeerIndex peer) const { return peers.IsPaused(peer) || tx.AwaitsCredit(peer); }
  // Whether the next PDU to the peer, with `bytes` bytes of commands, may take the plane; CanSend:
  // and whether a connection can take the PDU, too.
  bool MayTake(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const {
    return (peers.paths[peer].choice[vc] & 1u << plane) != 0 &&
           tx.Permits(map.PathAt(peer, plane), bytes);
  }
  bool CanSend(PeerIndex peer, PlaneIndex plane, Vc vc, uint32_t bytes) const {
    return (peers.paths[peer].choice[vc] & 1u << plane) != 0 &&
           (map.has_groups() ? peers.AnySessionCan(peer, plane, vc, bytes)
                             : peers.connections[map.At(peer, plane, 0, vc)].tx().CanSend(
                                   bytes, params.transport)) &&
           tx.Permits(map.PathAt(peer, plane), bytes);
  }

  // The sealing state of the peer, with the identities that are valid now.
  SealedPeer& SealOf(PeerIndex peer) { return sealing.Of(peers, peer); }
  // The fields of the network header that are sealed with a PDU that leaves.
  SealPath SealPathOf(PeerIndex peer, PlaneIndex plane, uint16_t session) const {
    return {.source = params.planes[plane].address,
            .destination = params.peers[peer].planes[plane].address,
            .session = session};
  }
  // Begins sealing if the parameters demand it, before the first poll iteration.
  void StartSealing(Crypto* crypto, SealTurn* turn);

  // Takes the settings that a running pipeline may change: see settings.h.
  void Take(const Settings& settings);
  // Updates the speed of the plane's link, which has come up or is queried for the first time.
  void NoteLinkSpeed(PlaneIndex plane);
  // The limits of a plane for congestion control; `speed_bps`: of its link, 0: not known.
  PathLimits LimitsOf(PlaneIndex plane, uint64_t speed_bps) const;

  InstanceParams params;
  const uint32_t number;
  bool down = false;  // by the operator: no frame leaves, received frames are dropped, timers wait
  const ConnectionMap map;
  InstanceStats& stats;
  PlanePorts ports;
  HeaderTable headers;
  PeerArrays peers;
  TransmitState tx;
  ReceiveState rx;
  SealState sealing;
  Ping ping;
  PathProbes path;
  Trace trace;

 private:
  void SetFrameOctets();
  void SetHello();
  uint32_t ReceiveBytes() const;
};

}  // namespace suede

#endif  // SUEDE_LCORE_INSTANCE_H_
