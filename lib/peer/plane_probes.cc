// SPDX-License-Identifier: Apache-2.0
#include "peer/plane_probes.h"

#include <algorithm>
#include <bit>

namespace suede {
namespace {

PlaneDownReason ReasonOf(const PlaneSession::Facts& facts) {
  if (facts.held) return PlaneDownReason::kAdmin;
  if (!facts.port_up) return PlaneDownReason::kLink;
  return facts.held_too_long ? PlaneDownReason::kPaused : PlaneDownReason::kSilence;
}

}  // namespace

// ---- Time.

PlaneSession::Facts PlaneProbes::FactsOf(PlaneIndex plane, Hold hold, Time now) const {
  const PathParams& params = peer_.own->paths;
  PlaneSession::Facts facts{
      .port_up = peer_.own->port_up(plane),
      .held = peer_.own->admin[plane] == PlaneAdmin::kDown,
      .in_flight = peer_.paths->InFlightOn(plane) != 0 || hold == Hold::kNeighbour,
      .held_up = hold == Hold::kOwn || hold == Hold::kPeers || hold == Hold::kNeighbour,
      .held_too_long = hold == Hold::kTooLong || hold == Hold::kNeighbour};
  // While another plane is heard, that plane's own timer detects its silence.
  if (!peer_.paths->unreachable && !health_.HasReceivedOnAnyPlane()) {
    facts.check_at =
        std::max(peer_.paths->alive_at + params.unreachable, now + params.hello_interval);
  }
  for (PlaneIndex other = 0; other < peer_.own->map.plane_count(); ++other) {
    const PlaneSession& session = peer_.sessions[other];
    facts.sibling_alive |= other != plane && session.up() &&
                           session.last_received() > peer_.sessions[plane].silent_since();
  }
  return facts;
}

bool PlaneProbes::NeedsHold(PlaneIndex plane, Time now) const {
  const PlaneSession& session = peer_.sessions[plane];
  return session.begun() && now >= session.deadline() && session.up() &&
         now - session.last_received() >= peer_.own->paths.hello_interval;
}

void PlaneProbes::OnDeadline(PlaneIndex plane, Hold hold, Time now, Effects& effects) {
  PlaneSession& session = peer_.sessions[plane];
  if (!session.begun()) return;
  if (session.up()) groups_.OnDeadline(plane, now, effects);
  // The wheel fires early for deadlines that are far away.
  if (now < session.deadline()) return peer_.ArmSession(plane, effects);
  const PlaneSession::Facts facts = FactsOf(plane, hold, now);
  if (hold != Hold::kNone) AskSiblings(plane, now, effects);
  switch (session.OnTimer(now, facts, peer_.own->paths)) {
    case PlaneSession::Want::kNothing:
      break;
    case PlaneSession::Want::kPlane:
      if (session.up() && session.missed() <= 1) health_.OnRareQuestion(now);
      if (session.up() && session.missed() != 0) AskSiblings(plane, now, effects);
      SendPlane(plane, true, effects);
      break;
    case PlaneSession::Want::kFence:
      health_.SendFence(plane, effects);
      break;
    case PlaneSession::Want::kHeldUp:
      if (hold != Hold::kPeers) {
        SendHeldUp(plane, false, effects);
      } else {
        SendPlane(plane, true, effects);  // the peer reports again that it is held up, or that it
                                          // was
      }
      break;
    case PlaneSession::Want::kGoDown:
      health_.PlaneDown(plane, ReasonOf(facts), now, effects);
      break;
  }
  health_.CheckReach(now, effects);
  const PlaneRates::Facts rate_facts{.disturbed = hold != Hold::kNone || !session.up(),
                                     .prompt = groups_.IsPrompt()};
  choice_.CheckRate(plane, rate_facts, now, effects);
  // The plane may have become too costly for the flows in flight there.
  if (peer_.paths->InFlightOn(plane) != 0) choice_.Balance(effects);
  peer_.ArmSession(plane, effects);
}

// One plane is silent: probes the others, to find whether the plane or the peer is silent.
void PlaneProbes::AskSiblings(PlaneIndex silent, Time now, Effects& effects) {
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    PlaneSession& session = peer_.sessions[plane];
    if (plane == silent || !session.up()) continue;
    session.RequestReply(now);
    peer_.ArmSession(plane, effects);
  }
}

void PlaneProbes::OnFailedPlanes(const PlaneReport& report, Time now, Effects& effects) {
  if (!peer_.paths->sessions) return;
  PlaneIndex over = PeerPaths::kNoPlane;
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    PlaneSession& session = peer_.sessions[plane];
    if (!session.up()) continue;
    if ((report.planes & 1u << plane) != 0) {
      session.RequestReply(now);
      peer_.ArmSession(plane, effects);
    } else if (over == PeerPaths::kNoPlane && session.missed() <= 1) {
      over = plane;
    }
  }
  // A peer without generations has no planes to probe.
  if (report.is_reported && over != PeerPaths::kNoPlane && agreement_.hello.sends_generations) {
    SendPlane(over, false, effects, report);
  }
}

// ---- Messages.

void PlaneProbes::SendPlane(PlaneIndex plane, bool reply_wanted, Effects& effects,
                            const PlaneReport& report) {
  PlaneHello hello{
      .plane = static_cast<uint8_t>(plane), .failed = report.planes, .hops = report.hops};
  peer_.sessions[plane].FillPlane(reply_wanted, hello);
  // An end that does not send in generations waits for nothing.
  if (!peer_.own->has_sessions) hello.state = PlaneState::kUp;
  // No older PSN of the generation is in flight.
  peer_.FillAllPsns(plane, hello.first, hello.more,
                    [](const Connection& one) { return one.in_flight().oldest_psn(); });
  effects.Add(effect::Send{plane, hello});
}

// Reports to the peer, over another plane, that no frame leaves our device on this plane. If no
// other plane is up, reports over all planes whose ports can send: the peer may hear us on a plane
// on which it cannot answer because its own port is paused.
void PlaneProbes::SendHeldUp(PlaneIndex plane, bool if_held, Effects& effects) const {
  effect::SendHeldUp said{.plane = plane, .if_held = if_held};
  for (PlaneIndex other = 0; agreement_.hello.hears_pauses && other < peer_.own->map.plane_count();
       ++other) {
    if (other == plane || !peer_.IsPresent(other)) continue;
    if (!peer_.own->port_up(other) || peer_.own->admin[other] == PlaneAdmin::kDown) continue;
    const auto bit = static_cast<PlaneMask>(1u << other);
    said.over |= bit;
    if (peer_.sessions[other].up()) said.enough |= bit;
  }
  if (said.over != 0 || if_held) effects.Add(said);
}

// ---- Facts from the peer.

// Returns whether the PLANE belongs to another pair of planes: it was moved in transit, or the
// planes are connected differently by now. Starts over if that persists.
bool PlaneProbes::IsOfOtherPair(PlaneIndex plane, const PlaneHello& hello, Time now,
                                Effects& effects) {
  const uint32_t owner = health_.PlaneOfPeer(hello.plane);
  const bool is_elsewhere = owner != PeerPaths::kNoPlane && owner != plane;
  PlaneSession& session = peer_.sessions[plane];
  const bool is_contrary = session.IsContrary(hello, static_cast<uint8_t>(plane));
  if (peer_.IsPresent(plane) && !is_elsewhere && !is_contrary) return false;
  effects.Add(effect::Count{Counter::kRxPlaneStale});
  if (!peer_.IsPresent(plane)) return true;
  // While the other pair is up, the PLANE was moved.
  if (is_elsewhere && peer_.sessions[owner].up()) return true;
  bool history = false;
  for (uint32_t i = 0; i < peer_.own->map.peer_connections(); ++i) {
    history |= peer_.connections[i].MayHaveHistory();
  }
  // An association without history loses nothing by a restart.
  const PathParams& params = peer_.own->paths;
  const Duration wait =
      history ? params.unreachable : params.hello_interval * params.hello_multiplier;
  if (session.IsHopeless(now, wait)) association_.StartOver(now, effects);
  return true;
}

void PlaneProbes::OnPlane(PlaneIndex plane, const PlaneHello& hello, bool sealed, Time now,
                          Effects& effects) {
  if (hello.held_up) return OnHeldUp(plane, hello.plane, now, effects);
  if (!peer_.HasAllPsns(plane, hello.more))
    return effects.Add(effect::Count{Counter::kRxPlaneStale});
  if (peer_.own->has_sessions && !peer_.paths->sessions) health_.BeginSessions(now, effects);
  PlaneSession& session = peer_.sessions[plane];
  const bool pairs = peer_.Pairs(plane, sealed);
  if (pairs && IsOfOtherPair(plane, hello, now, effects)) return;
  const PlaneSession::OnPlaneResult result =
      session.OnPlane(hello, now, peer_.own->paths,
                      pairs ? static_cast<uint8_t>(plane) : PlaneSession::kUnknownPlane);
  if (result.stale) return effects.Add(effect::Count{Counter::kRxPlaneStale});
  if (hello.failed != 0 && peer_.paths->sessions) OnReport(plane, hello, now, effects);
  for (PathConnection number = 0; result.adopt && number < peer_.DistinctConnections(plane);
       ++number) {
    peer_.connection(plane, number).rx().Open(peer_.PsnIn(number, hello.first, hello.more));
  }
  if (peer_.paths->sessions) {
    if (result.proved) health_.OnProof(plane, now);
    if (result.peer_down) health_.PlaneDown(plane, PlaneDownReason::kPeer, now, effects);
    if (result.came_up) health_.PlaneUp(plane, effects);
    peer_.ArmSession(plane, effects);
  }
  if (!hello.reply_wanted) return;
  SendPlane(plane, result.wants_reply, effects);
  // The answer may be stuck in the device that holds up the plane's other frames.
  if (session.up()) SendHeldUp(plane, true, effects);
}

// The peer reports planes that have failed to others. The report makes this endpoint probe its own
// peers, and is no proof. Ignores the plane on which the report came.
void PlaneProbes::OnReport(PlaneIndex plane, const PlaneHello& hello, Time now, Effects& effects) {
  effects.Add(effect::Count{Counter::kRxPlaneReports});
  for (uint32_t left = hello.failed; left != 0; left &= left - 1) {
    const PlaneIndex failed = health_.PlaneOfPeer(static_cast<uint8_t>(std::countr_zero(left)));
    if (failed == PeerPaths::kNoPlane || failed == plane) continue;
    peer_.own->failed.OnReported(failed, hello.hops, now, peer_.own->paths.hello_idle);
    effects.Add(effect::ProbeFailed{});
  }
}

// The peer reports that no frame leaves its device on a plane.
void PlaneProbes::OnHeldUp(PlaneIndex plane, uint8_t held, Time now, Effects& effects) {
  const uint32_t silent = health_.PlaneOfPeer(held);
  if (silent == PeerPaths::kNoPlane || silent == plane) return;
  effects.Add(effect::Count{Counter::kRxHeldUp});
  const PathParams& params = peer_.own->paths;
  peer_.sessions[silent].OnHeldUp(now, params.hello_interval * (params.hello_multiplier + 1));
}

}  // namespace suede
