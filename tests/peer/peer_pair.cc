// SPDX-License-Identifier: Apache-2.0
// Set-up, links, and the execution of a peer's effects.
#include "peer_pair.h"

#include <algorithm>

#include "peer_host.h"

namespace suede {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMaxLetters = 48;  // on a link
constexpr Duration kMaxWay = milliseconds(1);

}  // namespace

PeerPair::PeerPair(Dice* dice) : dice_(dice) {
  static constexpr uint32_t kPlanes[] = {1, 2, 4, 2};
  planes_ = kPlanes[dice->Pick(4)];
  per_vc_ = dice->Pick(2) != 0;
  strict_ = dice->Pick(2) != 0;
  turned_ = dice->Pick(planes_);
  alike_ = planes_ > 1 && dice->Pick(2) != 0;
  for (uint32_t number = 0; number < 2; ++number) {
    hosts_[number] = std::make_unique<Host>();
    hosts_[number]->number = number;
    Start(*hosts_[number]);
  }
}

PeerPair::~PeerPair() {
  // PDUs in flight are on lists that own nothing.
  for (auto& host : hosts_) {
    PduList left;
    for (PduList& queue : host->queues) left.Append(queue);
    for (Connection& connection : host->connections) connection.tx().Abandon(left);
    End(left, Status::kGone);
  }
}

void PeerPair::Start(Host& host) {
  TransportParams& transport = host.transport;
  transport.psn_scope = per_vc_ ? PsnScope::kVc : PsnScope::kPort;
  transport.window_pdus = 4 + dice_->Pick(12);
  transport.max_tries = 3 + dice_->Pick(4);
  transport.rto_max = milliseconds(8);
  PathParams& params = host.params;
  params.ordering = strict_ ? Ordering::kStrict : Ordering::kUnordered;
  params.hello_idle = milliseconds(20);
  params.hold_down = milliseconds(5);
  params.hold_down_max = milliseconds(20);
  params.unreachable = milliseconds(40);
  host.due.fill(kNever);
  host.own.emplace(static_cast<uint16_t>(host.number + 1),
                   ConnectionMap(planes_, 1, transport.psn_scope), transport, params,
                   SecretKey{lives_++, host.number + 7u});
  OwnEnd& own = *host.own;
  own.hello = {.psn_scope = static_cast<uint8_t>(transport.psn_scope),
               .answers_planes = true,
               .sends_generations = own.has_sessions,
               .window_pdus = static_cast<uint16_t>(transport.window_pdus),
               .pack_limit_bytes = 2048,
               .receive_bytes = 4096,
               .hears_pauses = true};
  for (PlaneIndex plane = 0; plane < planes_; ++plane) {
    host.groups[plane].SetSlots(&host.slots[plane * kMaxSessions]);
    host.groups[plane].Begin(1, 1, now_);
    host.paths.present |= static_cast<PlaneMask>(1u << plane);
    if (alike_) host.paths.alike |= static_cast<PlaneMask>(1u << plane);
    host.paths.SetWeight(plane, 1 + dice_->Pick(3));
    if (dice_->Chance(16)) host.paths.resolving |= static_cast<PlaneMask>(1u << plane);
    own.SetPort(plane, true);
  }
  host.peer.emplace(PeerParts{{.own = &own,
                               .xpuid = static_cast<uint16_t>(2 - host.number),
                               .paths = &host.paths,
                               .sessions = host.sessions.data(),
                               .groups = host.groups.data(),
                               .connections = host.connections.data()}});
  Effects effects;
  host.peer->Start(effects);
  Apply(host, effects);
}

// ---- Links.

PlaneIndex PeerPair::PlaneThere(uint32_t host, PlaneIndex plane) const {
  return PlaneIndex((host == 0 ? plane + turned_ : plane + planes_ - turned_) % planes_);
}

void PeerPair::Send(Host& host, PlaneIndex plane, const Letter& letter) {
  if ((host.paths.resolving & 1u << plane) != 0) return;
  std::vector<Letter>& link = host.out[plane];
  if (link.size() >= kMaxLetters || !host.own->port_up(plane)) return;
  link.push_back(letter);
  link.back().sent_at = now_;
  link.back().plane = plane;
}

void PeerPair::Say(Host& host, PlaneIndex plane, ControlMessage message) {
  IdentitiesOf(message) = host.peer->handshake().identities();
  Letter letter;
  letter.control = true;
  letter.message = message;
  Send(host, plane, letter);
}

void PeerPair::SendBare(Host& host, PlaneIndex plane, PathConnection number, RpsnField field,
                        Psn psn, uint8_t of_class) {
  Letter letter;
  letter.of_class = of_class;
  letter.vc = static_cast<uint8_t>(number);
  letter.field = field;
  letter.psn = psn;
  Send(host, plane, letter);
}

// Takes one letter of a link, mostly the oldest, and may keep a copy or lose it.
void PeerPair::Deliver(Host& host, PlaneIndex plane) {
  std::vector<Letter>& link = host.out[plane];
  if (link.empty() || (host.held & 1u << plane) != 0) return;
  const size_t any = dice_->Chance(6) ? dice_->Pick(static_cast<uint32_t>(link.size())) : 0;
  size_t at = 0;
  while (link[at].of_class != link[any].of_class) ++at;
  // A NACK counts as an answer of its own where a connection was lost. Sealed PDUs arrive once.
  Pass(host, plane, at, !alike_ && link[at].field.op != RhOp::kNack && dice_->Chance(24));
}

// A message that has been under way for long arrives before so much time has passed.
void PeerPair::PassOld(Time time) {
  for (bool any = true; any;) {
    any = false;
    for (const auto& host : hosts_) {
      for (PlaneIndex plane = 0; plane < planes_; ++plane) {
        std::vector<Letter>& link = host->out[plane];
        if (link.empty() || (host->held & 1u << plane) != 0) continue;
        if (time - link.front().sent_at <= kMaxWay) continue;
        Pass(*host, plane, 0, false);
        any = true;
      }
    }
  }
}

void PeerPair::Pass(Host& host, PlaneIndex plane, size_t at, bool twice) {
  std::vector<Letter>& link = host.out[plane];
  const Letter letter = link[at];
  if (!twice) link.erase(link.begin() + static_cast<std::ptrdiff_t>(at));
  if ((host.silent & 1u << plane) != 0) return;
  if (losing_ != 0 && dice_->Chance(losing_)) return;
  const bool moves = moving_ != 0 && dice_->Chance(moving_);
  Receive(*hosts_[1 - host.number],
          moves ? PlaneIndex(dice_->Pick(planes_)) : PlaneThere(host.number, plane), letter);
}

// ---- The effects of a peer.

void PeerPair::Apply(Host& host, Effects& effects) {
  for (PeerEffect& one : effects.all()) {
    std::visit([&](auto& what) { Carry(host, what); }, one);
  }
}

void PeerPair::Carry(Host& host, effect::Send& e) { Say(host, e.plane, e.message); }

void PeerPair::Carry(Host& host, const effect::SendHeldUp& e) {
  if (e.if_held && HoldOf(host, e.plane) != Hold::kOwn) return;
  for (PlaneIndex plane = 0; plane < planes_; ++plane) {
    if ((e.over & 1u << plane) == 0 || HoldOf(host, plane) == Hold::kOwn) continue;
    Say(host, plane, PlaneHello{.plane = static_cast<uint8_t>(e.plane), .held_up = true});
    if ((e.enough & 1u << plane) != 0) return;
  }
}

void PeerPair::Carry(Host& host, const effect::Probe& e) {
  SendBare(host, e.plane, e.number, {}, e.psn);
}

void PeerPair::Carry(Host& host, const effect::ProbeLost& e) {
  Connection& connection = host.at(e.plane, e.number);
  SendBare(host, e.plane, e.number, {}, connection.tx().ProbePsn(), connection.tx().probes().vc());
  connection.tx().probes().OnSent((host.held & 1u << e.plane) != 0);
}

void PeerPair::Carry(Host& host, const effect::ScheduleAck& e) {
  host.owes |= 1u << host.NumberOf(e.plane, e.number);
}

void PeerPair::Carry(Host& host, const effect::Retransmit& e) {
  host.resends |= 1u << host.NumberOf(e.plane, e.number);
}

void PeerPair::Carry(Host&, effect::Acknowledged& e) { End(e.pdus, Status::kOk); }

void PeerPair::Carry(Host&, effect::GiveUp& e) {
  End(e.pdus, e.ending == Ending::kInDoubt ? Status::kInDoubt : Status::kReset);
}

void PeerPair::Carry(Host& host, effect::Requeue& e) {
  std::array<PduList, kVcCount> of_vc;
  while (!e.pdus.empty()) {
    Pdu* pdu = e.pdus.PopFront();
    of_vc[pdu->vc].PushBack(pdu);
    ++seen_.requeued;
  }
  for (uint32_t vc = 0; vc < kVcCount; ++vc) host.queues[vc].Prepend(of_vc[vc]);
}

void PeerPair::Carry(Host& host, const effect::GiveUpQueued& e) {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((e.vcs & 1u << vc) == 0) continue;
    End(host.queues[vc], Status::kUnreachable);
  }
  host.blocked &= static_cast<uint8_t>(~e.vcs);
}

void PeerPair::Carry(Host& host, const effect::MarkLost& e) {
  host.lost = static_cast<uint8_t>(e.lost ? host.lost | e.vcs : host.lost & ~e.vcs);
}

void PeerPair::Carry(Host& host, const effect::Unblock& e) {
  host.blocked &= static_cast<uint8_t>(~e.vcs);
}

void PeerPair::Carry(Host&, const effect::CreditChange& e) {
  seen_.found_plain += e.step == effect::CreditStep::kUncounted;
}

void PeerPair::Carry(Host&, const effect::Emit& e) {
  seen_.planes_down += e.event == PeerEvent::kPlaneDown;
  seen_.peers_lost += e.event == PeerEvent::kUnreachable;
}

void PeerPair::Carry(Host& host, const effect::Arm& e) {
  const uint32_t timer = e.timer == effect::Timer::kHandshake ? Host::kHandshakeTimer
                         : e.timer == effect::Timer::kSession
                             ? Host::kFirstSession + e.plane
                             : Host::kFirstConnection + host.NumberOf(e.plane, e.number);
  host.due[timer] = std::min(host.due[timer], e.due);
}

void PeerPair::Carry(Host& host, const effect::CheckConnection& e) {
  OnConnectionDeadline(host, e.plane, e.number);
}
// The turn of the host does, whenever there is work.
void PeerPair::Carry(Host&, const effect::ProbeFailed&) {}

// ---- PDUs.

void PeerPair::Push(Host& host, uint32_t vc) {
  if (records_.size() > 20'000) return;
  const auto id = static_cast<uint32_t>(records_.size());
  records_.push_back({.host = static_cast<uint8_t>(host.number)});
  Pdu* pdu = nullptr;
  if (spare_.empty()) {
    pdu = new Pdu;
  } else {
    pdu = spare_.back().release();
    spare_.pop_back();
    pdu->retransmitted = pdu->moved = false;
  }
  pdu->sent_at = now_;
  pdu->tags[0] = id;
  pdu->vc = static_cast<uint8_t>(vc);
  pdu->bytes = static_cast<uint16_t>(2 + dice_->Pick(200));
  PduList one;
  one.PushBack(pdu);
  if ((host.lost & 1u << vc) != 0) return End(one, Status::kUnreachable);
  host.queues[vc].Append(one);
}

void PeerPair::End(PduList& pdus, Status status) {
  while (!pdus.empty()) {
    Pdu* pdu = pdus.PopFront();
    Record& record = records_[pdu->tags[0]];
    if (record.status != Status::kOpen) Fail("a PDU ends twice");
    if (status == Status::kOk && record.arrivals == 0)
      FailUnlessPlain("completed and never arrived");
    if (status == Status::kUnreachable && record.arrivals != 0)
      FailUnlessPlain("unreachable, and it arrived");
    record.status = status;
    if (status != Status::kGone) ++seen_.ended[static_cast<size_t>(status)];
    spare_.emplace_back(pdu);
  }
}

}  // namespace suede
