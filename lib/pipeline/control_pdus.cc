// What endpoints tell each other in control PDUs (docs/control-pdus.md): HELLO, NOT_READY, READY,
// and the way of the others to planes.cc and failover.cc.
#include <algorithm>

#include "pipeline/pipeline.h"
#include "wire/control_pdu.h"

namespace suede {

// False where there was no room to stage it: it is as if it were lost on the way.
bool Pipeline::SendControl(Instance& instance, uint32_t peer, uint32_t plane,
                           const ControlMessage& message) {
  PortContext& port = *instance.ports[plane];
  if (instance.resolving[instance.PlaneIndex(peer, plane)] != 0) [[unlikely]] {
    instance.counters.Add(Counter::kTxNoMac);
    return true;  // it is lost on the way
  }
  if (instance.down || !port.HasStageRoom() || !port.HasFrames(1)) return false;
  Pdu* pdu = port.NewPdu();
  pdu->peer = static_cast<uint16_t>(peer);
  pdu->orphaned = true;
  pdu->bytes = static_cast<uint16_t>(EncodeControl(message, pdu->commands));
  WriteFrame(instance, plane, pdu, Instance::kAckClass,
             ControlRh(instance.params.xpuid, instance.params.partition));
  port.Stage(pdu);
  instance.counters.Add(Counter::kTxControlPdus);
  return true;
}

Hello Pipeline::MakeHello(const Instance& instance, uint32_t peer, bool reply_wanted) const {
  const InstanceParams& params = instance.params;
  return {.epoch = params.epoch,
          .peer_epoch = instance.handshakes[peer].peer_epoch(),
          .psn_scope = static_cast<uint8_t>(params.transport.psn_scope),
          .window_pdus = static_cast<uint16_t>(params.transport.window_pdus),
          .pack_limit_bytes = static_cast<uint16_t>(params.pack_limit_bytes),
          .receive_bytes = static_cast<uint16_t>(ReceiveBytes(instance)),
          .answers_planes = true,
          .sends_generations = instance.has_planes(),
          .reply_wanted = reply_wanted,
          .continuing = instance.MayHaveHistory(peer)};
}

// Octets of commands in the largest PDU that fits every port of the instance.
uint32_t Pipeline::ReceiveBytes(const Instance& instance) {
  uint32_t least = kMaxPackBytes;
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    // Headers are as long for every peer and class.
    const uint32_t around = instance.header(0, plane, 0).length + kRhBytes + kRcrcBytes;
    least = std::min(least, instance.ports[plane]->port->max_frame_bytes() - around);
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
  SendControl(instance, peer, plane, MakeHello(instance, peer, true));
}

[[gnu::cold]] void Pipeline::OnControlPdu(Instance& instance, const ReceivedPdu& pdu, Time now) {
  ControlMessage message;
  switch (DecodeControl(pdu.commands, pdu.bytes, message)) {
    case ControlError::kNone: break;
    case ControlError::kUnknownType:
      instance.counters.Add(Counter::kRxControlUnknown);
      return;
    case ControlError::kMalformed:
      instance.counters.Add(Counter::kRxControlMalformed);
      return;
  }
  instance.counters.Add(Counter::kRxControlPdus);
  if (const auto* hello = std::get_if<Hello>(&message)) {
    OnHello(instance, pdu.peer, pdu.plane, *hello, now);
  } else if (const auto* not_ready = std::get_if<NotReady>(&message)) {
    OnNotReady(instance, pdu, *not_ready, now);
  } else if (const auto* ready = std::get_if<Ready>(&message)) {
    const uint32_t number = instance.ConnectionIndex(pdu.peer, pdu.plane, ready->vc);
    instance.connections[number].OnReady(ready->expected, now);
    OnConnectionTimer(instance, number, now);
  } else if (const auto* plane = std::get_if<PlaneHello>(&message)) {
    OnPlane(instance, pdu.peer, pdu.plane, *plane, now);
  } else if (const auto* fence = std::get_if<Fence>(&message)) {
    OnFence(instance, pdu.peer, pdu.plane, *fence, now);
  } else if (const auto* fenced = std::get_if<Fenced>(&message)) {
    OnFenced(instance, pdu.peer, pdu.plane, *fenced, now);
  }
}

void Pipeline::OnNotReady(Instance& instance, const ReceivedPdu& pdu, const NotReady& message,
                          Time now) {
  const uint32_t number = instance.ConnectionIndex(pdu.peer, pdu.plane, message.vc);
  PduList acked;
  const RpsnVerdict verdict = instance.connections[number].OnNotReady(
      message.expected, std::chrono::microseconds(message.backoff_us), now,
      instance.params.transport, acked);
  if (verdict == RpsnVerdict::kOutOfWindow) instance.counters.Add(Counter::kRxRpsnInvalid);
  instance.counters.Add(Counter::kPauses);
  // It is an answer to what we have sent, whether it was accepted or not.
  if (instance.has_planes() && instance.connections[number].paused()) {
    OnProof(instance, pdu.peer, pdu.plane, now);
  }
  OnAcked(instance, number, acked);
  Unblock(instance, number);
  ArmConnection(instance, number);
}

void Pipeline::OnHello(Instance& instance, uint32_t peer, uint32_t plane, const Hello& hello,
                       Time now) {
  Handshake& handshake = instance.handshakes[peer];
  if (OnHelloMismatch(instance, peer, plane, hello)) return;
  const uint32_t epoch_before = handshake.peer_epoch();
  const HelloVerdict verdict = handshake.OnHello(
      {.epoch = hello.epoch,
       .peer_epoch = hello.peer_epoch,
       .reply_wanted = hello.reply_wanted,
       .continuing = hello.continuing},
      instance.params.epoch, instance.HasHistory(peer));
  if (handshake.peer_epoch() != epoch_before) {
    OnNewBoot(instance, peer, verdict.reset, hello.sends_generations);
  }
  if (verdict.reply) {
    SendControl(instance, peer, plane,
                MakeHello(instance, peer, hello.peer_epoch != instance.params.epoch));
  }
  UpdateUsable(instance, peer);
  if (instance.has_planes() && hello.answers_planes && handshake.open() &&
      hello.epoch == handshake.peer_epoch() && !instance.paths[peer].sessions) {
    BeginSessions(instance, peer, now);
  }
  for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
    const uint32_t number = instance.ConnectionIndex(peer, plane, vc);
    if (!hello.reply_wanted && hello.peer_epoch == instance.params.epoch) {
      instance.connections[number].OnProbeAnswered();
    }
    if (verdict.reply && hello.peer_epoch == instance.params.epoch) {
      // It may have lost us: say what we expect.
      instance.connections[number].OnDuplicate();
      OweAck(instance, number, now);
    }
  }
  // What waits has to make itself heard again: the peer's next HELLO may be lost.
  if (instance.blocked[peer] != 0 && !handshake.open()) Greet(instance, peer, now);
  UnblockPeer(instance, peer);
}

// What does not agree is told once, and refused: nothing is sent to such a peer. Returns whether it
// is so.
bool Pipeline::OnHelloMismatch(Instance& instance, uint32_t peer, uint32_t plane,
                               const Hello& hello) {
  const auto scope = static_cast<uint8_t>(instance.params.transport.psn_scope);
  HelloMismatch what = HelloMismatch::kNone;
  uint32_t own = 0;
  uint32_t theirs = 0;
  if (hello.psn_scope != scope) {
    what = HelloMismatch::kPsnScope;
    own = scope;
    theirs = hello.psn_scope;
  } else if (hello.window_pdus > kMaxWindowPdus) {
    what = HelloMismatch::kWindowPdus;
    own = instance.params.transport.window_pdus;
    theirs = hello.window_pdus;
  } else if (hello.pack_limit_bytes > ReceiveBytes(instance)) {
    what = HelloMismatch::kPackLimitBytes;
    own = ReceiveBytes(instance);
    theirs = hello.pack_limit_bytes;
  } else if (hello.receive_bytes != 0 && hello.receive_bytes < instance.params.pack_limit_bytes) {
    what = HelloMismatch::kPackLimitBytes;
    own = instance.params.pack_limit_bytes;
    theirs = hello.receive_bytes;
  }
  const auto known = static_cast<HelloMismatch>(instance.mismatched[peer]);
  instance.mismatched[peer] = static_cast<uint8_t>(what);
  if (what == HelloMismatch::kNone) {
    if (known != HelloMismatch::kNone) MarkLost(instance, peer, kAllVcs, false);
    return false;
  }
  instance.counters.Add(Counter::kHelloMismatch);
  if (what != known) {
    Tell({.kind = LcoreEventKind::kHelloMismatch,
          .what = static_cast<uint8_t>(what),
          .peer_xpuid = instance.params.peers[peer].xpuid,
          .instance = instance.number,
          .own = own,
          .theirs = theirs});
  }
  if (hello.reply_wanted) SendControl(instance, peer, plane, MakeHello(instance, peer, false));
  UpdateUsable(instance, peer);
  MarkLost(instance, peer, kAllVcs, true);
  GiveUpQueued(instance, peer, kAllVcs, SUEDE_STATUS_UNREACHABLE);
  return true;
}

// A HELLO has named a boot of the peer that we did not know. `reset`: PDUs were exchanged with its
// last one; what was in flight to that is over, and sequence numbers start anew.
void Pipeline::OnNewBoot(Instance& instance, uint32_t peer, bool reset, bool sends_generations) {
  PeerPaths& paths = instance.paths[peer];
  if (reset) {
    instance.counters.Add(Counter::kPeerResets);
    Tell({.kind = LcoreEventKind::kPeerReset,
          .peer_xpuid = instance.params.peers[peer].xpuid,
          .instance = instance.number});
  }
  const bool lost = paths.unreachable;
  if (reset) {
    paths.sessions = false;
    paths.unreachable = false;
    paths.moving = false;
  }
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    if (reset) instance.session(peer, plane).Reset();
    for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
      const uint32_t number = instance.ConnectionIndex(peer, plane, vc);
      Connection& connection = instance.connections[number];
      if (reset) {
        if (connection.lost()) Tell(LcoreEventKind::kPeerReachable, instance, number);
        PduList given_up;
        const Psn first = FreshPsn(connection);
        connection.Reset(given_up);
        if (instance.has_planes()) connection.Restart(first, given_up);
        Complete(instance, given_up, plane, SUEDE_STATUS_PEER_RESET);
      }
      if (sends_generations) connection.CloseReceive();
    }
  }
  if (!reset) return;
  if (lost) Tell(LcoreEventKind::kPeerReachable, instance, instance.ConnectionIndex(peer, 0, 0));
  MarkLost(instance, peer, kAllVcs, false);
}

// Tells senders whose PDU was refused that there is room now.
void Pipeline::SendReady() {
  for (size_t i = refused_.size(); i != 0; --i) {
    const Refused refused = refused_.front();
    refused_.pop_front();
    Instance& instance = *instances_[refused.instance];
    const Connection& connection = instance.connections[refused.connection];
    // It came again and was accepted; a later one may have been refused since.
    if (!connection.not_ready() || connection.expected() != refused.psn) continue;
    const uint32_t client = instance.claimed_by[refused.vc];
    const bool room = client == Instance::kNoClient
                          ? instance.unclaimed_count[refused.vc] < instance.params.unclaimed_pdus
                          : instance.unclaimed[refused.vc].empty() &&
                                clients_[client].rings[refused.vc].HasRoom(refused.lines);
    const uint32_t peer = instance.PeerOfConnection(refused.connection);
    const uint32_t plane = instance.PlaneOfConnection(refused.connection);
    if (!room || !SendControl(instance, peer, plane,
                              Ready{.vc = refused.vc, .expected = connection.expected()})) {
      refused_.push_back(refused);
      continue;
    }
    // Should it get lost: the sender's own wait ends some time, and another refusal asks again.
    instance.connections[refused.connection].OnRoom();
  }
}

}  // namespace suede
