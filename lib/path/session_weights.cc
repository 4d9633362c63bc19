// SPDX-License-Identifier: Apache-2.0
#include "path/session_weights.h"

#include <algorithm>
#include <array>

namespace suede {
namespace {

// PDUs between two evaluations of the weights, at least: an evaluation costs as much as one or two
// PDUs.
constexpr uint32_t kPdusOfEvaluation = 16;
// Maximum delay that counts as congestion of a path, over the least one.
constexpr uint64_t kMaxDelay = uint64_t{SessionSlot::kWeightOne} * 10;

// PDUs after which earlier marks do not count any more.
constexpr uint32_t kPdusOfMarks = 16;
// Max numbers in a row that are refused because their paths are slow. The next number is taken: all
// paths may be slow for a common cause.
constexpr uint8_t kSlowNumbers = 3;

// Values of the open sessions with which each session is compared.
struct Common {
  Duration min;      // the smallest round trip of any
  Duration fastest;  // the present round trip of the fastest
};

// Raises a value at once, and lowers it by half of the difference; by less for an unused session,
// whose congestion is not known. Doubles the value of a session that lost PDUs.
uint32_t Followed(uint64_t value, uint32_t before, bool used, bool lost) {
  constexpr uint64_t kSlow = 8;
  if (lost) value = 2 * std::max<uint64_t>(value, before);
  if (value < before)
    value = used ? (value + before) / 2 : before - (before - value + kSlow - 1) / kSlow;
  return static_cast<uint32_t>(std::min<uint64_t>(value, SessionSlot::kMaxWeight));
}

uint64_t RatioOf(Duration time, Duration base) {
  return SessionSlot::kWeightOne * static_cast<uint64_t>(time.count()) /
         static_cast<uint64_t>(std::max<int64_t>(base.count(), 1));
}

// The cost of a byte in flight: the third power of the delay over the least one. With the first
// power, a path that takes twice as long would still have a quarter of another path's traffic.
uint32_t WeightOf(uint64_t delay) {
  constexpr uint64_t kOne = SessionSlot::kWeightOne;
  delay = std::min(delay, kMaxDelay);
  return static_cast<uint32_t>(delay * delay * delay / (kOne * kOne));
}

// Whether the slot counts as free, and no PDU sent since the last evaluation could change that.
bool IsAtRest(const SessionSlot& slot, const SessionFacts& fact) {
  constexpr uint32_t kOne = SessionSlot::kWeightOne;
  return ((fact.tx_pdus - slot.tx_pdus) | fact.unacked_pdus |
          (fact.retransmissions - slot.retransmissions) | (slot.weight ^ kOne) |
          (slot.delay ^ kOne)) == 0;
}

// The more PDUs were sent, the more their marks count.
void NoteMarks(SessionSlot& slot, const SessionFacts& fact) {
  const uint32_t pdus = fact.tx_pdus - slot.tx_pdus;
  if ((slot.marks | slot.marked) == 0 || (pdus | slot.marked) == 0) return;
  const uint32_t all = std::max(pdus, slot.marked);
  const auto part = static_cast<int32_t>(SessionSlot::kWeightOne * uint64_t{slot.marked} / all);
  const auto before = static_cast<int32_t>(slot.marks);
  const auto counted = static_cast<int32_t>(std::min(all, kPdusOfMarks));
  slot.marks = static_cast<uint32_t>(before + (part - before) * counted / int32_t{kPdusOfMarks});
  slot.marked = 0;
}

// Common delay of all sessions, as in the own port, is no reason to prefer a session: the weight
// counts a session's delay beyond the fastest session's. A path that marks all PDUs weighs as much
// as a path that takes half of the smallest round trip longer. An unused session is not known to be
// congested.
void NoteWeight(SessionSlot& slot, const SessionFacts& fact, Duration rtt, const Common& common) {
  const bool used =
      (fact.tx_pdus != slot.tx_pdus || fact.unacked_pdus != 0) && fact.srtt != Duration(0);
  uint64_t delay = SessionSlot::kWeightOne;
  uint64_t weight = SessionSlot::kWeightOne;
  if (used && (rtt > common.min || slot.marks != 0)) {
    delay = RatioOf(std::max(rtt, common.min), common.min) + slot.marks;
  }
  if (used && (rtt > common.fastest || slot.marks != 0)) {
    const Duration later = std::max(rtt, common.fastest) - common.fastest;
    weight = WeightOf(RatioOf(common.min + later, common.min) + slot.marks / 2);
  }
  const bool lost = fact.retransmissions != slot.retransmissions;
  slot.delay = Followed(delay, slot.delay, used, lost);
  slot.weight = Followed(weight, slot.weight, used, lost);
  slot.tx_pdus = fact.tx_pdus;
  slot.retransmissions = fact.retransmissions;
}

// Returns the round trip of the path: without the time for which the peer may have waited for
// another PDU, to acknowledge both. That time is at most the gap between two PDUs: the slot's
// average gap, or twice that gap, as PDUs arrive unevenly.
Duration RttOf(SessionSlot& slot, const SessionFacts& fact, Duration ack_wait, Time now) {
  const uint32_t pdus = fact.tx_pdus - slot.tx_pdus;
  if (pdus != 0) {
    slot.gap = (now - slot.sent_at) / pdus;
    slot.sent_at = now;
  }
  return fact.srtt - std::min(ack_wait, 2 * slot.gap);
}

}  // namespace

void SessionWeights::Begin(Time now) {
  min_rtt_ = Duration(0);
  fastest_rtt_ = Duration(0);
  evaluated_at_ = now;
  pace_ns_ = 0;
}

SessionWeights::Extremes SessionWeights::Weigh(std::span<SessionSlot> slots, SlotMask open,
                                               std::span<const SessionFacts> facts,
                                               Duration ack_wait, Time now) {
  Duration min = Duration::max();
  Duration fastest = Duration::max();
  std::array<Duration, kMaxSessions> rtts;  // (Most groups need a few.)
  ForEachSlot(open, [&](SessionIndex slot) {
    const SessionFacts& fact = facts[slot];
    rtts[slot] = RttOf(slots[slot], fact, ack_wait, now);
    if (fact.min_rtt != Duration(0)) min = std::min(min, fact.min_rtt);
    if (fact.srtt != Duration(0)) fastest = std::min(fastest, rtts[slot]);
    NoteMarks(slots[slot], fact);
  });
  const Common common{.min = min, .fastest = std::max(fastest, min)};
  min_rtt_ = min == Duration::max() ? Duration(0) : min;
  fastest_rtt_ = fastest == Duration::max() ? Duration(0) : common.fastest;
  Extremes extremes;
  ForEachSlot(open, [&](SessionIndex slot) {
    SessionSlot& each = slots[slot];
    if (!IsAtRest(each, facts[slot])) NoteWeight(each, facts[slot], rtts[slot], common);
    extremes.min_weight = std::min(extremes.min_weight, each.weight);
    extremes.min_delay = std::min(extremes.min_delay, each.delay);
    extremes.max_delay = std::max(extremes.max_delay, each.delay);
  });
  return extremes;
}

void SessionWeights::SetPace(std::span<const SessionFacts> facts, const SessionParams& params,
                             Time now) {
  uint32_t sum = 0;
  Duration min = params.interval;
  for (const SessionFacts& fact : facts) {
    sum += fact.tx_pdus;
    if (fact.min_rtt != Duration(0)) min = std::min(min, fact.min_rtt);
  }
  const uint32_t pdus = std::max(sum - tx_pdus_, 1u);
  const Duration of_pdus = (now - evaluated_at_) * kPdusOfEvaluation / pdus;
  const Duration max = std::min(params.interval, 2 * PaceOf(params));  // step by step
  pace_ns_ = static_cast<uint32_t>(std::clamp(of_pdus, std::min(min, max), max).count());
  tx_pdus_ = sum;
  evaluated_at_ = now;
}

bool SessionWeights::MayBeSlow(const SessionSlot& slot) const {
  return (slot.state == SessionSlot::State::kOpening || slot.leaves_slow) &&
         slot.slow_numbers < kSlowNumbers && min_rtt_ != Duration(0);
}

Duration SessionWeights::SlowAfter(const SessionSlot& slot, const SessionParams& params) const {
  const Duration limit = min_rtt_ * params.open_percent / 100;
  return slot.state == SessionSlot::State::kOpening ? limit : std::max(limit, fastest_rtt_);
}

}  // namespace suede
