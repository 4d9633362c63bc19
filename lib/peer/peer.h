// SPDX-License-Identifier: Apache-2.0
// One remote XPU as an instance knows it: its parts, each with a subject, and the cold part of its
// connections.
//
// Facts and the time go in, effects come out (peer/effects.h); nothing here sends, reads a clock or
// allocates. The data path itself sends on the connections and is acknowledged there: connections,
// paths and sessions are this peer's part of dense arrays of the instance. Owned by one lcore.
#ifndef SUEDE_PEER_PEER_H_
#define SUEDE_PEER_PEER_H_

#include <cstdint>

#include "base/coordinates.h"
#include "peer/agreement.h"
#include "peer/association.h"
#include "peer/effects.h"
#include "peer/fences.h"
#include "peer/flight_count.h"
#include "peer/parts.h"
#include "peer/peer_groups.h"
#include "peer/plane_choice.h"
#include "peer/plane_health.h"
#include "peer/plane_probes.h"
#include "peer/reach.h"
#include "transport/connection.h"

namespace suede {

class Peer {
 public:
  static constexpr SessionIndex kNoSlot = 0xff;

  explicit Peer(const PeerParts& parts);
  // The parts of a peer refer to each other.
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  // To be called before all others.
  void Start(Effects& effects) {
    choice_.Update(effects);
    association_.Arm(effects);
  }

  // ---- State.

  uint16_t xpuid() const { return peer_.xpuid; }
  const Handshake& handshake() const { return agreement_.handshake; }
  // The peer's settings, from its last HELLO.
  const Hello& hello() const { return agreement_.hello; }
  const PeerPaths& paths() const { return *peer_.paths; }
  const PlaneSession& session(PlaneIndex plane) const { return peer_.sessions[plane]; }
  const SessionGroup& group(PlaneIndex plane) const { return peer_.groups[plane]; }
  const Connection& connection(PlaneIndex plane, PathConnection number) const {
    return peer_.connection(plane, number);
  }

  // ---- Parts, to which facts of their subject go.

  PlaneChoice& choice() { return choice_; }
  const PlaneChoice& choice() const { return choice_; }
  Reach& reach() { return reach_; }
  FlightCount& flight() { return flight_; }
  PlaneHealth& health() { return health_; }
  Association& association() { return association_; }
  PlaneProbes& probes() { return probes_; }

  // ---- Facts.

  void OnControl(PlaneIndex plane, const ControlMessage& message, const ControlFacts& facts,
                 Time now, Effects& effects);
  // The peer reports about a fence, which the plane carried, of a plane or session of ours. Returns
  // false if the fence is over.
  bool OnFenceReport(PlaneIndex plane, const Repair& repair) {
    return fences_.OnReport(plane, repair);
  }
  // The peer's MAC address is known now on the plane, or has changed.
  void OnMac(PlaneIndex plane, Effects& effects);
  // `weight` 0: the plane's route is withdrawn, and no PDU takes it until it has a weight again.
  void SetWeight(PlaneIndex plane, uint32_t weight, Time now, Effects& effects);
  // The parameters were changed. To be called once for each connection.
  void OnNewParams(PlaneIndex plane, PathConnection number, Time now, Effects& effects);
  // `hold`: only needed if SendHalf::TimesOut.
  void OnConnectionDeadline(PlaneIndex plane, PathConnection number, Hold hold, Time now,
                            Effects& effects);

  // Aborts if the state contradicts itself; for tests and fuzzers.
  void CheckInvariants(const TransportParams& widest) const;

 private:
  // connections.cc
  void OnNotReady(PlaneIndex plane, SessionIndex slot, const NotReady& message, Time now,
                  Effects& effects);
  void OnReady(PlaneIndex plane, SessionIndex slot, const Ready& message, Time now,
               Effects& effects);
  void OnUnreachable(PlaneIndex plane, PathConnection number, Time now, Effects& effects);
  void GiveUpIfLost(PathConnection number, Effects& effects);

  // Each part may call those before it.
  const PeerParts peer_;
  Agreement agreement_;
  PlaneChoice choice_;
  Reach reach_;
  FlightCount flight_;
  PlaneHealth health_;
  PeerGroups groups_;
  Association association_;
  Fences fences_;
  PlaneProbes probes_;
};

}  // namespace suede

#endif  // SUEDE_PEER_PEER_H_
