// SPDX-License-Identifier: Apache-2.0
#include "peer/session_group.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace suede {
namespace {

using State = SessionSlot::State;

constexpr uint32_t kMostWeight = SessionSlot::kWeightOne << 10;
// A session moves only if it was congested in so many intervals in a row.
constexpr uint8_t kHighIntervals = 2;
// Of its age, the part after which a session gets its next number, in eighths.
constexpr int kReplaceAtEighths = 7;

constexpr uint32_t Percent(uint32_t percent) { return SessionSlot::kWeightOne * percent / 100; }

template <typename Each>
void ForEach(SlotMask mask, Each&& each) {
  for (; mask != 0; mask &= mask - 1) each(static_cast<uint32_t>(std::countr_zero(mask)));
}

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
      break;
  }
  return "draining";
}

void SessionGroup::Begin(uint32_t count, uint32_t numbers, Time now) {
  count_ = static_cast<uint8_t>(count);
  numbers_ = numbers;
  for (uint32_t slot = 0; slot < count; ++slot) {
    const auto number = static_cast<uint16_t>(slot);
    slots_[slot] = {.number = number, .asked = number, .rx_number = number, .rx_former = number};
  }
  slots_[0].state = State::kOpen;
  slots_[0].since = now;
  open_ = BitOf(0);
  deadline_ = kNever;
  calm_intervals_ = 0;
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
  slot.rx_former = request.in_use;
  return true;
}

bool SessionGroup::OnAnswer(const SessionNumber& answer, Time now) {
  if (answer.slot >= count_ || !IsAsking(answer.slot)) return false;
  SessionSlot& slot = slots_[answer.slot];
  if (answer.turn != slot.turn || answer.number != slot.asked) return false;
  slot.number = slot.asked;
  slot.state = State::kOpen;
  slot.since = now;
  slot.weight = SessionSlot::kWeightOne;
  slot.high_intervals = 0;
  open_ |= BitOf(answer.slot);
  return true;
}

SessionNumber SessionGroup::RequestOf(uint32_t slot) const {
  return {.slot = static_cast<uint8_t>(slot),
          .number = slots_[slot].asked,
          .in_use = slots_[slot].number,
          .turn = slots_[slot].turn};
}

// Draws another number for the slot; OnTimer says when the peer is asked for it.
void SessionGroup::Ask(uint32_t slot, State state, SecretNumbers& random, Time now) {
  SessionSlot& asking = slots_[slot];
  const uint32_t choices = numbers_ / count_;
  const uint32_t current = asking.number / count_;
  // Any but the one that it has, where there are others.
  const auto drawn = static_cast<uint32_t>(random.Next() >> 32) % std::max(choices - 1, 1u);
  const uint32_t chosen = choices > 1 && drawn >= current ? drawn + 1 : drawn;
  asking.asked = static_cast<uint16_t>(chosen * count_ + slot);
  asking.state = state;
  asking.ask_at = now;
  asking.requested = false;
  ++asking.turn;
  deadline_ = now;
}

bool SessionGroup::OnStall(uint32_t slot, SecretNumbers& random, Time now) {
  if (count_ == 1 || IsAsking(slot)) return false;
  Ask(slot, State::kMoving, random, now);
  return true;
}

void SessionGroup::OnPlaneDown() {
  for (uint32_t slot = 0; slot < count_; ++slot) {
    SessionSlot& asking = slots_[slot];
    if (asking.state == State::kOpening) asking.state = State::kIdle;
    if (asking.state == State::kMoving) {
      asking.state = (open_ & BitOf(slot)) != 0 ? State::kOpen : State::kDraining;
    }
  }
  deadline_ = kNever;
}

// ---- Time.

bool SessionGroup::OnTraffic(Time now, const SessionParams& params) {
  if (count_ == 1 || deadline_ <= now + params.interval) return false;
  deadline_ = now + params.interval;
  return true;
}

SlotMask SessionGroup::OnTimer(std::span<const Facts> facts, const SessionParams& params,
                               Duration ask_every, SecretNumbers& random, Time now) {
  if (now < deadline_) return 0;
  Weigh(facts);
  EndDrains(facts);
  Judge(params, random, now);
  MoveCongested(params, random, now);
  SlotMask asks = 0;
  deadline_ = kNever;
  for (uint32_t slot = 0; slot < count_; ++slot) {
    Expire(slot, params, random, now);
    SessionSlot& each = slots_[slot];
    if (IsAsking(slot) && now >= each.ask_at) {
      // One that was asked for before leads nowhere, or the answer was lost.
      if (each.requested) Ask(slot, each.state, random, now);
      each.requested = true;
      each.ask_at = now + ask_every;
      asks |= BitOf(slot);
    }
    if (IsAsking(slot) || each.state == State::kDraining || facts[slot].unacked_pdus != 0) {
      deadline_ = std::min(deadline_, now + params.interval);
    }
  }
  if (deadline_ <= now) deadline_ = now + params.interval;
  return asks;
}

// The weight goes up at once, and down by half of the difference. What nothing was sent on is not
// known to be congested.
uint64_t SessionGroup::WeightOf(const SessionSlot& slot, const Facts& fact, Duration least) {
  uint64_t weight = SessionSlot::kWeightOne;
  const bool used = fact.tx_pdus != slot.tx_pdus || fact.unacked_pdus != 0;
  if (used && fact.srtt > least) {
    weight =
        weight * static_cast<uint64_t>(fact.srtt.count()) / static_cast<uint64_t>(least.count());
  }
  if (fact.retransmissions != slot.retransmissions) {
    return 2 * std::max<uint64_t>(weight, slot.weight);
  }
  return weight < slot.weight ? (weight + slot.weight) / 2 : weight;
}

void SessionGroup::Weigh(std::span<const Facts> facts) {
  Duration least = Duration::max();
  ForEach(open_, [&](uint32_t slot) {
    if (facts[slot].least_rtt != Duration(0)) least = std::min(least, facts[slot].least_rtt);
  });
  ForEach(open_, [&](uint32_t slot) {
    SessionSlot& each = slots_[slot];
    const uint64_t weight = WeightOf(each, facts[slot], least);
    each.weight = static_cast<uint32_t>(std::min<uint64_t>(weight, kMostWeight));
    each.tx_pdus = facts[slot].tx_pdus;
    each.retransmissions = facts[slot].retransmissions;
  });
}

void SessionGroup::EndDrains(std::span<const Facts> facts) {
  for (uint32_t slot = 0; slot < count_; ++slot) {
    if (slots_[slot].state == State::kDraining && facts[slot].unacked_pdus == 0) {
      slots_[slot].state = State::kIdle;
    }
  }
}

// Whether there are too few sessions, or too many.
void SessionGroup::Judge(const SessionParams& params, SecretNumbers& random, Time now) {
  bool all_high = true;
  bool all_low = true;
  ForEach(open_, [&](uint32_t slot) {
    all_high &= slots_[slot].weight >= Percent(params.open_percent);
    all_low &= slots_[slot].weight < Percent((100 + params.open_percent) / 2);
  });
  calm_intervals_ = all_low ? calm_intervals_ + 1 : 0;
  if (all_high) return OpenAnother(random, now);
  if (calm_intervals_ < params.idle_intervals || std::popcount(open_) == 1) return;
  calm_intervals_ = 0;
  DrainWorst();
}

// One at a time: whether it is enough shows when it is used.
void SessionGroup::OpenAnother(SecretNumbers& random, Time now) {
  uint32_t idle = count_;
  for (uint32_t slot = 0; slot < count_; ++slot) {
    if (slots_[slot].state == State::kOpening) return;
    if (slots_[slot].state == State::kIdle && idle == count_) idle = slot;
  }
  if (idle != count_) Ask(idle, State::kOpening, random, now);
}

void SessionGroup::DrainWorst() {
  uint32_t worst = 0;
  uint32_t most = 0;
  ForEach(open_, [&](uint32_t slot) {
    if (slots_[slot].weight < most) return;
    worst = slot;
    most = slots_[slot].weight;
  });
  slots_[worst].state = State::kDraining;
  open_ &= ~BitOf(worst);
}

void SessionGroup::MoveCongested(const SessionParams& params, SecretNumbers& random, Time now) {
  uint32_t best = kMostWeight;
  ForEach(open_, [&](uint32_t slot) { best = std::min(best, slots_[slot].weight); });
  ForEach(open_, [&](uint32_t slot) {
    SessionSlot& each = slots_[slot];
    const bool high = uint64_t{each.weight} * 100 >= uint64_t{best} * params.move_percent;
    each.high_intervals = high ? static_cast<uint8_t>(each.high_intervals + 1) : uint8_t{0};
    if (each.high_intervals < kHighIntervals || each.state != State::kOpen) return;
    each.high_intervals = 0;
    Ask(slot, State::kMoving, random, now);
  });
}

// An old one gets its next number before it ends; when it ends without, nothing takes it any more,
// if there is another one.
void SessionGroup::Expire(uint32_t slot, const SessionParams& params, SecretNumbers& random,
                          Time now) {
  SessionSlot& each = slots_[slot];
  if (params.max_age == Duration(0) || (open_ & BitOf(slot)) == 0) return;
  const Duration age = now - each.since;
  if (each.state == State::kOpen && age >= params.max_age * kReplaceAtEighths / 8) {
    Ask(slot, State::kMoving, random, now);
  }
  if (age < params.max_age || std::popcount(open_) == 1) return;
  open_ &= ~BitOf(slot);
}

void SessionGroup::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  check(open_ != 0 && std::has_single_bit(count_));
  for (uint32_t slot = 0; slot < count_; ++slot) {
    const SessionSlot& each = slots_[slot];
    const bool open = (open_ & BitOf(slot)) != 0;
    check(SlotOf(each.number) == slot && SlotOf(each.asked) == slot);
    check(SlotOf(each.rx_number) == slot && SlotOf(each.rx_former) == slot);
    check(!open || each.state == State::kOpen || each.state == State::kMoving);
    check(open || each.state != State::kOpen);
    check(!IsAsking(slot) || deadline_ != kNever);
    check(each.weight >= SessionSlot::kWeightOne && each.weight <= kMostWeight);
  }
}

}  // namespace suede
