// SPDX-License-Identifier: Apache-2.0
#include "congestion/target.h"

#include <cstdlib>

#include "congestion/bandwidth_delay.h"

namespace suede {
namespace {

// Max turns that a target grants at once if it is polled late.
constexpr int kLateTurns = 4;
// Max time in which PDUs arrive, unless lost, in base RTTs.
constexpr int kSettleRtts = 4;
// Requests in a row that seem overtaken after which the source counts as restarted.
constexpr uint8_t kStragglers = 4;
// Senders checked in a step of the sweep.
constexpr uint32_t kSweepStep = 32;
// Spreads the numbers of senders evenly over any range.
constexpr uint32_t kSpread = 2654435769;
constexpr int64_t kNumbers = 2 * kCreditSpan;

uint32_t RoundDownToCredit(int64_t octets) {
  const int64_t units = std::max<int64_t>(octets, 0) / kCreditUnitOctets;
  return static_cast<uint32_t>(units * kCreditUnitOctets);
}

}  // namespace

CreditTarget::CreditTarget(const TargetParams& params)
    : pacer_(params.rate_bps),
      largest_(params.largest_octets),
      base_rtt_(params.base_rtt),
      age_(params.age) {
  TakeRate(params);
}

void CreditTarget::TakeRate(const TargetParams& params) {
  const int64_t bdp = BandwidthDelayOctets(params.rate_bps, params.base_rtt);
  const int64_t turn = BandwidthDelayOctets(params.rate_bps, params.slice);
  slice_ = static_cast<uint32_t>(RoundUpToCredit(std::max<int64_t>(turn, 2 * largest_)));
  reserve_ = ReserveOctets(bdp, params.initial_percent, largest_);
  const int64_t hold = std::min(bdp * params.hold_bdp, kCreditSpan / 2);
  hold_ = static_cast<uint32_t>(RoundUpToCredit(std::max<int64_t>(hold, kLateTurns * slice_)));
  const double turn_ns = slice_ * 8e9 / static_cast<double>(params.rate_bps);
  late_ = std::max(base_rtt_, Duration(static_cast<int64_t>(kLateTurns * turn_ns)));
}

void CreditTarget::SetRate(const TargetParams& params) {
  pacer_.SetRate(params.rate_bps);
  TakeRate(params);
  for (uint32_t sender = 0; sender < senders_.size(); ++sender) {
    SetOpen(senders_[sender], senders_[sender].open);
    if (senders_[sender].place >= Place::kHeld) Release(sender);
  }
}

void CreditTarget::Resize(uint32_t senders) {
  senders_.assign(std::min<uint32_t>(senders, kNone), Sender());
  outstanding_ = stuck_ = 0;
  ready_count_ = held_count_ = stalled_count_ = scheduled_count_ = 0;
  turn_ = went_first_ = scheduled_head_ = scheduled_tail_ = kNone;
  const auto steps = static_cast<int64_t>((senders_.size() + kSweepStep - 1) / kSweepStep);
  sweep_every_ = std::max(age_ / std::max<int64_t>(steps, 1), Duration(1));
}

// ---- Requests.

void CreditTarget::OnRequest(uint32_t sender, const CreditRequest& request, Time now) {
  if (sender >= senders_.size()) return;
  Sender& from = senders_[sender];
  if (!from.known) Learn(from, request, now);
  if (!Follow(from, request, now)) return;
  const int64_t sent = std::min(request.sent.Octets(from.sent), from.granted + hold_);
  const int64_t more = request.target.Octets(from.granted) - from.granted;
  const auto want = static_cast<uint32_t>(std::max<int64_t>(more, 0));
  if (IsGrantDue(from, request, want, sent, now)) ScheduleGrant(sender);
  const int64_t left = std::max<int64_t>(request.limit.Octets(from.granted) - sent, 0);
  const auto rest = left < largest_ ? static_cast<uint8_t>(left / kCreditUnitOctets) : uint8_t{0};
  from.rest = from.place == Place::kNowhere ? rest : std::min(from.rest, rest);
  SettleLosses(from, sent, now);
  from.sent = sent;
  from.want = want;
  from.has_arrived = true;
  if (want == 0) {
    Deactivate(sender);
  } else if (from.place == Place::kNowhere) {
    Activate(sender, now);
  }
  Charge(from);
  if (from.place >= Place::kHeld) Release(sender);
}

void CreditTarget::Learn(Sender& from, const CreditRequest& request, Time now) {
  from.granted = request.limit.Octets(from.arrived);
  if (from.granted < 0) from.granted += kNumbers;
  from.sent = std::min(request.sent.Octets(from.granted), from.granted);
  // Arrivals count from the beginning of the association, unless its request was missed.
  from.arrived = std::clamp(from.arrived, from.sent - hold_, from.granted);
  from.uncharged = static_cast<uint32_t>(std::min<int64_t>(from.granted - from.arrived, reserve_));
  from.since_mark = 0;
  from.marked_at = now;
  from.granted_at = now - kSettleRtts * base_rtt_;
  from.known = true;
}

bool CreditTarget::Follow(Sender& from, const CreditRequest& request, Time now) {
  const auto is_odd = [&] {
    return request.sent.Octets(from.sent) < from.sent ||
           request.limit.Octets(from.granted) > from.granted + hold_;
  };
  if (is_odd()) {
    if (from.stragglers + 1 < kStragglers) {
      from.stragglers = from.stragglers + 1;
      return false;
    }
    Learn(from, request, now);
  }
  from.stragglers = 0;
  // The source continues without a grant if none arrives for long, and its requests show that.
  const int64_t ahead = request.limit.Octets(from.granted) - from.granted;
  if (ahead > 0) {
    from.granted += ahead;
    from.uncharged = static_cast<uint32_t>(std::min<int64_t>(from.uncharged + ahead, hold_));
  }
  return true;
}

void CreditTarget::SettleLosses(Sender& from, int64_t sent, Time now) {
  const int64_t marked = from.sent - from.since_mark;
  if (now - from.marked_at >= kSettleRtts * base_rtt_) {
    // If nothing was sent since, the count is exact.
    from.arrived = sent == marked ? sent : std::max(from.arrived, marked);
  } else if (from.arrived < marked) {
    from.since_mark = static_cast<uint32_t>(std::min<int64_t>(sent - marked, kCreditSpan));
    return;
  }
  from.since_mark = 0;
  from.marked_at = now;
}

bool CreditTarget::IsGrantDue(const Sender& from, const CreditRequest& request, uint32_t want,
                              int64_t sent, Time now) const {
  if (now - from.granted_at < base_rtt_) return false;
  if (request.limit.Octets(from.granted) < from.granted) return true;  // a grant was lost
  // A source that has to wait repeats its request; the repeated grant shows that the request
  // arrived.
  return from.place != Place::kNowhere && want == from.want && sent == from.sent;
}

void CreditTarget::Activate(uint32_t sender, Time now) {
  if (active() == 0) {
    waits_ = false;
    pacer_.CatchUp(now, base_rtt_);
    if (outstanding_ == 0) sweep_due_ = now + sweep_every_;
  }
  Sender& from = senders_[sender];
  const bool goes_first = GoesFirst(from, now);
  from.starts = true;
  Enter(sender);
  if (goes_first) turn_ = went_first_ = static_cast<uint16_t>(sender);
}

// Returns whether a sender goes first: a sender that requests no more than its share of the time
// since its last grant, with occasional requests, does not wait for senders that take all they get.
// These have at least every other turn, so that many small requests do not stop them.
bool CreditTarget::GoesFirst(const Sender& from, Time now) const {
  return went_first_ == kNone && pacer_.TimeOf(from.want) * (active() + 1) <= now - from.granted_at;
}

void CreditTarget::Charge(Sender& from) {
  const int64_t charged = from.granted - from.uncharged;
  const int64_t used = from.granted - int64_t{from.rest} * kCreditUnitOctets;
  const int64_t due = std::min(used, NeedOf(from)) - charged;
  if (due > 0) {
    pacer_.Charge(static_cast<uint32_t>(due));
    from.uncharged -= static_cast<uint32_t>(due);
  }
  const int64_t going = std::min(from.granted - from.uncharged, NeedOf(from));
  SetOpen(from, going - from.arrived);
}

void CreditTarget::Forget(uint32_t sender) {
  if (sender >= senders_.size()) return;
  Deactivate(sender);
  SetOpen(senders_[sender], 0);
  Sender unknown;
  // The sender stays on the list of scheduled grants, and is skipped there.
  unknown.is_due = senders_[sender].is_due;
  unknown.next_scheduled = senders_[sender].next_scheduled;
  senders_[sender] = unknown;
}

// ---- Grants.

std::optional<CreditTarget::Grant> CreditTarget::Poll(Time now, uint64_t room_octets) {
  if (now >= sweep_due_) Sweep(now);
  while (scheduled_head_ != kNone) {
    const Grant grant = GrantScheduled(now);
    if (senders_[grant.sender].known) return grant;
  }
  if (active() == 0) return std::nullopt;
  // Others had the rate while no sender could be granted credit: only the claimed part of that time
  // is compensated.
  pacer_.CatchUp(now, waits_ && shares_ ? unused_ : late_);
  if (pacer_.due() > now) return std::nullopt;
  const std::optional<Grant> grant = GrantTurn(now, room_octets);
  if (!grant && !waits_) unused_ = now - pacer_.due();
  waits_ = !grant;
  return grant;
}

std::optional<CreditTarget::Grant> CreditTarget::GrantTurn(Time now, uint64_t room_octets) {
  const auto room = static_cast<int64_t>(std::min<uint64_t>(room_octets, kCreditSpan));
  stuck_ = std::min(stuck_, outstanding_);
  while (ready_count_ != 0) {
    const uint16_t sender = turn_;
    Sender& to = senders_[sender];
    uint32_t turn = TurnOf(sender);
    if (to.open + turn > hold_) {
      Leave(sender);
      to.place = Place::kHeld;
      ++held_count_;
      continue;
    }
    if (turn > room + stuck_ - outstanding_) {
      turn = RoundDownToCredit(room + stuck_ - outstanding_);
      if (turn < largest_) return NoRoom(now);
    }
    to.granted += turn;
    to.uncharged += turn;
    to.want -= turn;
    to.granted_at = now;
    to.starts = false;
    if (sender != went_first_) went_first_ = kNone;
    Charge(to);
    turn_ = to.next;
    if (to.want == 0) Leave(sender);
    return Grant{sender, Credit24::Floor(to.granted)};
  }
  return std::nullopt;
}

// Handles lack of room. Credit that was not used for kSettleRtts will not be: sources have less of
// it left than a PDU needs, or do not use it. It then no longer counts against the room for others.
std::nullopt_t CreditTarget::NoRoom(Time now) {
  if (outstanding_ != blocked_at_) {
    blocked_at_ = outstanding_;
    blocked_since_ = now;
  } else if (now - blocked_since_ >= kSettleRtts * base_rtt_) {
    stuck_ = outstanding_;
  }
  return std::nullopt;
}

// Returns the octets of the sender's turn. A turn is not a whole number of PDUs. The first turn of
// each sender is longer by a different part of a PDU, so that the rests do not add up to PDUs for
// all senders in the same round. Less than a PDU is no turn of its own.
uint32_t CreditTarget::TurnOf(uint32_t sender) const {
  const Sender& to = senders_[sender];
  const uint64_t part = uint64_t{sender * kSpread} * largest_ >> 32;
  const uint32_t more = to.starts ? RoundDownToCredit(static_cast<int64_t>(part)) : 0;
  return to.want <= slice_ + more + largest_ ? to.want : slice_ + more;
}

CreditTarget::Grant CreditTarget::GrantScheduled(Time now) {
  const uint16_t sender = scheduled_head_;
  Sender& to = senders_[sender];
  scheduled_head_ = to.next_scheduled;
  if (scheduled_head_ == kNone) scheduled_tail_ = kNone;
  to.next_scheduled = kNone;
  to.is_due = false;
  --scheduled_count_;
  to.granted_at = now;
  return {sender, Credit24::Floor(to.granted)};
}

void CreditTarget::ScheduleGrant(uint32_t sender) {
  Sender& to = senders_[sender];
  if (to.is_due) return;
  to.is_due = true;
  ++scheduled_count_;
  (scheduled_tail_ == kNone ? scheduled_head_ : senders_[scheduled_tail_].next_scheduled) =
      static_cast<uint16_t>(sender);
  scheduled_tail_ = static_cast<uint16_t>(sender);
}

void CreditTarget::Requeue(const Grant& grant) {
  if (grant.sender < senders_.size() && senders_[grant.sender].known) ScheduleGrant(grant.sender);
}

Time CreditTarget::deadline() const {
  if (scheduled_count_ != 0) return Time{};
  const Time sweep = outstanding_ != 0 || active() != 0 ? sweep_due_ : kNever;
  // If all are held, the target is polled once more when the time of the granted octets is over.
  const bool polls = ready_count_ != 0 || (active() != 0 && !waits_);
  return polls ? std::min(pacer_.due(), sweep) : sweep;
}

void CreditTarget::Release(uint32_t sender) {
  Sender& held = senders_[sender];
  if (held.open + TurnOf(sender) > hold_) return;
  LeaveHeld(held);
  Enter(sender);
}

// ---- Senders that have gone silent.

void CreditTarget::Sweep(Time now) {
  sweep_due_ = now + sweep_every_;
  const uint32_t steps = std::min<uint32_t>(kSweepStep, static_cast<uint32_t>(senders_.size()));
  for (uint32_t step = 0; step != steps; ++step) {
    sweep_next_ = sweep_next_ + 1 < senders_.size() ? sweep_next_ + 1 : 0;
    Sender& sender = senders_[sweep_next_];
    if (!sender.has_arrived) WriteOff(sweep_next_);
    sender.has_arrived = false;
    DetectStall(sender, now);
  }
}

void CreditTarget::DetectStall(Sender& from, Time now) {
  if (from.place != Place::kHeld || now - from.granted_at < kSettleRtts * base_rtt_) return;
  LeaveHeld(from);
  from.place = Place::kStalled;
  ++stalled_count_;
}

void CreditTarget::WriteOff(uint32_t sender) {
  Sender& from = senders_[sender];
  Deactivate(sender);
  SetOpen(from, 0);
  from.arrived = std::max(from.arrived, from.granted - from.uncharged);
}

// ---- The round.

void CreditTarget::Enter(uint32_t sender) {
  Sender& from = senders_[sender];
  const auto self = static_cast<uint16_t>(sender);
  from.place = Place::kReady;
  if (ready_count_++ == 0) {
    turn_ = from.next = from.previous = self;
    return;
  }
  // Enters before the sender whose turn it is, at the end of the round.
  from.next = turn_;
  from.previous = senders_[turn_].previous;
  senders_[from.previous].next = self;
  senders_[turn_].previous = self;
}

void CreditTarget::Leave(uint32_t sender) {
  Sender& from = senders_[sender];
  --ready_count_;
  from.place = Place::kNowhere;
  if (turn_ == sender) turn_ = ready_count_ == 0 ? kNone : from.next;
  senders_[from.previous].next = from.next;
  senders_[from.next].previous = from.previous;
  from.next = from.previous = kNone;
}

void CreditTarget::Deactivate(uint32_t sender) {
  Sender& from = senders_[sender];
  if (from.place == Place::kReady) Leave(sender);
  if (from.place >= Place::kHeld) LeaveHeld(from);
}

void CreditTarget::LeaveHeld(Sender& held) {
  --(held.place == Place::kHeld ? held_count_ : stalled_count_);
  held.place = Place::kNowhere;
}

void CreditTarget::SetOpen(Sender& from, int64_t octets) {
  const auto open = static_cast<uint32_t>(std::clamp<int64_t>(octets, 0, hold_));
  outstanding_ += int64_t{open} - from.open;
  from.open = open;
}

void CreditTarget::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) abort();
  };
  int64_t open = 0;
  uint32_t ready = 0;
  uint32_t held = 0;
  uint32_t stalled = 0;
  uint32_t due = 0;
  for (const Sender& sender : senders_) {
    open += sender.open;
    ready += sender.place == Place::kReady;
    held += sender.place == Place::kHeld;
    stalled += sender.place == Place::kStalled;
    due += sender.is_due;
    check(sender.open <= hold_);
    check(sender.place == Place::kNowhere || (sender.known && sender.want != 0));
    check(sender.granted % kCreditUnitOctets == 0 && sender.want % kCreditUnitOctets == 0);
  }
  check(open == outstanding_ && ready == ready_count_);
  check(held == held_count_ && stalled == stalled_count_ && due == scheduled_count_);
  uint32_t round = 0;
  for (uint16_t at = turn_; round != ready_count_; at = senders_[at].next, ++round) {
    check(at != kNone && senders_[at].place == Place::kReady);
    check(senders_[senders_[at].next].previous == at);
  }
  check((turn_ == kNone) == (ready_count_ == 0));
  uint32_t listed = 0;
  for (uint16_t at = scheduled_head_; at != kNone && listed <= due;
       at = senders_[at].next_scheduled) {
    ++listed;
  }
  check(listed == due);
}

}  // namespace suede
