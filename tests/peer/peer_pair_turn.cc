// SPDX-License-Identifier: Apache-2.0
// A pipeline's work in a turn: send, receive, look at the time.
#include <algorithm>
#include <bit>

#include "peer_host.h"
#include "peer_pair.h"

namespace suede {

// ---- A pipeline's turn.

void PeerPair::Turn(Host& host) {
  for (Vc vc = 0; vc < kVcCount; ++vc) SendQueued(host, vc);
  SendAgain(host);
  if (!host.refusing) {
    for (; host.refused != 0; host.refused &= host.refused - 1) {
      const auto number = Lowest<ConnectionIndex>(host.refused);
      Connection& connection = host.connections[number];
      if (!connection.rx().not_ready()) continue;
      Say(host, host.own->map.PlaneOf(number),
          Ready{.vc = static_cast<uint8_t>(host.own->map.VcOf(number)),
                .expected = connection.rx().expected()});
      connection.rx().OnRoom();
    }
  }
  PayAcks(host);
  if (FailedPlanes& failed = host.own->failed; failed.has_work()) {
    failed.NextPeer(1);
    Effects effects;
    host.peer->probes().OnFailedPlanes(failed.report(), now_, effects);
    Apply(host, effects);
    failed.End();
  }
}

uint32_t PeerPair::PlaneFor(const Host& host, PathConnection number, uint32_t bytes) const {
  uint32_t left = host.paths.choice[host.own->map.VcOf(number)];
  while (left != 0) {
    const PlaneIndex plane(host.paths.Choose(static_cast<PlaneMask>(left), host.own->inflight_bytes,
                                             host.own->shares, bytes));
    if (host.peer->connection(plane, number).tx().CanSend(bytes, host.transport)) return plane;
    left &= ~(1u << plane);
  }
  return PeerPaths::kNoPlane;
}

void PeerPair::SendQueued(Host& host, Vc vc) {
  const PathConnection of = host.own->map.Number(0, vc);
  while (!host.queues[vc].empty() && (host.blocked & 1u << vc) == 0) {
    const PlaneIndex plane(PlaneFor(host, of, host.queues[vc].head()->bytes));
    if (plane == PeerPaths::kNoPlane) {
      host.blocked = static_cast<uint8_t>(host.blocked | 1u << vc);
      if (host.paths.usable != 0) return;
      Effects effects;
      host.peer->association().OnWaiting(now_, effects);
      return Apply(host, effects);
    }
    if (host.own->is_strict() && host.at(plane, of).in_flight().count() == 0 &&
        host.peer->choice().placement().OnFlowBegins(vc)) {
      continue;
    }
    Pdu* pdu = host.queues[vc].PopFront();
    Connection& connection = host.at(plane, of);
    connection.tx().OnSend(pdu, now_, host.transport);
    host.paths.OnSend(plane, pdu->bytes);
    host.own->shares.Note(host.paths.share);
    host.own->inflight_bytes[plane] += pdu->bytes;
    if (host.own->has_sessions && connection.in_flight().count() == 1) host.own->OnBusy(plane);
    Time& due = host.due[Host::kFirstConnection + host.NumberOf(plane, of)];
    due = std::min(due, connection.deadline());
    if (connection.in_flight().count() == 1 && host.sessions[plane].up()) {
      host.sessions[plane].OnTraffic(now_, host.params);
      Time& session_due = host.due[Host::kFirstSession + plane];
      session_due = std::min(session_due, host.sessions[plane].deadline());
    }
    Letter letter;
    letter.sequenced = true;
    letter.vc = letter.of_class = static_cast<uint8_t>(vc);
    letter.field = connection.rx().TakeRpsn();
    letter.psn = pdu->psn;
    letter.id = static_cast<uint32_t>(pdu->tags[0]);
    Send(host, plane, letter);
  }
}

void PeerPair::SendAgain(Host& host) {
  for (; host.resends != 0; host.resends &= host.resends - 1) {
    const auto number = Lowest<ConnectionIndex>(host.resends);
    const PlaneIndex plane = host.own->map.PlaneOf(number);
    Connection& connection = host.connections[number];
    while (connection.in_flight().HasRetransmission()) {
      Pdu* pdu = connection.tx().TakeRetransmission(now_, host.transport);
      connection.tx().CountRetransmission();
      Letter letter;
      letter.sequenced = true;
      letter.vc = letter.of_class = pdu->vc;
      letter.field = connection.rx().TakeRpsn();
      letter.psn = pdu->psn;
      letter.id = static_cast<uint32_t>(pdu->tags[0]);
      Send(host, plane, letter);
    }
    if (host.peer->choice().placement().MaySend(plane, host.own->map.NumberOf(number))) {
      host.blocked &= static_cast<uint8_t>(~host.own->map.VcsOf(number));
    }
  }
}

void PeerPair::PayAcks(Host& host) {
  for (; host.owes != 0; host.owes &= host.owes - 1) {
    const auto number = Lowest<ConnectionIndex>(host.owes);
    Connection& connection = host.connections[number];
    if (!connection.rx().HasPendingAck()) continue;
    SendBare(host, host.own->map.PlaneOf(number), host.own->map.NumberOf(number),
             connection.rx().TakeRpsn(), connection.tx().UnsequencedPsn());
  }
}

// ---- Received messages.

// Whether the letter is one that may come from anywhere, or of the plane that this one is paired
// with: as a receiver sees it by the stream of a sealed PDU.
bool PeerPair::IsOfPair(const Host& host, PlaneIndex plane, const Letter& letter) {
  const ControlMessage& message = letter.message;
  if (letter.control && (std::holds_alternative<Hello>(message) || NamesPlane(message)))
    return true;
  return host.sessions[plane].paired() && host.sessions[plane].peer_plane() == letter.plane;
}

void PeerPair::Receive(Host& host, PlaneIndex plane, const Letter& letter) {
  if (!host.own->port_up(plane) || host.own->admin[plane] == PlaneAdmin::kDown) return;
  if (alike_ && !IsOfPair(host, plane, letter)) return;
  Effects effects;
  if (letter.control) {
    host.peer->OnControl(plane, letter.message, {.waits = host.blocked != 0, .sealed = alike_},
                         now_, effects);
    return Apply(host, effects);
  }
  const PathConnection of = host.own->map.Number(0, Vc(letter.vc));
  Connection& connection = host.at(plane, of);
  if (letter.field.op != RhOp::kNothing) {
    if (connection.rx().IsPlausible(letter.psn, host.transport)) {
      OnRpsn(host, plane, of, letter);
    } else {
      connection.tx().OnImplausible();
    }
  }
  if (letter.sequenced) return OnSequenced(host, plane, of, letter);
  if (connection.rx().closed()) {
    host.peer->association().OnClosedData(plane, of, false, letter.field.op, letter.field.rpsn,
                                          now_, effects);
    return Apply(host, effects);
  }
  if (connection.rx().Classify(letter.psn) != PsnVerdict::kAhead) return;
  connection.rx().OnAnnounced(letter.psn, now_, host.transport);
  if (connection.rx().MustAckNow(host.transport)) host.owes |= 1u << host.NumberOf(plane, of);
  Time& due = host.due[Host::kFirstConnection + host.NumberOf(plane, of)];
  due = std::min(due, connection.deadline());
}

void PeerPair::OnRpsn(Host& host, PlaneIndex plane, PathConnection number, const Letter& letter) {
  Connection& connection = host.at(plane, number);
  const uint32_t before = connection.in_flight().bytes();
  PduList acked;
  RpsnVerdict verdict;
  if (letter.field.op == RhOp::kAck) {
    verdict = connection.tx().OnAck(letter.field.rpsn, now_, host.transport, acked);
  } else {
    verdict = connection.tx().OnNack(letter.field.rpsn, now_, host.transport, acked);
    if (connection.in_flight().HasRetransmission())
      host.resends |= 1u << host.NumberOf(plane, number);
    Time& due = host.due[Host::kFirstConnection + host.NumberOf(plane, number)];
    due = std::min(due, connection.deadline());
  }
  Effects effects;
  if (verdict == RpsnVerdict::kResumed) host.peer->reach().OnResumed(plane, number, effects);
  if (host.own->has_sessions && !acked.empty()) {
    host.peer->health().OnProof(plane, now_);
    if (connection.in_flight().oldest() == nullptr) host.own->OnIdle(plane);
  }
  if (connection.tx().has_aside()) host.peer->flight().TakeBack(plane, number);
  host.paths.OnEnd(plane, before - connection.in_flight().bytes());
  host.own->inflight_bytes[plane] -= before - connection.in_flight().bytes();
  End(acked, Status::kOk);
  if (host.paths.moving) host.peer->choice().OnEnded(effects);
  Apply(host, effects);
  if (host.peer->choice().placement().MaySend(plane, number))
    host.blocked &= static_cast<uint8_t>(~host.own->map.VcsOf(number));
}

void PeerPair::OnSequenced(Host& host, PlaneIndex plane, PathConnection number,
                           const Letter& letter) {
  Connection& connection = host.at(plane, number);
  const uint32_t at = host.NumberOf(plane, number);
  if (connection.rx().closed()) {
    Effects effects;
    host.peer->association().OnClosedData(plane, number, true, letter.field.op, letter.field.rpsn,
                                          now_, effects);
    return Apply(host, effects);
  }
  switch (connection.rx().Classify(letter.psn)) {
    case PsnVerdict::kAhead:
      connection.rx().OnGap(now_, host.transport);
      break;
    case PsnVerdict::kBehind:
      connection.rx().OnDuplicate(letter.psn, host.transport);
      break;
    case PsnVerdict::kExpected:
      if (host.refusing) {
        connection.rx().OnRefused();
        host.refused |= 1u << at;
        return Say(
            host, plane,
            NotReady{.vc = letter.vc, .expected = connection.rx().expected(), .backoff_us = 100});
      }
      connection.rx().Accept();
      ++seen_.delivered;
      if (++records_[letter.id].arrivals != 1) FailUnlessPlain("arrived twice");
      if (records_[letter.id].status == Status::kUnreachable)
        FailUnlessPlain("arrived, and was unreachable");
      break;
  }
  host.owes |= 1u << at;
}

// ---- Time.

Hold PeerPair::HoldOf(const Host& host, PlaneIndex plane) const {
  if ((host.held & 1u << plane) != 0) {
    return now_ - host.held_since[plane] < host.transport.pause_limit ? Hold::kOwn : Hold::kTooLong;
  }
  const PlaneSession& session = host.sessions[plane];
  return session.IsExcused(now_, host.transport.pause_limit) ? Hold::kPeers : Hold::kNone;
}

void PeerPair::OnConnectionDeadline(Host& host, PlaneIndex plane, PathConnection number) {
  const bool times_out = host.at(plane, number).tx().TimesOut(now_);
  Effects effects;
  host.peer->OnConnectionDeadline(plane, number, times_out ? HoldOf(host, plane) : Hold::kNone,
                                  now_, effects);
  Apply(host, effects);
}

Time PeerPair::NextDue() const {
  Time next = kNever;
  for (const auto& host : hosts_) {
    next = std::min(next, *std::min_element(host->due.begin(), host->due.end()));
  }
  return next;
}

bool PeerPair::FireOne() {
  for (const auto& owned : hosts_) {
    Host& host = *owned;
    const auto first = std::min_element(host.due.begin(), host.due.end());
    if (*first > now_) continue;
    *first = kNever;
    const auto timer = static_cast<uint32_t>(first - host.due.begin());
    if (timer >= Host::kFirstConnection) {
      const ConnectionIndex number(timer - Host::kFirstConnection);
      OnConnectionDeadline(host, host.own->map.PlaneOf(number), host.own->map.NumberOf(number));
      return true;
    }
    Effects effects;
    if (timer == Host::kHandshakeTimer) {
      host.peer->association().OnDeadline(now_, effects);
    } else {
      const PlaneIndex plane(timer - Host::kFirstSession);
      const bool needs_hold = host.peer->probes().NeedsHold(plane, now_);
      host.peer->probes().OnDeadline(plane, needs_hold ? HoldOf(host, plane) : Hold::kNone, now_,
                                     effects);
    }
    Apply(host, effects);
    return true;
  }
  return false;
}

void PeerPair::Advance(Duration time) {
  PassOld(now_ + time);
  now_ += time;
  // A deadline is not passed over for long: a pipeline's wheel is turned all the time.
  for (int i = 0; i < 64 && FireOne(); ++i) {
  }
}

}  // namespace suede
