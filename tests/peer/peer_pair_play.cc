// SPDX-License-Identifier: Apache-2.0
// A schedule: the events of a step, and the end, at which everything is healed and judged.
#include <algorithm>

#include "peer_host.h"
#include "peer_pair.h"

namespace suede {
namespace {

using std::chrono::microseconds;

constexpr Duration kCalmWithin = std::chrono::seconds(20);

}  // namespace

// ---- Trouble.

void PeerPair::SetPlane(Host& host, PlaneIndex plane) {
  Effects effects;
  host.peer->health().OnPlaneChange(plane, PlaneDownReason::kLink, now_, effects);
  Apply(host, effects);
}

void PeerPair::Meddle(Host& host) {
  const PlaneIndex plane(dice_->Pick(planes_));
  const auto bit = static_cast<PlaneMask>(1u << plane);
  Effects effects;
  switch (dice_->Pick(10)) {
    case 0:
      host.own->SetPort(plane, !host.own->port_up(plane));
      if (!host.own->port_up(plane) && dice_->Pick(2) != 0) host.out[plane].clear();
      return SetPlane(host, plane);
    case 1:
      host.own->SetAdmin(plane, static_cast<PlaneAdmin>(dice_->Pick(3)));
      return SetPlane(host, plane);
    case 2:
      host.held ^= bit;
      host.held_since[plane] = now_;
      return;
    case 3:
      host.silent ^= bit;
      return;
    case 4:
      host.refusing = !host.refusing;
      return;
    case 5:
      host.peer->health().OnStandstill(now_, microseconds(500 + dice_->Pick(200)));
      return;
    case 6:
      host.peer->SetWeight(plane, dice_->Chance(4) ? 0 : 1 + dice_->Pick(200), now_, effects);
      break;
    case 7:
      if (dice_->Pick(2) != 0) {
        host.peer->OnMac(plane, effects);
      } else {
        host.peer->reach().OnNoMac(effects);
      }
      break;
    case 8:
      host.transport.window_pdus = 4 + dice_->Pick(12);
      host.own->hello.window_pdus = static_cast<uint16_t>(host.transport.window_pdus);
      for (ConnectionIndex i = 0; i < host.own->map.peer_connections(); ++i) {
        Effects of_one;
        host.peer->OnNewParams(host.own->map.PlaneOf(i), host.own->map.NumberOf(i), now_, of_one);
        Apply(host, of_one);
      }
      break;
    case 9: {
      if (!dice_->Chance(4)) {
        losing_ = dice_->Pick(4) == 0 ? 0 : 2 + dice_->Pick(10);
        if (!alike_) return;
        moving_ = dice_->Pick(3) == 0 ? 0 : 2 + dice_->Pick(20);
        if (dice_->Chance(8)) turned_ = dice_->Pick(planes_);
        return;
      }
      // Another life. Messages that this one had sent are lost with it: frames of two lives of one
      // host may fit each other's PSNs by chance, and nothing could tell.
      ++seen_.restarts;
      PduList left;
      for (PduList& queue : host.queues) left.Append(queue);
      for (Connection& connection : host.connections) connection.tx().Abandon(left);
      End(left, Status::kGone);
      const uint32_t number = host.number;
      hosts_[number] = std::make_unique<Host>();
      hosts_[number]->number = number;
      return Start(*hosts_[number]);
    }
  }
  Apply(host, effects);
}

void PeerPair::Step() {
  Host& host = *hosts_[dice_->Pick(2)];
  switch (dice_->Pick(16)) {
    case 0:
    case 1:
    case 2:
      Push(host, dice_->Pick(kVcCount));
      break;
    case 3:
      Meddle(host);
      break;
    case 4:
      Advance(microseconds(dice_->Pick(200)));
      break;
    case 5:
    case 6:
      if (const Time next = NextDue(); next != kNever && next > now_) Advance(next - now_);
      break;
    default:
      Deliver(host, PlaneIndex(dice_->Pick(planes_)));
      break;
  }
  for (const auto& each : hosts_) Turn(*each);
}

// ---- The end.

void PeerPair::Heal() {
  losing_ = moving_ = 0;
  for (const auto& owned : hosts_) {
    Host& host = *owned;
    host.held = host.silent = 0;
    host.refusing = false;
    for (PlaneIndex plane = 0; plane < planes_; ++plane) {
      host.own->SetPort(plane, true);
      host.own->SetAdmin(plane, PlaneAdmin::kUp);
      Effects effects;
      host.peer->OnMac(plane, effects);
      host.peer->SetWeight(plane, 1, now_, effects);
      Apply(host, effects);
      SetPlane(host, plane);
    }
  }
}

bool PeerPair::DeliverAll() {
  bool any = false;
  for (const auto& host : hosts_) Turn(*host);
  for (const auto& host : hosts_) {
    for (PlaneIndex plane = 0; plane < planes_; ++plane) {
      std::vector<Letter> letters;
      letters.swap(host->out[plane]);
      for (const Letter& letter : letters) {
        Receive(*hosts_[1 - host->number], PlaneThere(host->number, plane), letter);
        any = true;
      }
    }
  }
  return any;
}

bool PeerPair::IsCalm() const {
  for (const auto& host : hosts_) {
    if (!host->peer->handshake().open() || host->lost != 0 || host->blocked != 0) return false;
    for (PlaneIndex plane = 0; plane < planes_; ++plane) {
      if (host->own->inflight_bytes[plane] != 0) return false;
      const PlaneSession& session = host->sessions[plane];
      if (session.begun() && !session.up()) return false;
      if ((host->paths.usable & 1u << plane) == 0) return false;
    }
    for (const PduList& queue : host->queues) {
      if (!queue.empty()) return false;
    }
  }
  return true;
}

std::string PeerPair::Settle() {
  Heal();
  const Time end = now_ + kCalmWithin;
  // Each host has something to say to the other, and goes on until that arrives.
  for (bool asked = false; error_.empty() && now_ < end;) {
    for (int i = 0; i < 1000 && DeliverAll(); ++i) {
    }
    const bool calm = IsCalm();
    if (calm && asked) return Check();
    if (calm || (!asked && hosts_[0]->lost == 0 && hosts_[1]->lost == 0)) {
      asked = calm;
      for (const auto& host : hosts_) {
        for (uint32_t vc = 0; vc < kVcCount && host->queues[vc].empty(); ++vc) Push(*host, vc);
        Turn(*host);
      }
      if (calm) continue;
    }
    const Time next = NextDue();
    if (next == kNever) {
      Fail("everything waits, and no timer runs");
    } else {
      Advance(std::max(next - now_, Duration{}));
    }
    CheckInvariants();
  }
  if (error_.empty()) Fail("not calm in time");
  return error_;
}

std::string PeerPair::Check() const {
  if (!error_.empty()) return error_;
  for (size_t i = 0; i < records_.size(); ++i) {
    if (records_[i].status == Status::kOpen) return "a PDU never ended";
    // The PDUs that were pushed last.
    const bool last = i + kVcCount >= records_.size();
    if (last && records_[i].status != Status::kOk) return "healed, and a PDU is given up";
  }
  return {};
}

void PeerPair::CheckInvariants() const {
  for (const auto& host : hosts_) {
    TransportParams widest = host->transport;
    widest.window_pdus = 16;
    host->peer->CheckInvariants(widest);
    for (PlaneIndex plane = 0; plane < planes_; ++plane) {
      if (host->paths.inflight_bytes[plane] != host->own->inflight_bytes[plane]) std::abort();
      uint32_t busy = 0;
      for (uint32_t number = 0; number < host->own->map.path_connections(); ++number) {
        busy += host->at(plane, PathConnection(number)).in_flight().oldest() != nullptr ? 1 : 0;
      }
      if (host->own->has_sessions && busy != host->own->busy[plane]) std::abort();
    }
  }
}

void PeerPair::FailUnlessPlain(const char* what) {
  if (seen_.found_plain == 0 || seen_.restarts == 0) Fail(what);
}

void PeerPair::Fail(const char* what) {
  if (error_.empty()) error_ = what;
}

}  // namespace suede
