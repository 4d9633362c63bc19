// SPDX-License-Identifier: Apache-2.0
// Which planes to a peer may be used: their ports, their sessions, and in strict mode the one that
// all of it takes (docs/planes.md).
#include "pipeline/pipeline.h"

namespace suede {
namespace {

// How often ports are looked at: their links, and whether somebody has set them down.
constexpr Duration kPortLook = std::chrono::microseconds(50);
// A turn that comes later than this was kept waiting by the machine.
constexpr Duration kPause = std::chrono::microseconds(500);
// A plane that has missed so many answers when one comes was silent, not late.
constexpr uint32_t kSilent = 2;

}  // namespace

[[gnu::noinline]] void Pipeline::WatchPorts(Time now, Duration since_last_turn) {
  ports_due_ = now + kPortLook;
  if (since_last_turn > kPause) OnPause(since_last_turn);
  for (const auto& port : ports_) {
    const bool up = !port->link.down() && port->link.state().up;
    if (up != port->usable) OnPortChange(*port, up, now);
  }
}

// This lcore has stood still: the time that it did so says nothing of peers. (Of planes it need not
// be told: they are asked again, and each question has its time.)
void Pipeline::OnPause(Duration time) {
  for (const auto& instance : instances_) {
    for (uint32_t peer = 0; instance->has_planes() && peer < instance->paths.size(); ++peer) {
      PeerPaths& paths = instance->paths[peer];
      if (!paths.sessions) continue;
      for (uint32_t plane = 0; plane < instance->plane_count(); ++plane) {
        paths.alive_at = std::max(paths.alive_at, instance->session(peer, plane).last_heard());
      }
      paths.alive_at += time;
    }
  }
}

void Pipeline::OnPortChange(PortContext& port, bool up, Time now) {
  port.usable = up;
  for (const auto& owned : instances_) {
    Instance& instance = *owned;
    for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
      if (instance.ports[plane] != &port) continue;
      instance.port_up[plane] = up;
      if (instance.has_planes()) OnPlaneChange(instance, plane, PlaneDownReason::kLink, now);
    }
  }
}

// The port of a plane, or what an operator wants of it, has changed.
void Pipeline::OnPlaneChange(Instance& instance, uint32_t plane, PlaneDownReason reason, Time now) {
  const bool up = instance.port_up[plane] && instance.plane_admin[plane] != PlaneAdmin::kDown;
  for (uint32_t peer = 0; peer < instance.paths.size(); ++peer) {
    if (instance.paths[peer].sessions && (instance.paths[peer].present & 1u << plane) != 0) {
      if (up) {
        instance.session(peer, plane).OnLinkUp(now);
        ArmSession(instance, peer, plane);
      } else {
        PlaneDown(instance, peer, plane, reason, now);
      }
    }
    UpdateUsable(instance, peer);
    UnblockPeer(instance, peer);
  }
}

// Computes anew which planes PDUs to the peer may take.
void Pipeline::UpdateUsable(Instance& instance, uint32_t peer) {
  PeerPaths& paths = instance.paths[peer];
  const PlaneMask before = paths.usable;
  paths.usable = 0;
  const bool may = instance.handshakes[peer].open() && instance.mismatched[peer] == 0;
  for (uint32_t plane = 0; may && plane < instance.plane_count(); ++plane) {
    const uint32_t index = instance.PlaneIndex(peer, plane);
    if ((paths.present & 1u << plane) == 0 || instance.resolving[index] != 0) continue;
    if (instance.has_planes()) {
      if (!instance.port_up[plane] || instance.plane_admin[plane] != PlaneAdmin::kUp) continue;
      if (paths.sessions && !instance.sessions[index].up()) continue;
      if ((before & 1u << plane) == 0) paths.Join(plane);
    }
    paths.usable |= static_cast<PlaneMask>(1u << plane);
  }
  if (instance.has_planes()) ChooseHome(instance, peer);
}

bool Pipeline::InFlight(const Instance& instance, uint32_t peer, uint32_t plane) const {
  return instance.paths[peer].inflight_bytes[plane] != 0;
}

// In strict mode: draws the plane for the peer among those that are usable. Where that is another
// one than before, nothing is sent until what is in flight on that has ended one way or the other.
[[gnu::cold]] void Pipeline::ChooseHome(Instance& instance, uint32_t peer) {
  PeerPaths& paths = instance.paths[peer];
  if (!instance.is_strict()) return;
  paths.moving = false;
  // A static peer's connection that is lost is no place to go to.
  PlaneMask mask = paths.usable;
  for (uint32_t plane = 0; !paths.sessions && plane < instance.plane_count(); ++plane) {
    if (!instance.connections[instance.ConnectionIndex(peer, plane, 0)].lost()) continue;
    mask &= static_cast<PlaneMask>(~(1u << plane));
  }
  if (mask == 0) return;
  const uint32_t key = uint32_t{instance.params.xpuid} << 16 | instance.params.peers[peer].xpuid;
  const uint32_t drawn = paths.Draw(mask, key);
  if (drawn == paths.home) return;
  if (InFlight(instance, peer, paths.home)) {
    paths.moving = true;
    return;
  }
  paths.home = static_cast<uint8_t>(drawn);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    instance.scheduler.queue(Scheduler::QueueIndex(peer, vc)).lane = static_cast<uint8_t>(drawn);
  }
  UnblockPeer(instance, peer);
}

// ---- Sessions.

// PSNs of the next generation: a frame of this one that is still under way is far from them.
Psn Pipeline::FreshPsn(const Connection& connection) { return connection.next_psn().Plus(1 << 15); }

// The peer answers PLANE and FENCE: from now on its planes are as their sessions say. What is in
// flight in generation 0 is in doubt.
void Pipeline::BeginSessions(Instance& instance, uint32_t peer, Time now) {
  PeerPaths& paths = instance.paths[peer];
  paths.sessions = true;
  paths.unreachable = false;
  paths.alive_at = now;
  // What generation 0 could not reach is as its planes are from now on.
  bool lost = false;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    lost |= instance.scheduler.queue(Scheduler::QueueIndex(peer, vc)).lost;
  }
  if (lost) {
    MarkLost(instance, peer, kAllVcs, false);
    Tell(LcoreEventKind::kPeerReachable, instance, instance.ConnectionIndex(peer, 0, 0));
  }
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    if ((paths.present & 1u << plane) == 0) continue;
    PlaneSession& session = instance.session(peer, plane);
    const bool in_doubt = FreezeIfInDoubt(instance, peer, plane);
    session.GoDown(in_doubt, false, now, instance.params.paths);
    session.Begin(now);
    if (!in_doubt) session.NextGeneration();
    ArmSession(instance, peer, plane);
  }
  UpdateUsable(instance, peer);
}

PlaneSession::Facts Pipeline::FactsOf(const Instance& instance, uint32_t peer, uint32_t plane,
                                      Hold hold, Time now) const {
  PlaneSession::Facts facts{
      .port_up = instance.port_up[plane],
      .held = instance.plane_admin[plane] == PlaneAdmin::kDown,
      .in_flight = InFlight(instance, peer, plane),
      .held_up = hold == Hold::kOwn || hold == Hold::kPeers,
      .held_too_long = hold == Hold::kTooLong};
  const PeerPaths& paths = instance.paths[peer];
  const PathParams& params = instance.params.paths;
  // While another plane is heard, that one's timer sees when it falls silent.
  if (!paths.unreachable && !IsHeard(instance, peer)) {
    facts.look_at = std::max(paths.alive_at + params.unreachable, now + params.hello_interval);
  }
  const Time heard = instance.sessions[instance.PlaneIndex(peer, plane)].last_heard();
  for (uint32_t other = 0; other < instance.plane_count(); ++other) {
    const PlaneSession& session = instance.sessions[instance.PlaneIndex(peer, other)];
    facts.sibling_alive |= other != plane && session.up() && session.missed() < kSilent &&
                           session.last_heard() - heard > params.hello_interval;
  }
  return facts;
}

// Whether a plane to the peer is up and not silent: the peer is there.
bool Pipeline::IsHeard(const Instance& instance, uint32_t peer) {
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    const PlaneSession& session = instance.sessions[instance.PlaneIndex(peer, plane)];
    if (session.up() && session.missed() < instance.params.paths.hello_multiplier) return true;
  }
  return false;
}

void Pipeline::OnSessionTimer(Instance& instance, uint32_t peer, uint32_t plane, Time now) {
  PlaneSession& session = instance.session(peer, plane);
  if (!session.begun()) return;
  // The wheel asks early about what is far away.
  if (now < session.deadline()) return ArmSession(instance, peer, plane);
  const PathParams& params = instance.params.paths;
  const bool silent = session.up() && now - session.last_heard() >= params.hello_interval;
  const Hold hold = silent ? HoldOf(instance, peer, plane, now) : Hold::kNone;
  const PlaneSession::Facts facts = FactsOf(instance, peer, plane, hold, now);
  if (hold != Hold::kNone) AskSiblings(instance, peer, now);
  switch (session.OnTimer(now, facts, params)) {
    case PlaneSession::Want::kNothing: break;
    case PlaneSession::Want::kPlane:
      if (session.up() && session.missed() != 0) AskSiblings(instance, peer, now);
      SendPlane(instance, peer, plane, true);
      break;
    case PlaneSession::Want::kFence: SendFence(instance, peer, plane); break;
    case PlaneSession::Want::kHeldUp:
      if (hold == Hold::kOwn) {
        SayHeldUp(instance, peer, plane, now);
      } else {
        SendPlane(instance, peer, plane, true);  // it says again that it is so, or that it was
      }
      break;
    case PlaneSession::Want::kGoDown:
      PlaneDown(instance, peer, plane,
                facts.held            ? PlaneDownReason::kAdmin
                : !facts.port_up      ? PlaneDownReason::kLink
                : facts.held_too_long ? PlaneDownReason::kPaused
                                      : PlaneDownReason::kSilence,
                now);
      break;
  }
  CheckReach(instance, peer, now);
  ArmSession(instance, peer, plane);
}

// One plane is silent: whether that is the plane or the peer, the others will tell.
void Pipeline::AskSiblings(Instance& instance, uint32_t peer, Time now) {
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    PlaneSession& session = instance.session(peer, plane);
    if (!session.up() || session.missed() != 0) continue;
    session.OnTraffic(now, instance.params.paths);
    ArmSession(instance, peer, plane);
  }
}

void Pipeline::SendPlane(Instance& instance, uint32_t peer, uint32_t plane, bool reply_wanted) {
  PlaneHello hello{.plane = static_cast<uint8_t>(plane)};
  instance.session(peer, plane).FillPlane(reply_wanted, hello);
  // One that does not send in generations has nothing to wait for.
  if (!instance.has_planes()) hello.state = PlaneState::kUp;
  for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
    // Nothing older of the generation is in flight.
    hello.first[vc] =
        instance.connections[instance.ConnectionIndex(peer, plane, vc)].oldest_unacked();
  }
  SendControl(instance, peer, plane, hello);
}

void Pipeline::OnPlane(Instance& instance, uint32_t peer, uint32_t plane, const PlaneHello& hello,
                       Time now) {
  if (hello.held_up) return OnHeldUp(instance, peer, plane, hello.plane, now);
  if (instance.has_planes() && !instance.paths[peer].sessions) BeginSessions(instance, peer, now);
  PlaneSession& session = instance.session(peer, plane);
  const PlaneSession::Heard heard = session.OnPlane(hello, now, instance.params.paths);
  if (heard.stale) {
    instance.counters.Add(Counter::kRxPlaneStale);
    return;
  }
  for (uint32_t vc = 0; heard.adopt && vc < instance.connections_per_plane(); ++vc) {
    instance.connections[instance.ConnectionIndex(peer, plane, vc)].OpenReceive(hello.first[vc]);
  }
  if (instance.paths[peer].sessions) {
    if (heard.proved) OnProof(instance, peer, plane, now);
    if (heard.peer_down) PlaneDown(instance, peer, plane, PlaneDownReason::kPeer, now);
    if (heard.came_up) PlaneUp(instance, peer, plane);
    ArmSession(instance, peer, plane);
  }
  if (!hello.reply_wanted) return;
  SendPlane(instance, peer, plane, false);
  // The answer may lie where what it answers for does.
  if (session.up() && HoldOf(instance, peer, plane, nullptr, now) == Hold::kOwn) {
    SayHeldUp(instance, peer, plane, now);
  }
}

// The way there and back was proved. After silence on all planes it is the peer that has come back,
// and the others have another chance.
[[gnu::noinline]] void Pipeline::OnProof(Instance& instance, uint32_t peer, uint32_t plane,
                                         Time now) {
  PlaneSession& session = instance.session(peer, plane);
  if (session.missed() >= kSilent) {
    for (uint32_t other = 0; other < instance.plane_count(); ++other) {
      instance.session(peer, other).Pardon();
    }
  }
  session.OnProgress(now);
}

void Pipeline::PlaneUp(Instance& instance, uint32_t peer, uint32_t plane) {
  PeerPaths& paths = instance.paths[peer];
  instance.counters.Add(Counter::kPlaneReturns);
  TellPlane(LcoreEventKind::kPlaneUp, instance, peer, plane, 0);
  if (paths.unreachable) {
    paths.unreachable = false;
    MarkLost(instance, peer, kAllVcs, false);
    Tell(LcoreEventKind::kPeerReachable, instance, instance.ConnectionIndex(peer, plane, 0));
  }
  UpdateUsable(instance, peer);
  UnblockPeer(instance, peer);
}

}  // namespace suede
