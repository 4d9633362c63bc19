// SPDX-License-Identifier: Apache-2.0
// One remote XPU as an instance knows it: the handshake (docs/control-pdus.md, HELLO), the sessions
// of its planes, failover and the choice of paths (docs/planes.md), and the cold part of its
// connections.
//
// Facts and the time go in, effects come out (peer/effects.h); nothing here sends, reads a clock or
// allocates. The data path itself sends on the connections and is acknowledged there: connections,
// paths and sessions are this peer's part of dense arrays of the instance. Owned by one lcore.
//
// FlowPlacement and PlaneRates are parts of it. Its files call each other in this order only:
// reach.cc (which planes may be used, and messages), planes.cc (a plane comes up or dies),
// association.cc (the handshake), failover.cc (fences), sessions.cc and connections.cc (received
// messages, and deadlines), peer.cc.
#ifndef SUEDE_PEER_PEER_H_
#define SUEDE_PEER_PEER_H_

#include <cstdint>
#include <span>

#include "base/coordinates.h"
#include "peer/effects.h"
#include "peer/flow_placement.h"
#include "peer/handshake.h"
#include "peer/hello_check.h"
#include "peer/own_end.h"
#include "peer/path_rate.h"
#include "peer/peer_paths.h"
#include "peer/plane_rates.h"
#include "peer/plane_session.h"
#include "peer/session_group.h"
#include "transport/connection.h"

namespace suede {

// The device that lets no frame leave, so that silence is no evidence about the peer.
enum class Hold : uint8_t {
  kNone,
  kOwn,      // our device
  kPeers,    // the other end's device, as the peer reports
  kTooLong,  // our device, for so long that silence does count
  // Our neighbour, which requests pauses repeatedly: the neighbour is alive, and has blocked all
  // frames for longer than is tolerated while there is another path.
  kNeighbour,
};

class Peer {
 public:
  static constexpr PlaneIndex kNoPlane = PeerPaths::kNoPlane;
  static constexpr SessionIndex kNoSlot = 0xff;
  static constexpr uint8_t kAllVcs = (1u << kVcCount) - 1;

  // The peer's part of the instance's arrays.
  struct Places {
    PeerPaths* paths;           // with `present`, `resolving` and the weights
    PlaneSession* sessions;     // [plane]
    SessionGroup* groups;       // [plane]
    Connection* connections;    // [plane][session][VC]
    PathRate* rates = nullptr;  // [plane]; null: nothing is measured
  };
  // `plain`: the peer is known not to speak HELLO.
  Peer(OwnEnd* own, uint16_t xpuid, bool plain, const Places& places);
  // To be called before all others.
  void Start(Effects& effects) {
    UpdateUsable(effects);
    ArmHandshake(effects);
  }

  // ---- State.

  uint16_t xpuid() const { return xpuid_; }
  const Handshake& handshake() const { return handshake_; }
  const PeerPaths& paths() const { return *paths_; }
  const PlaneSession& session(PlaneIndex plane) const { return sessions_[plane]; }
  const SessionGroup& group(PlaneIndex plane) const { return groups_[plane]; }
  // The measured rates of its planes.
  const PlaneRates& rates() const { return rates_; }
  // `number`, here and below: index of the connection on the plane, by session, and within a
  // session by VC if each VC has a connection.
  const Connection& connection(PlaneIndex plane, PathConnection number) const {
    return connections_[own_->map.At(0, plane, number)];
  }
  // The peer's settings, from its last HELLO.
  const Hello& hello() const { return hello_; }
  // VCs for which no PDU is queued, a mask.
  uint8_t lost_vcs() const { return cut_off_ ? kAllVcs : lost_vcs_; }
  // Whether the peer's MAC address is known on no plane.
  bool IsResolving() const { return (paths_->present & ~paths_->resolving) == 0; }
  bool IsResolving(PlaneIndex plane) const { return (paths_->resolving & 1u << plane) != 0; }
  // The homes of its flows, and the queues that may go on.
  FlowPlacement& placement() { return placement_; }
  // `echo`: the nonce of the HELLO that this HELLO answers; 0: no HELLO.
  Hello MakeHello(bool reply_wanted, uint64_t echo) const;
  // A sealed PDU of the peer cannot be opened: either end may have restarted.
  void OnUnopened(Time now, Effects& effects) {
    if (!handshake_.open()) Greet(now, effects);
  }
  // Sends a HELLO that requests a reply, and changes nothing in an association.
  void Ask(Effects& effects) { SendHello(effects); }

  // ---- Facts from the peer.

  struct ControlFacts {
    bool waits = false;    // a queue waits for a connection of the peer
    bool is_pong = false;  // a HELLO that answers an operator's ping
    SessionIndex slot = 0;  // of the session on which the PDU arrived; kNoSlot: none
    bool sealed = false;   // the PDU is sealed, and so is the whole association
  };
  void OnControl(PlaneIndex plane, const ControlMessage& message, const ControlFacts& facts,
                 Time now, Effects& effects);
  // A data PDU arrived on a connection that accepts none.
  void OnClosedData(PlaneIndex plane, PathConnection number, bool sequenced, RhOp op, Psn rpsn,
                    Time now, Effects& effects);
  // The peer has acknowledged a PDU on the plane: the path was proved in both directions. For peers
  // of an instance whose planes have sessions.
  void OnProof(PlaneIndex plane, Time now);
  // PDUs of a connection that has_aside() were acknowledged, and are not counted out yet.
  [[gnu::cold]] void TakeBack(PlaneIndex plane, PathConnection number);
  // A connection that was lost is in step again.
  void OnResumed(PlaneIndex plane, PathConnection number, Effects& effects);

  // ---- Facts of this end.

  // A queue waits, and no plane is usable.
  void OnWaiting(Time now, Effects& effects);
  // The port of a plane, or an operator's setting of the plane, has changed, and OwnEnd has the new
  // state.
  void OnPlaneChange(PlaneIndex plane, PlaneDownReason reason, Time now, Effects& effects);
  // The lcore has stalled for `time`: silence in that time is no evidence about the peer.
  void OnStandstill(Duration time);
  // Planes have failed to another peer, or a peer reports so. Probes this peer on these planes at
  // once, and reports the planes to it.
  void OnFailedPlanes(const PlaneReport& report, Time now, Effects& effects);
  // OnMac: the peer's MAC address is known now. OnNoMac: it is unknown.
  void OnMac(PlaneIndex plane, Effects& effects);
  void OnNoMac(Effects& effects);
  // `weight` 0: the plane's route is withdrawn, and no PDU takes it until it has a weight again.
  void SetWeight(PlaneIndex plane, uint32_t weight, Time now, Effects& effects);
  // The parameters were changed. To be called once for each connection.
  void OnNewParams(PlaneIndex plane, PathConnection number, Time now, Effects& effects);

  // ---- Time.

  void OnHandshakeDeadline(Time now, Effects& effects);
  // The handshake's deadline has come, and no port can send: the deadline is postponed, and silence
  // until then does not count.
  void OnMute(Time now, Effects& effects);
  // Whether OnSessionDeadline needs the `hold`.
  bool AsksForHold(PlaneIndex plane, Time now) const;
  void OnSessionDeadline(PlaneIndex plane, Hold hold, Time now, Effects& effects);
  // `hold`: only needed if SendHalf::TimesOut.
  void OnConnectionDeadline(PlaneIndex plane, PathConnection number, Hold hold, Time now,
                            Effects& effects);

  // Aborts if the state contradicts itself; for tests and fuzzers.
  void CheckInvariants(const TransportParams& widest) const;

 private:
  Connection& connection(PlaneIndex plane, PathConnection number) {
    return connections_[own_->map.At(0, plane, number)];
  }
  // The connections of a session of the plane, by VC if each VC has one.
  std::span<Connection> ConnectionsOf(PlaneIndex plane, SessionIndex slot) {
    return {&connection(plane, own_->map.Number(slot, 0)), own_->map.vc_count()};
  }
  bool IsPresent(PlaneIndex plane) const { return (paths_->present & 1u << plane) != 0; }

  // reach.cc
  bool AnyPortUp() const { return (paths_->present & own_->ports_up) != 0; }
  static void Send(PlaneIndex plane, const ControlMessage& message, Effects& effects);
  void SendHello(PlaneIndex plane, bool reply_wanted, uint64_t echo, Effects& effects) const;
  void SendHello(Effects& effects);
  void Emit(PeerEvent event, PlaneIndex plane, PathConnection number, Effects& effects) const;
  void EmitPlane(PeerEvent event, PlaneIndex plane, uint8_t what, Effects& effects) const;
  void Mark(uint8_t vcs, bool lost, Effects& effects);
  void GiveUpQueued(uint8_t vcs, Effects& effects);
  void FindAgain(Effects& effects);
  void CountOut(PlaneIndex plane, PathConnection number, uint32_t bytes);
  [[gnu::cold]] void SetAside(PlaneIndex plane, PathConnection number);
  [[gnu::cold]] void CountAside(PlaneIndex plane, uint32_t bytes);
  // Runs `hear`, which moves PDUs of the connection that have arrived to a list.
  template <typename Hear>
  auto Acknowledge(PlaneIndex plane, PathConnection number, Effects& effects, Hear&& hear) {
    Connection& heard = connection(plane, number);
    const uint32_t before = heard.in_flight().bytes();
    PduList acked;
    const auto verdict = hear(heard, acked);
    if (acked.empty()) return verdict;
    CountOut(plane, number, before - heard.in_flight().bytes());
    effects.Add(effect::Acknowledged{plane, number, acked});
    if (paths_->moving != 0) placement_.OnEnded(effects);
    return verdict;
  }
  void GiveUp(PlaneIndex plane, PathConnection number, Ending ending, bool hold_last,
              uint32_t bytes, const PduList& pdus, Effects& effects);
  void UpdateUsable(Effects& effects);
  bool IsOpen(PlaneIndex plane) const;
  bool HasRoute() const;
  void OnRouteGone(Time now, Effects& effects);
  void OnRouteBack(Effects& effects);
  void CheckRoutes(Time now, Effects& effects);
  void ArmHandshake(Effects& effects) const;
  void ArmSession(PlaneIndex plane, Effects& effects) const;
  void ArmConnection(PlaneIndex plane, PathConnection number, Effects& effects) const;
  PlaneIndex PlaneOfPeer(uint8_t peer_plane) const;
  bool HasHeardAnyPlane() const;

  // planes.cc
  bool FreezeIfInDoubt(PlaneIndex plane);
  void BeginSessions(Time now, Effects& effects);
  void PlaneUp(PlaneIndex plane, Effects& effects);
  void PlaneDown(PlaneIndex plane, PlaneDownReason reason, Time now, Effects& effects);
  PlaneIndex PlaneForFence(PlaneIndex dead);
  void SendFence(PlaneIndex plane, Effects& effects);
  void CheckReach(Time now, Effects& effects);
  void GiveUpPeer(Time now, Effects& effects);

  // association.cc
  bool IsOfAssociation(PlaneIndex plane, const Identities& named, Effects& effects) const;
  void OnHello(PlaneIndex plane, const Hello& hello, const ControlFacts& facts, Time now,
               Effects& effects);
  void OnAgreed(PlaneIndex plane, const Hello& hello, bool knows_us, Time now, Effects& effects);
  bool CheckHello(Time now, Effects& effects);
  void RecheckHello(Time now, Effects& effects);
  void EndAssociation(Time now, Effects& effects);
  void OpenAssociation(Effects& effects);
  void StartOver(Time now, Effects& effects);
  void Greet(Time now, Effects& effects);
  void SendProbes(Effects& effects) const;
  void OnPlain(Effects& effects);
  void OnSilence(Effects& effects);
  // Returns whether acknowledgements at an interval take the place of PLANEs.
  bool IsKeptAlive() const { return handshake_.open() && !paths_->sessions; }
  void KeepAlive(Time now, Effects& effects);

  // groups.cc
  void BeginGroups(Time now, Effects& effects);
  // Number of the plane's connections that both ends distinguish.
  uint32_t DistinctConnections(PlaneIndex plane) const {
    return groups_[plane].count() * own_->map.vc_count();
  }
  // Fills in a PSN of each of these connections.
  template <typename PsnOf>
  void FillAllPsns(PlaneIndex plane, VcPsns& first, MorePsns& more, PsnOf&& psn_of) const {
    const uint32_t count = DistinctConnections(plane);
    more.count = static_cast<uint8_t>(count - own_->map.vc_count());
    for (PathConnection number = 0; number < count; ++number) {
      const Psn psn = psn_of(connection(plane, number));
      (number < own_->map.vc_count() ? first[number] : more.psns[number - own_->map.vc_count()]) =
          psn;
    }
  }
  // The PSN that the peer's message has for a connection.
  Psn PsnIn(PathConnection number, const VcPsns& first, const MorePsns& more) const {
    return number < own_->map.vc_count() ? first[number] : more.psns[number - own_->map.vc_count()];
  }
  // Whether acknowledgements of ours come without a wait: our congestion control uses round trips.
  bool IsPrompt() const { return own_->hello.wants_echoes && hello_.answers_congestion; }
  // Whether the message has a PSN for each connection that both ends distinguish.
  bool HasAllPsns(PlaneIndex plane, const MorePsns& more) const {
    return more.count + uint32_t{own_->map.vc_count()} >= DistinctConnections(plane);
  }
  void OnGroupDeadline(PlaneIndex plane, Time now, Effects& effects);
  void OnSession(PlaneIndex plane, const SessionNumber& message, Time now, Effects& effects);
  void OnSessionRequest(PlaneIndex plane, const SessionNumber& message, Time now, Effects& effects);
  // Fills in a PSN of each of the session's connections.
  template <typename PsnOf>
  void FillPsns(PlaneIndex plane, SessionIndex slot, VcPsns& psns, PsnOf&& psn_of) const {
    for (Vc vc = 0; vc < own_->map.vc_count(); ++vc) {
      psns[vc] = psn_of(connection(plane, own_->map.Number(slot, vc)));
    }
  }
  void OnStall(PlaneIndex plane, PathConnection number, Time now, Effects& effects);
  bool HasInFlight(PlaneIndex plane, SessionIndex slot);
  void SendSession(PlaneIndex plane, SessionIndex slot, Effects& effects);

  // failover.cc
  bool CloseUnnamed();
  void OnFence(PlaneIndex plane, const Fence& fence, bool sealed, Time now, Effects& effects);
  void OnFenced(const Fenced& fenced, Time now, Effects& effects);
  void OnSessionFenced(PlaneIndex plane, const SessionNumber& answer, Time now, Effects& effects);

  // sessions.cc
  PlaneSession::Facts FactsOf(PlaneIndex plane, Hold hold, Time now) const;
  void AskSiblings(Time now, Effects& effects);
  void SendPlane(PlaneIndex plane, bool reply_wanted, Effects& effects,
                 const PlaneReport& report = {});
  void SendHeldUp(PlaneIndex plane, bool if_held, Effects& effects) const;
  void OnReport(PlaneIndex plane, const PlaneHello& hello, Time now, Effects& effects);
  // Whether the plane is paired with a plane of the peer, and frames of others may arrive on it.
  bool Pairs(PlaneIndex plane, bool sealed) const {
    return sealed && (paths_->alike & 1u << plane) != 0;
  }
  bool IsOfOtherPair(PlaneIndex plane, const PlaneHello& hello, Time now, Effects& effects);
  void OnPlane(PlaneIndex plane, const PlaneHello& hello, bool sealed, Time now, Effects& effects);
  void OnHeldUp(PlaneIndex plane, uint8_t held, Time now, Effects& effects);

  // connections.cc
  void OnNotReady(PlaneIndex plane, SessionIndex slot, const NotReady& message, Time now,
                  Effects& effects);
  void OnReady(PlaneIndex plane, SessionIndex slot, const Ready& message, Time now,
               Effects& effects);
  void OnUnreachable(PlaneIndex plane, PathConnection number, Time now, Effects& effects);
  void GiveUpIfLost(PathConnection number, Effects& effects);

  OwnEnd* own_;
  PeerPaths* paths_;
  PlaneSession* sessions_;
  SessionGroup* groups_;
  Connection* connections_;
  PlaneRates rates_;
  FlowPlacement placement_;
  Handshake handshake_;
  Hello hello_;
  uint16_t xpuid_;
  HelloMismatch mismatch_ = HelloMismatch::kNone;  // of its HELLO and ours
  uint8_t lost_vcs_ = 0;                           // lost for other reasons than a missing route
  bool cut_off_ = false;      // has had no route for so long that it counts as unreachable
  Time cut_off_at_ = kNever;  // when cut_off_ will be set, if no route comes back
  Time keepalive_at_{};       // when KeepAlive is due, if IsKeptAlive
};

}  // namespace suede

#endif  // SUEDE_PEER_PEER_H_
