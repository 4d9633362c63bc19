// SPDX-License-Identifier: Apache-2.0
#include "path/session_group.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace suede {
namespace {

using State = SessionSlot::State;

// A session moves only if it was congested in this many evaluations in a row.
constexpr uint8_t kHighIntervals = 2;

// Unanswered requests for numbers after which the PDUs of a session on which no PDU gets through
// move to another session. All numbers of a slot may lead to the same dead link, if a switch
// chooses by their low bits.
constexpr uint8_t kAsksBeforeFence = 3;
// From then on the wait for the next answer doubles, at most this often.
constexpr int kMaxAskDoublings = 6;
// Unanswered requests for numbers after which a session stays closed for a while, so that others
// are opened before the connections of a stalled session give up.
constexpr uint8_t kAsksOfOpening = 8;

// Sessions requested at once if all are congested: the first that is answered opens.
constexpr uint32_t kOpenings = 2;
// An answer that takes longer than this many times the time of a slow one is not awaited.
constexpr int kLate = 2;

// A peer that moves a session twice within this time may not receive our acknowledgements.
constexpr Duration kMovesAgain = std::chrono::milliseconds(100);

constexpr uint32_t Percent(uint32_t percent) { return SessionSlot::kWeightOne * percent / 100; }

}  // namespace

std::string_view NameOf(State state) {
  switch (state) {
    case State::kIdle:
      return "idle";
    case State::kOpening:
      return "opening";
    case State::kOpen:
      return "open";
    case State::kMoving:
      return "moving";
    case State::kDraining:
      return "draining";
    case State::kClearing:
      return "clearing";
    case State::kFencing:
      break;
  }
  return "fencing";
}

void SessionGroup::Begin(uint32_t count, uint32_t numbers, Time now) {
  count_ = static_cast<uint8_t>(count);
  numbers_ = numbers;
  for (SessionIndex slot = 0; slot < count; ++slot) {
    const auto number = static_cast<uint16_t>(slot);
    slots_[slot] = {
        .number = number, .requested_number = number, .rx_number = number, .rx_former = number};
  }
  slots_[0].state = State::kOpen;
  slots_[0].since = now;
  open_ = SlotBit(0);
  fencing_ = 0;
  deadline_ = kNever;
  weights_.Begin(now);
  calm_since_ = kNever;
  min_weight_ = SessionSlot::kWeightOne;
  run_left_ = 0;
  run_slot_ = 0;
}

// ---- Numbers.

bool SessionGroup::OnRequest(const SessionNumber& request) {
  if (request.slot >= count_ || SlotOf(request.number) != request.slot ||
      SlotOf(request.in_use) != request.slot) {
    return false;
  }
  SessionSlot& slot = slots_[request.slot];
  const auto ahead = static_cast<int32_t>(request.turn - slot.rx_turn);
  if (ahead <= 0) return ahead == 0 && request.number == slot.rx_number;
  slot.rx_turn = request.turn;
  slot.rx_number = request.number;
  // Frames sent before a fence do not belong to the session.
  slot.rx_former = request.anew ? request.number : request.in_use;
  if (request.anew) slot.rx_fenced = false;
  return true;
}

bool SessionGroup::OnFence(const SessionNumber& request) {
  if (request.slot >= count_ || count_ == 1) return false;
  SessionSlot& slot = slots_[request.slot];
  const auto ahead = static_cast<int32_t>(request.turn - slot.rx_turn);
  if (ahead <= 0) return ahead == 0 && slot.rx_fenced;
  slot.rx_turn = request.turn;
  slot.rx_fenced = true;
  return true;
}

SessionGroup::Answer SessionGroup::OnAnswer(const SessionNumber& answer,
                                            const SessionParams& params, SecretNumbers& random,
                                            Time now) {
  if (answer.slot >= count_ || !slots_[answer.slot].IsRequesting()) return Answer::kStale;
  const SessionIndex index(answer.slot);
  SessionSlot& slot = slots_[index];
  if (answer.turn != slot.turn || answer.number != slot.requested_number) return Answer::kStale;
  if (weights_.MayBeSlow(slot) && now - slot.requested_at > weights_.SlowAfter(slot, params)) {
    ++slot.slow_numbers;
    RequestAgain(index, random, now);
    return Answer::kSlow;
  }
  if (slot.state == State::kOpening) ForgetOtherOpenings(index);
  slot.number = slot.requested_number;
  slot.fenced = false;
  slot.since = now;
  slot.weight = SessionSlot::kWeightOne;
  slot.delay = SessionSlot::kWeightOne;
  slot.marked = 0;
  slot.marks = 0;
  slot.high_intervals = 0;
  if (slot.answers_only) {
    slot.state = State::kDraining;
    return Answer::kTaken;
  }
  open_ |= SlotBit(index);
  if (slot.leaves_slow && !std::has_single_bit(open_)) {
    slot.state = State::kClearing;
    open_ &= ~SlotBit(index);
    return Answer::kTaken;
  }
  slot.state = State::kOpen;
  return Answer::kTaken;
}

// One more session is enough for now; its use shows whether another is needed.
void SessionGroup::ForgetOtherOpenings(uint32_t opened) {
  for (SessionIndex slot = 0; slot < count_; ++slot) {
    if (slot != opened && slots_[slot].state == State::kOpening) slots_[slot].state = State::kIdle;
  }
}

SessionNumber SessionGroup::RequestOf(SessionIndex slot) const {
  const bool fence = slots_[slot].state == State::kFencing;
  return {.slot = static_cast<uint8_t>(slot),
          .number = slots_[slot].requested_number,
          .in_use = slots_[slot].number,
          .turn = slots_[slot].turn,
          .fence = fence,
          .anew = !fence && slots_[slot].fenced};
}

// ---- Fences.

void SessionGroup::Fence(SessionIndex slot, Time now) {
  SessionSlot& each = slots_[slot];
  each.state = State::kFencing;
  each.requested_number = each.number;
  each.fenced = true;
  each.request_at = now;
  ++each.turn;
  open_ &= ~SlotBit(slot);
  fencing_ |= SlotBit(slot);
}

bool SessionGroup::IsFenced(const SessionNumber& answer) const {
  return answer.slot < count_ && slots_[answer.slot].state == State::kFencing &&
         slots_[answer.slot].turn == answer.turn;
}

void SessionGroup::OnFenced(SessionIndex slot, Duration rest, Time now) {
  slots_[slot].state = State::kIdle;
  slots_[slot].rest_until = now + rest;
  fencing_ &= ~SlotBit(slot);
}

// Nothing new takes a stalled session once another one is open, which then counts as needed however
// calm it is. After kAsksBeforeFence numbers in vain the stalled one is fenced. Returns whether it
// is now.
bool SessionGroup::LeaveStalled(SessionIndex slot, Time now) {
  const SessionSlot& each = slots_[slot];
  if (each.state != State::kMoving || each.answers_only || (open_ & ~SlotBit(slot)) == 0) {
    return false;
  }
  open_ &= ~SlotBit(slot);
  if (each.unanswered < kAsksBeforeFence) return false;
  Fence(slot, now);
  return true;
}

// The path of the requested number is dead, or the answer was lost.
void SessionGroup::OnUnanswered(SessionIndex slot, bool stalled, const Waits& waits,
                                SecretNumbers& random, Time now) {
  SessionSlot& each = slots_[slot];
  if (weights_.MayBeSlow(each)) {
    ++each.slow_numbers;
    return RequestAgain(slot, random, now);
  }
  each.unanswered = std::min<uint8_t>(each.unanswered + uint8_t{1}, kAsksOfOpening);
  if (each.state == State::kOpening && each.unanswered == kAsksOfOpening) {
    each.state = State::kIdle;
    each.rest_until = now + waits.rest;
    return;
  }
  if (stalled && LeaveStalled(slot, now)) return;
  if (stalled && !each.answers_only && each.unanswered >= kAsksBeforeFence) {
    OpenAnother(random, now);  // there is no session to move to
  }
  RequestAgain(slot, random, now);
}

// Draws another number for the slot; OnTimer returns when to send the request.
void SessionGroup::Request(SessionIndex slot, State state, SecretNumbers& random, Time now) {
  SessionSlot& target = slots_[slot];
  const uint32_t choices = numbers_ / count_;
  const uint32_t current = target.number / count_;
  // Any number except the slot's present number, if there are others.
  const auto drawn = static_cast<uint32_t>(random.Next() >> 32) % std::max(choices - 1, 1u);
  const uint32_t chosen = choices > 1 && drawn >= current ? drawn + 1 : drawn;
  target.requested_number = static_cast<uint16_t>(chosen * count_ + slot);
  target.state = state;
  target.request_at = now;
  target.unanswered = 0;
  target.slow_numbers = 0;
  target.requested = false;
  target.leaves_slow = false;
  target.answers_only = false;
  ++target.turn;
  deadline_ = now;
}

// Draws another number for the same reason.
void SessionGroup::RequestAgain(SessionIndex slot, SecretNumbers& random, Time now) {
  const SessionSlot before = slots_[slot];
  Request(slot, before.state, random, now);
  slots_[slot].leaves_slow = before.leaves_slow;
  slots_[slot].answers_only = before.answers_only;
  slots_[slot].unanswered = before.unanswered;
  slots_[slot].slow_numbers = before.slow_numbers;
}

bool SessionGroup::OnStall(SessionIndex slot, SecretNumbers& random, Time now) {
  if (count_ == 1 || slots_[slot].state == State::kFencing) return false;
  if ((open_ & ~SlotBit(slot)) != 0) open_ &= ~SlotBit(slot);
  if (slots_[slot].IsRequesting()) return false;
  Request(slot, State::kMoving, random, now);
  return true;
}

bool SessionGroup::OnPeerMoved(SessionIndex slot, bool answers, SecretNumbers& random, Time now) {
  SessionSlot& moved = slots_[slot];
  const bool again = moved.rx_moved_at != Time{} && now - moved.rx_moved_at < kMovesAgain;
  moved.rx_moved_at = now;
  if (count_ == 1 || !again || !answers || slots_[slot].IsRequesting()) return false;
  if (moved.state == State::kFencing) return false;
  moved.rx_moved_at = Time{};
  const bool idle = (open_ & SlotBit(slot)) == 0;
  Request(slot, State::kMoving, random, now);
  moved.answers_only = idle;
  return true;
}

void SessionGroup::OnPlaneDown() {
  for (SessionIndex slot = 0; slot < count_; ++slot) {
    SessionSlot& target = slots_[slot];
    // The plane's own fence covers all of its sessions.
    if (target.state == State::kOpening || target.state == State::kFencing)
      target.state = State::kIdle;
    if (target.state == State::kMoving) {
      target.state = (open_ & SlotBit(slot)) != 0 ? State::kOpen : State::kDraining;
    }
  }
  fencing_ = 0;
  deadline_ = kNever;
}

void SessionGroup::OnMarked(SlotMask slots, uint32_t pdus) {
  slots &= open_;
  if (count_ == 1 || slots == 0) return;
  const uint32_t each = std::max<uint32_t>(pdus / static_cast<uint32_t>(std::popcount(slots)), 1);
  ForEachSlot(slots, [&](SessionIndex slot) { slots_[slot].marked += each; });
}

// ---- Time.

bool SessionGroup::OnTraffic(Time now, const SessionParams& params) {
  const Time next_evaluation = now + weights_.PaceOf(params);
  if (count_ == 1 || deadline_ <= next_evaluation) return false;
  deadline_ = next_evaluation;
  return true;
}

SlotMask SessionGroup::OnTimer(std::span<const SessionFacts> facts, const SessionParams& params,
                               const Waits& waits, SecretNumbers& random, Time now) {
  if (now < deadline_) return 0;
  weights_.SetPace(facts.first(count_), params, now);
  const bool used = EndDrains(facts);
  for (SessionIndex slot = 0; slot < count_; ++slot) {
    if (facts[slot].stalled) [[unlikely]]
      LeaveStalled(slot, now);
  }
  const SessionWeights::Extremes extremes =
      weights_.Weigh({slots_, count_}, open_, facts, waits.ack, now);
  min_weight_ = extremes.min_weight;
  Evaluate(extremes, params, random, now);
  MoveCongested(facts, params, random, now);
  SlotMask requests = 0;
  const Time next_evaluation = now + weights_.PaceOf(params);
  Time next = kNever;
  deadline_ = kNever;
  run_left_ = 0;
  for (SessionIndex slot = 0; slot < count_; ++slot) {
    if (used) Expire(slot, facts[slot], params, random, now);
    SessionSlot& each = slots_[slot];
    if (each.IsRequesting() && each.requested && now >= each.request_at) {
      OnUnanswered(slot, facts[slot].stalled, waits, random, now);
    }
    if ((each.IsRequesting() || each.state == State::kFencing) && now >= each.request_at) {
      OnRequested(each, params, waits, now);
      requests |= SlotBit(slot);
    }
    const bool drains = each.state == State::kDraining || each.state == State::kClearing ||
                        each.state == State::kFencing;
    const bool requesting = each.IsRequesting();
    if (requesting) next = std::min(next, each.request_at);
    if (requesting || drains || facts[slot].unacked_pdus != 0)
      next = std::min(next, next_evaluation);
  }
  // (A slot that the loop had passed may send its request at the next deadline.)
  deadline_ = deadline_ <= now ? std::min(next, next_evaluation) : next;
  return requests;
}

void SessionGroup::OnRequested(SessionSlot& slot, const SessionParams& params, const Waits& waits,
                               Time now) const {
  // Every answer may take longer than the wait, so the wait grows.
  const int more = std::clamp(slot.unanswered - kAsksBeforeFence + 1, 0, kMaxAskDoublings);
  Duration wait = waits.ask_again * (1 << more);
  if (weights_.MayBeSlow(slot)) wait = std::min(wait, kLate * weights_.SlowAfter(slot, params));
  slot.requested = true;
  slot.requested_at = now;
  slot.request_at = now + wait;
}

// Returns whether PDUs are in flight.
bool SessionGroup::EndDrains(std::span<const SessionFacts> facts) {
  bool used = false;
  for (SessionIndex slot = 0; slot < count_; ++slot) {
    SessionSlot& each = slots_[slot];
    used |= facts[slot].unacked_pdus != 0;
    if (facts[slot].unacked_pdus != 0) continue;
    if (each.state == State::kDraining) each.state = State::kIdle;
    if (each.state != State::kClearing) continue;
    each.state = State::kOpen;
    each.tx_pdus = facts[slot].tx_pdus;
    each.retransmissions = facts[slot].retransmissions;
    open_ |= SlotBit(slot);
  }
  return used;
}

// Whether there are too few sessions, or too many.
void SessionGroup::Evaluate(const SessionWeights::Extremes& extremes, const SessionParams& params,
                            SecretNumbers& random, Time now) {
  const bool all_high = extremes.min_delay >= Percent(params.open_percent);
  const bool all_low = extremes.max_delay < Percent((100 + params.open_percent) / 2);
  calm_since_ = all_low ? std::min(calm_since_, now) : kNever;
  if (all_high) return OpenAnother(random, now);
  const bool calm = all_low && now - calm_since_ >= params.idle_intervals * params.interval;
  if (!calm || std::popcount(open_) == 1) return;
  calm_since_ = now;
  DrainWorst();
}

// Requests kOpenings sessions. The first that is answered opens (ForgetOtherOpenings).
void SessionGroup::OpenAnother(SecretNumbers& random, Time now) {
  uint32_t opening = 0;
  for (SessionIndex slot = 0; slot < count_; ++slot) {
    opening += slots_[slot].state == State::kOpening ? 1 : 0;
  }
  if (opening != 0) return;
  for (SessionIndex slot = 0; slot < count_ && opening < kOpenings; ++slot) {
    if (slots_[slot].state != State::kIdle || now < slots_[slot].rest_until) continue;
    Request(slot, State::kOpening, random, now);
    ++opening;
  }
}

void SessionGroup::DrainWorst() {
  SessionIndex worst = 0;
  uint32_t max = 0;
  ForEachSlot(open_, [&](SessionIndex slot) {
    if (slots_[slot].weight < max) return;
    worst = slot;
    max = slots_[slot].weight;
  });
  slots_[worst].state = State::kDraining;
  open_ &= ~SlotBit(worst);
}

// Moves congested sessions. A session takes no third number while PDUs with its first are in
// flight: the receiver accepts its present and its former number.
void SessionGroup::MoveCongested(std::span<const SessionFacts> facts, const SessionParams& params,
                                 SecretNumbers& random, Time now) {
  const uint64_t limit = uint64_t{min_weight_} * params.move_percent;
  ForEachSlot(open_, [&](SessionIndex slot) {
    SessionSlot& each = slots_[slot];
    const bool high = uint64_t{each.weight} * 100 >= limit;
    each.high_intervals =
        high ? std::min<uint8_t>(each.high_intervals + uint8_t{1}, kHighIntervals) : uint8_t{0};
    if (each.high_intervals < kHighIntervals || each.state != State::kOpen) return;
    if (facts[slot].on_former_path) return;
    each.high_intervals = 0;
    Request(slot, State::kMoving, random, now);
    each.leaves_slow = true;
  });
}

// An old session takes another number. Until it has one no PDU takes it, provided that there is
// another session.
void SessionGroup::Expire(SessionIndex slot, const SessionFacts& facts, const SessionParams& params,
                          SecretNumbers& random, Time now) {
  SessionSlot& each = slots_[slot];
  if (params.max_age == Duration(0) || (open_ & SlotBit(slot)) == 0) return;
  if (now - each.since < params.max_age) return;
  if (each.state == State::kOpen) {
    if (facts.on_former_path) return;
    Request(slot, State::kMoving, random, now);
  }
  if (std::popcount(open_) != 1) open_ &= ~SlotBit(slot);
}

void SessionGroup::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  check(open_ != 0 && std::has_single_bit(count_));
  for (SessionIndex slot = 0; slot < count_; ++slot) {
    const SessionSlot& each = slots_[slot];
    const bool open = (open_ & SlotBit(slot)) != 0;
    check(SlotOf(each.number) == slot && SlotOf(each.requested_number) == slot);
    check(SlotOf(each.rx_number) == slot && SlotOf(each.rx_former) == slot);
    check(!open || each.state == State::kOpen || each.state == State::kMoving);
    check(open || each.state != State::kOpen);
    const bool fencing = (fencing_ & SlotBit(slot)) != 0;
    check(fencing == (each.state == State::kFencing));
    check(!fencing || (each.fenced && deadline_ != kNever));
    check(!each.IsRequesting() || deadline_ != kNever);
    for (const uint32_t value : {each.weight, each.delay}) {
      check(value >= SessionSlot::kWeightOne && value <= SessionSlot::kMaxWeight);
    }
  }
}

}  // namespace suede
