// SPDX-License-Identifier: Apache-2.0
// How an instance and a peer get to know each other, and find that they do not any longer
// (docs/control-pdus.md, HELLO).
#include <algorithm>

#include "pipeline/pipeline.h"

namespace suede {
namespace {

// How often a timer of what is down looks whether it is up again.
constexpr Duration kDownLook = std::chrono::milliseconds(2);
// Of the number space: the part that first PSNs are drawn from where frames of a former association
// may still be in a device, opposite to what these have.
constexpr int kOpposite = 1 << 15;
constexpr int kDrawnFrom = 1 << 14;

Psn DrawFirst(const Connection& connection, SecretNumbers& numbers) {
  const auto drawn = static_cast<uint16_t>(numbers.Next() >> 16);
  if (connection.tx_pdus() == 0) return Psn(drawn);
  return connection.next_psn().Plus(kOpposite - kDrawnFrom / 2 + drawn % kDrawnFrom);
}

// Lines of a receive ring that the commands of a PDU may take.
uint16_t ReceiveLines(const InstanceParams& params) {
  if (params.receive_lines == 0) return 0;
  return static_cast<uint16_t>(std::min<uint32_t>(params.receive_lines - kWrapLines, UINT16_MAX));
}

}  // namespace

Disagreement Compare(const Hello& own, const Hello& theirs) {
  if (theirs.psn_scope != own.psn_scope) {
    return {HelloMismatch::kPsnScope, own.psn_scope, theirs.psn_scope};
  }
  if (theirs.sessions != own.sessions) {
    return {HelloMismatch::kSessions, own.sessions, theirs.sessions};
  }
  if (theirs.window_pdus == 0 || theirs.window_pdus > kMaxWindowPdus) {
    return {HelloMismatch::kWindowPdus, own.window_pdus, theirs.window_pdus};
  }
  if (theirs.pack_limit_bytes > own.receive_bytes) {
    return {HelloMismatch::kPackLimitBytes, own.receive_bytes, theirs.pack_limit_bytes};
  }
  if (theirs.receive_bytes != 0 && theirs.receive_bytes < own.pack_limit_bytes) {
    return {HelloMismatch::kPackLimitBytes, own.pack_limit_bytes, theirs.receive_bytes};
  }
  return {};
}

// ---- Saying HELLO.

Hello Pipeline::MakeHello(const Instance& instance, uint32_t peer, bool reply_wanted,
                          uint64_t echo) {
  const InstanceParams& params = instance.params;
  const Handshake& handshake = instance.handshakes[peer];
  std::array<uint32_t, kVcCount> limits;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    limits[vc] = instance.rx_credit[Scheduler::QueueIndex(peer, vc)].limit;
  }
  return {.nonce = handshake.nonce(),
          .echo = echo,
          .psn_scope = static_cast<uint8_t>(params.transport.psn_scope),
          .answers_planes = true,
          .sends_generations = instance.has_planes(),
          .counts_credit = params.counts_credit,
          .window_pdus = static_cast<uint16_t>(params.transport.window_pdus),
          .pack_limit_bytes = static_cast<uint16_t>(params.pack_limit_bytes),
          .receive_bytes = static_cast<uint16_t>(ReceiveBytes(instance)),
          .receive_lines = ReceiveLines(params),
          .first = handshake.first(),
          .credit_lines = limits,
          .reply_wanted = reply_wanted,
          .hears_pauses = true};
}

// Bytes of commands in the largest PDU that fits every port of the instance.
uint32_t Pipeline::ReceiveBytes(const Instance& instance) {
  uint32_t least = kMaxPackBytes;
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    // Headers are as long for every peer and class.
    const uint32_t around = instance.header(0, plane, 0).length + kRhBytes + kRcrcBytes;
    least = std::min(least, instance.ports[plane]->link.max_frame_bytes() - around);
  }
  return least;
}

// Asks the peer for its HELLO, over one plane after the other where there are several.
void Pipeline::SendHello(Instance& instance, uint32_t peer) {
  PeerPaths& paths = instance.paths[peer];
  uint32_t plane = 0;
  for (uint32_t i = 0; i < instance.plane_count(); ++i) {
    plane = paths.turn++ % instance.plane_count();
    const bool sends = !instance.has_planes() || instance.port_up[plane];
    if (sends && (paths.present & 1u << plane) != 0) break;
  }
  SendControl(instance, peer, plane, MakeHello(instance, peer, true, 0));
}

// Begins to say hello to the peer, if that has not begun. Without its MAC address nobody would hear
// it; what waits asks again once the address is known.
void Pipeline::Greet(Instance& instance, uint32_t peer, Time now) {
  if (IsResolving(instance, peer)) return;
  instance.handshakes[peer].OnDemand(now);
  ArmHandshake(instance, peer);
}

void Pipeline::OnHandshakeTimer(Instance& instance, uint32_t peer, Time now) {
  Handshake& handshake = instance.handshakes[peer];
  const PathParams& paths = instance.params.paths;
  if (instance.has_planes() && !AnyPortUp(instance, peer)) {
    handshake.Hold(now + kDownLook);
    return ArmHandshake(instance, peer);
  }
  const HandshakeTimerVerdict verdict = handshake.OnTimer(
      now, instance.params.transport, paths.hello_idle, paths.unreachable);
  if (verdict.hello) SendHello(instance, peer);
  if (verdict.probe) SendProbes(instance, peer);
  if (verdict.plain) OnPlain(instance, peer);
  if (verdict.silent) OnSilence(instance, peer);
  ArmHandshake(instance, peer);
}

// ---- Hearing HELLO.

// Whether a control PDU is between the two boots that run. If not, the peer is asked.
bool Pipeline::IsOfAssociation(Instance& instance, uint32_t peer, uint32_t plane,
                               const Identities& named) {
  const Handshake& handshake = instance.handshakes[peer];
  const Identities ours = handshake.identities();
  if (handshake.associated() && named.own == ours.peer && named.peer == ours.own) return true;
  instance.counters.Add(Counter::kRxAssociation);
  SendControl(instance, peer, plane, MakeHello(instance, peer, true, 0));
  return false;
}

void Pipeline::OnHello(Instance& instance, uint32_t peer, uint32_t plane, const Hello& hello,
                       Time now) {
  Handshake& handshake = instance.handshakes[peer];
  const bool is_pong = TakePong(instance, peer, hello, now);
  const HelloVerdict verdict = handshake.OnHello(hello, now, instance.numbers, is_pong);
  if (verdict.stranger) {
    instance.counters.Add(Counter::kRxHelloUnverified);
    if (hello.reply_wanted) {
      SendControl(instance, peer, plane, MakeHello(instance, peer, true, hello.nonce));
    }
    return;
  }
  instance.hellos[peer] = hello;
  if (verdict.new_peer) EndAssociation(instance, peer);
  if (!Judge(instance, peer, now)) {
    instance.counters.Add(Counter::kHelloMismatch);
    // It does not ask back: two that do not fit would do so for ever.
    if (hello.reply_wanted) {
      SendControl(instance, peer, plane, MakeHello(instance, peer, false, hello.nonce));
    }
    ArmHandshake(instance, peer);
    return;
  }
  if (verdict.knows_us && handshake.Agree()) {
    OpenAssociation(instance, peer);
    if (hello.reply_wanted) GrantFirst(instance, peer);
  }
  const uint32_t end = instance.ConnectionIndex(peer + 1, 0, 0);
  for (uint32_t number = instance.ConnectionIndex(peer, 0, 0); number < end; ++number) {
    instance.connections[number].SetPeerWindow(hello.window_pdus);
  }
  if (hello.reply_wanted) {
    SendControl(instance, peer, plane,
                MakeHello(instance, peer, !handshake.open(), hello.nonce));
  }
  UpdateUsable(instance, peer);
  if (instance.has_planes() && hello.answers_planes && handshake.associated() &&
      !instance.paths[peer].sessions) {
    BeginSessions(instance, peer, now);
  }
  for (uint32_t vc = 0; verdict.knows_us && vc < instance.connections_per_plane(); ++vc) {
    const uint32_t number = instance.ConnectionIndex(peer, plane, vc);
    if (hello.reply_wanted && handshake.associated()) {
      // It may have lost us: say what we expect.
      instance.connections[number].OnDuplicate();
      OweAck(instance, number, now);
    }
  }
  // What waits has to make itself heard again: the peer's next HELLO may be lost.
  if (instance.blocked[peer] != 0 && !handshake.open()) Greet(instance, peer, now);
  ArmHandshake(instance, peer);
  UnblockPeer(instance, peer);
}

// Whether what the peer last said of its settings fits ours. What does not is told once, and nothing
// is sent to such a peer.
bool Pipeline::Judge(Instance& instance, uint32_t peer, Time now) {
  const Disagreement found =
      Compare(MakeHello(instance, peer, false, 0), instance.hellos[peer]);
  const auto known = static_cast<HelloMismatch>(instance.mismatched[peer]);
  instance.mismatched[peer] = static_cast<uint8_t>(found.what);
  if (found.what == HelloMismatch::kNone) {
    if (known != HelloMismatch::kNone) MarkLost(instance, peer, kAllVcs, false);
    return true;
  }
  if (found.what != known) {
    Tell({.kind = LcoreEventKind::kHelloMismatch,
          .what = static_cast<uint8_t>(found.what),
          .peer_xpuid = instance.params.peers[peer].xpuid,
          .instance = instance.number,
          .own = found.own,
          .theirs = found.theirs});
  }
  instance.handshakes[peer].Refuse(now, instance.params.transport);
  UpdateUsable(instance, peer);
  MarkLost(instance, peer, kAllVcs, true);
  GiveUpQueued(instance, peer, kAllVcs, SUEDE_STATUS_UNREACHABLE);
  return false;
}

// New settings of ours: whether the peer still fits, and whether we fit it.
void Pipeline::JudgeAgain(Instance& instance, uint32_t peer, Time now) {
  if (instance.handshakes[peer].identities().peer == 0) return;
  if (Judge(instance, peer, now)) UpdateUsable(instance, peer);
  SendHello(instance, peer);
  ArmHandshake(instance, peer);
}

// ---- Associations.

// The peer is another boot than the one that PDUs were exchanged with, if any were: what was in
// flight to that is over, and sequence numbers start anew.
void Pipeline::EndAssociation(Instance& instance, uint32_t peer) {
  PeerPaths& paths = instance.paths[peer];
  Handshake& handshake = instance.handshakes[peer];
  VcPsns first;
  bool history = false;
  for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
    first[vc] = DrawFirst(instance.connections[instance.ConnectionIndex(peer, 0, vc)],
                          instance.numbers);
  }
  handshake.SetFirst(first);
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    instance.session(peer, plane).Reset();
    for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
      const uint32_t number = instance.ConnectionIndex(peer, plane, vc);
      Connection& connection = instance.connections[number];
      history |= connection.MayHaveHistory();
      PduList given_up;
      connection.Reset(given_up);
      connection.Restart(first[vc], given_up);
      connection.CloseReceive();
      Complete(instance, given_up, plane, SUEDE_STATUS_PEER_RESET);
    }
  }
  EndCredit(instance, peer);
  paths.sessions = false;
  paths.moving = false;
  paths.unreachable = false;
  if (!history) return;
  instance.counters.Add(Counter::kPeerResets);
  Tell({.kind = LcoreEventKind::kPeerReset,
        .peer_xpuid = instance.params.peers[peer].xpuid,
        .instance = instance.number});
}

// Both ends have agreed: what the peer sends is accepted, from the PSNs on that it has named. Where it
// sends in generations, a PLANE brings those.
void Pipeline::OpenAssociation(Instance& instance, uint32_t peer) {
  const Hello& hello = instance.hellos[peer];
  const uint32_t end = instance.ConnectionIndex(peer + 1, 0, 0);
  for (uint32_t number = instance.ConnectionIndex(peer, 0, 0);
       !hello.sends_generations && number < end; ++number) {
    instance.connections[number].OpenReceive(hello.first[instance.VcOfConnection(number)]);
  }
  BeginCredit(instance, peer);
  FindAgain(instance, peer);
}

// The peer counts as lost no longer, if it did.
void Pipeline::FindAgain(Instance& instance, uint32_t peer) {
  bool lost = false;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    lost |= instance.scheduler.queue(Scheduler::QueueIndex(peer, vc)).lost;
  }
  if (!lost) return;
  MarkLost(instance, peer, kAllVcs, false);
  Tell(LcoreEventKind::kPeerReachable, instance, instance.ConnectionIndex(peer, 0, 0));
}

// The connections to the peer are out of step, and no acknowledgement will bring them back.
void Pipeline::StartOver(Instance& instance, uint32_t peer, Time now) {
  instance.counters.Add(Counter::kDesynchronized);
  instance.handshakes[peer].StartOver(now, instance.numbers);
  EndAssociation(instance, peer);
  UpdateUsable(instance, peer);
  ArmHandshake(instance, peer);
}

// ---- Peers that do not speak HELLO, or not yet.

// A data PDU on a connection that accepts nothing: of a generation that has ended, or of a peer with
// which there is no association.
[[gnu::cold]] void Pipeline::OnClosed(Instance& instance, const ReceivedPdu& pdu, bool sequenced,
                                      Time now) {
  Handshake& handshake = instance.handshakes[pdu.peer];
  if (handshake.open()) {
    if (sequenced) instance.counters.Add(Counter::kRxFenced);
    return;
  }
  handshake.OnData(now);
  if (sequenced) {
    instance.counters.Add(Counter::kRxBeforeHello);
    Greet(instance, pdu.peer, now);
  } else if (pdu.rh.op == RhOp::kNack && handshake.identities().peer == 0) {
    OnProbePong(instance, pdu.peer, pdu.plane, now);
    // It answers a probe. If it is plain, this is what it accepts next.
    PduList none;
    instance.connections[instance.ConnectionIndex(pdu.peer, pdu.plane, pdu.rh.vc)].Restart(
        pdu.rh.rpsn, none);
  }
}

// Asks each connection of the peer what it expects: an unsequenced PDU ahead of that is answered
// with a NACK (wire profile §6). What it expects is not known, so quarter after quarter is tried.
void Pipeline::SendProbes(Instance& instance, uint32_t peer) {
  const auto ahead = static_cast<int>(instance.handshakes[peer].probe_quarter() << 14) + 1;
  const uint32_t end = instance.ConnectionIndex(peer + 1, 0, 0);
  for (uint32_t number = instance.ConnectionIndex(peer, 0, 0); number < end; ++number) {
    const uint32_t plane = instance.PlaneOfConnection(number);
    if ((instance.paths[peer].present & 1u << plane) == 0) continue;
    SendUnsequenced(instance, number, {}, instance.connections[number].next_psn().Plus(ahead),
                    Instance::kAckClass);
  }
}

void Pipeline::OnPlain(Instance& instance, uint32_t peer) {
  const uint32_t end = instance.ConnectionIndex(peer + 1, 0, 0);
  for (uint32_t number = instance.ConnectionIndex(peer, 0, 0); number < end; ++number) {
    instance.connections[number].OpenReceive(Psn(0));
  }
  NoCredit(instance, peer);
  FindAgain(instance, peer);
  UpdateUsable(instance, peer);
  UnblockPeer(instance, peer);
}

// No answer of any kind for too long: nothing of what waits was ever sent.
void Pipeline::OnSilence(Instance& instance, uint32_t peer) {
  if (!instance.IsUnreachable(peer)) {
    instance.counters.Add(Counter::kUnreachable);
    Tell(LcoreEventKind::kPeerUnreachable, instance, instance.ConnectionIndex(peer, 0, 0));
  }
  MarkLost(instance, peer, kAllVcs, true);
  GiveUpQueued(instance, peer, kAllVcs, SUEDE_STATUS_UNREACHABLE);
}

}  // namespace suede
