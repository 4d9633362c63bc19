// SPDX-License-Identifier: Apache-2.0
// PLANEs of both ends, and the meaning of silence (docs/planes.md, "Health").
#include <algorithm>
#include <bit>

#include "peer/peer.h"

namespace suede {
namespace {

// A plane that has missed this many answers was silent, not late, when an answer comes.
constexpr uint32_t kSilent = 2;

PlaneDownReason ReasonOf(const PlaneSession::Facts& facts) {
  if (facts.held) return PlaneDownReason::kAdmin;
  if (!facts.port_up) return PlaneDownReason::kLink;
  return facts.held_too_long ? PlaneDownReason::kPaused : PlaneDownReason::kSilence;
}

}  // namespace

// ---- Time.

PlaneSession::Facts Peer::FactsOf(PlaneIndex plane, Hold hold, Time now) const {
  const PathParams& params = own_->paths;
  PlaneSession::Facts facts{
      .port_up = own_->port_up(plane),
      .held = own_->admin[plane] == PlaneAdmin::kDown,
      .in_flight = paths_->InFlightOn(plane) != 0 || hold == Hold::kNeighbour,
      .held_up = hold == Hold::kOwn || hold == Hold::kPeers || hold == Hold::kNeighbour,
      .held_too_long = hold == Hold::kTooLong || hold == Hold::kNeighbour};
  // While another plane is heard, that plane's own timer detects its silence.
  if (!paths_->unreachable && !HasHeardAnyPlane()) {
    facts.look_at = std::max(paths_->alive_at + params.unreachable, now + params.hello_interval);
  }
  const Time heard = sessions_[plane].last_heard();
  for (PlaneIndex other = 0; other < own_->map.plane_count(); ++other) {
    const PlaneSession& session = sessions_[other];
    facts.sibling_alive |= other != plane && session.up() && session.missed() < kSilent &&
                           session.last_heard() - heard > params.hello_interval;
  }
  return facts;
}

bool Peer::AsksForHold(PlaneIndex plane, Time now) const {
  const PlaneSession& session = sessions_[plane];
  return session.begun() && now >= session.deadline() && session.up() &&
         now - session.last_heard() >= own_->paths.hello_interval;
}

void Peer::OnSessionDeadline(PlaneIndex plane, Hold hold, Time now, Effects& effects) {
  PlaneSession& session = sessions_[plane];
  if (!session.begun()) return;
  if (session.up()) OnGroupDeadline(plane, now, effects);
  // The wheel fires early for deadlines that are far away.
  if (now < session.deadline()) return ArmSession(plane, effects);
  const PlaneSession::Facts facts = FactsOf(plane, hold, now);
  if (hold != Hold::kNone) AskSiblings(now, effects);
  switch (session.OnTimer(now, facts, own_->paths)) {
    case PlaneSession::Want::kNothing:
      break;
    case PlaneSession::Want::kPlane:
      if (session.up() && session.missed() != 0) AskSiblings(now, effects);
      SendPlane(plane, true, effects);
      break;
    case PlaneSession::Want::kFence:
      SendFence(plane, effects);
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
      PlaneDown(plane, ReasonOf(facts), now, effects);
      break;
  }
  CheckReach(now, effects);
  const PlaneRates::Facts rate_facts{.disturbed = hold != Hold::kNone || !session.up(),
                                     .prompt = IsPrompt()};
  if (rates_.Check(plane, rate_facts, now, effects)) placement_.Place(effects);
  // The plane may have become too costly for the flows in flight there.
  if (paths_->InFlightOn(plane) != 0) placement_.Balance(effects);
  ArmSession(plane, effects);
}

// One plane is silent: probes the others, to find whether the plane or the peer is silent.
void Peer::AskSiblings(Time now, Effects& effects) {
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    PlaneSession& session = sessions_[plane];
    if (!session.up() || session.missed() != 0) continue;
    session.Ask(now + own_->paths.hello_interval);
    ArmSession(plane, effects);
  }
}

void Peer::OnFailedPlanes(const PlaneReport& report, Time now, Effects& effects) {
  if (!paths_->sessions) return;
  PlaneIndex over = kNoPlane;
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    PlaneSession& session = sessions_[plane];
    if (!session.up()) continue;
    if ((report.planes & 1u << plane) != 0) {
      session.Ask(now);
      ArmSession(plane, effects);
    } else if (over == kNoPlane && session.missed() < kSilent) {
      over = plane;
    }
  }
  // A peer without generations has no planes to probe.
  if (report.is_told && over != kNoPlane && hello_.sends_generations) {
    SendPlane(over, false, effects, report);
  }
}

// ---- Messages.

void Peer::SendPlane(PlaneIndex plane, bool reply_wanted, Effects& effects,
                     const PlaneReport& report) {
  PlaneHello hello{
      .plane = static_cast<uint8_t>(plane), .failed = report.planes, .hops = report.hops};
  sessions_[plane].FillPlane(reply_wanted, hello);
  // An end that does not send in generations waits for nothing.
  if (!own_->has_sessions) hello.state = PlaneState::kUp;
  // No older PSN of the generation is in flight.
  FillAllPsns(plane, hello.first, hello.more,
              [](const Connection& one) { return one.in_flight().oldest_psn(); });
  Send(plane, hello, effects);
}

// Reports to the peer, over another plane, that no frame leaves our device on this plane. If no
// other plane is up, reports over all planes whose ports can send: the peer may hear us on a plane
// on which it cannot answer because its own port is paused.
void Peer::SendHeldUp(PlaneIndex plane, bool if_held, Effects& effects) const {
  effect::SendHeldUp said{.plane = plane, .if_held = if_held};
  for (PlaneIndex other = 0; hello_.hears_pauses && other < own_->map.plane_count(); ++other) {
    if (other == plane || !IsPresent(other)) continue;
    if (!own_->port_up(other) || own_->admin[other] == PlaneAdmin::kDown) continue;
    const auto bit = static_cast<PlaneMask>(1u << other);
    said.over |= bit;
    if (sessions_[other].up()) said.enough |= bit;
  }
  if (said.over != 0 || if_held) effects.Add(said);
}

// ---- Facts from the peer.

// Returns whether the PLANE belongs to another pair of planes: it was moved in transit, or the
// planes are connected differently by now. Starts over if that persists.
bool Peer::IsOfOtherPair(PlaneIndex plane, const PlaneHello& hello, Time now, Effects& effects) {
  const uint32_t owner = PlaneOfPeer(hello.plane);
  const bool is_elsewhere = owner != kNoPlane && owner != plane;
  PlaneSession& session = sessions_[plane];
  const bool is_contrary = session.IsContrary(hello, static_cast<uint8_t>(plane));
  if (IsPresent(plane) && !is_elsewhere && !is_contrary) return false;
  effects.Add(effect::Count{Counter::kRxPlaneStale});
  if (!IsPresent(plane)) return true;
  // While the other pair is up, the PLANE was moved.
  if (is_elsewhere && sessions_[owner].up()) return true;
  bool history = false;
  for (uint32_t i = 0; i < own_->map.peer_connections(); ++i) {
    history |= connections_[i].MayHaveHistory();
  }
  // An association without history loses nothing by a restart.
  const PathParams& params = own_->paths;
  const Duration wait =
      history ? params.unreachable : params.hello_interval * params.hello_multiplier;
  if (session.IsHopeless(now, wait)) StartOver(now, effects);
  return true;
}

void Peer::OnPlane(PlaneIndex plane, const PlaneHello& hello, bool sealed, Time now,
                   Effects& effects) {
  if (hello.held_up) return OnHeldUp(plane, hello.plane, now, effects);
  if (!HasAllPsns(plane, hello.more)) return effects.Add(effect::Count{Counter::kRxPlaneStale});
  if (own_->has_sessions && !paths_->sessions) BeginSessions(now, effects);
  PlaneSession& session = sessions_[plane];
  const bool pairs = Pairs(plane, sealed);
  if (pairs && IsOfOtherPair(plane, hello, now, effects)) return;
  const PlaneSession::OnPlaneResult heard = session.OnPlane(
      hello, now, own_->paths, pairs ? static_cast<uint8_t>(plane) : PlaneSession::kUnknownPlane);
  if (heard.stale) {
    effects.Add(effect::Count{Counter::kRxPlaneStale});
    return;
  }
  if (hello.failed != 0 && paths_->sessions) OnReport(plane, hello, now, effects);
  for (PathConnection number = 0; heard.adopt && number < DistinctConnections(plane); ++number) {
    connection(plane, number).rx().Open(PsnIn(number, hello.first, hello.more));
  }
  if (paths_->sessions) {
    if (heard.proved) OnProof(plane, now);
    if (heard.peer_down) PlaneDown(plane, PlaneDownReason::kPeer, now, effects);
    if (heard.came_up) PlaneUp(plane, effects);
    ArmSession(plane, effects);
  }
  if (!hello.reply_wanted) return;
  SendPlane(plane, heard.asks, effects);
  // The answer may be stuck in the device that holds up the plane's other frames.
  if (session.up()) SendHeldUp(plane, true, effects);
}

// The peer reports planes that have failed to others. The report makes this endpoint probe its own
// peers, and is no proof. Ignores the plane on which the report came.
void Peer::OnReport(PlaneIndex plane, const PlaneHello& hello, Time now, Effects& effects) {
  effects.Add(effect::Count{Counter::kRxPlaneReports});
  for (uint32_t left = hello.failed; left != 0; left &= left - 1) {
    const PlaneIndex failed = PlaneOfPeer(static_cast<uint8_t>(std::countr_zero(left)));
    if (failed == kNoPlane || failed == plane) continue;
    own_->failed.OnReported(failed, hello.hops, now, own_->paths.hello_idle);
    effects.Add(effect::AskOnFailed{});
  }
}

// The path was proved in both directions. After silence on all planes the peer has come back, and
// the other planes have another chance.
[[gnu::noinline]] void Peer::OnProof(PlaneIndex plane, Time now) {
  PlaneSession& session = sessions_[plane];
  if (session.missed() >= kSilent) {
    for (PlaneIndex other = 0; other < own_->map.plane_count(); ++other) sessions_[other].Pardon();
  }
  session.OnProgress(now);
}

// The peer reports that no frame leaves its device on a plane.
void Peer::OnHeldUp(PlaneIndex plane, uint8_t held, Time now, Effects& effects) {
  const uint32_t silent = PlaneOfPeer(held);
  if (silent == kNoPlane || silent == plane) return;
  effects.Add(effect::Count{Counter::kRxHeldUp});
  const PathParams& params = own_->paths;
  sessions_[silent].OnHeldUp(now, params.hello_interval * (params.hello_multiplier + 1));
}

}  // namespace suede
