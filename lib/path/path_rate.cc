// SPDX-License-Identifier: Apache-2.0
#include "path/path_rate.h"

namespace suede {
namespace {

// A window of fewer round trips is too coarse; a longer window does not show the present rate.
constexpr int kRoundTrips = 8;
constexpr Duration kMaxWindow = std::chrono::seconds(1);
// Minimum in flight, in quarters of the bytes that the rate carries within the smallest round trip.
constexpr uint64_t kQuartersInFlight = 5;
// Part of the distance to the best plane that a plane gets beyond its measured part: if paths were
// not the limit, all parts become equal.
constexpr uint32_t kTowardBest = 32;
// Windows until more than the measured part is tried.
constexpr int kHoldWindows = 64;
constexpr int64_t kMaxSteps = 32;  // of growth at once: from kMin to kWhole

}  // namespace

void PathRate::Reset() {
  part_ = kWhole;
  last_ = 0;
  spoiled_ = true;
  rate_bps_ = 0;
  rtt_ = Duration(0);
}

void PathRate::Begin(const Facts& facts, Time now) {
  bytes_ = 0;
  min_left_ = facts.inflight_bytes;
  spoiled_ = facts.disturbed;
  acked_pdus_ = facts.acked_pdus;
  begun_at_ = now;
}

// Returns whether there was a queue throughout: the bytes in flight were always at least a quarter
// more than the path alone holds at this rate. If the queue had ever been empty, all bytes in
// flight would have passed within one round trip, faster than the rate; and while the queue is not
// empty, no byte is faster.
bool PathRate::WasLimit(const Facts& facts, Duration span) const {
  if (bytes_ == 0 || span > kMaxWindow || rtt_ == Duration(0)) return false;
  const Duration rtt = facts.ack_wait + rtt_;
  const uint64_t of_way = bytes_ * static_cast<uint64_t>(rtt.count()) * kQuartersInFlight / 4 /
                          static_cast<uint64_t>(span.count());
  return min_left_ >= of_way;
}

PathRate::Verdict PathRate::CloseWindow(const Facts& facts, Duration interval, Time now) {
  // While a queue stands, no round trip is that of the path alone.
  if (rtt_ == Duration(0) || (facts.min_rtt != Duration(0) && facts.min_rtt < rtt_)) {
    rtt_ = facts.min_rtt;
  }
  const Duration span = now - begun_at_;
  if (span < std::max(interval, kRoundTrips * rtt_)) return {};
  const bool counts = !spoiled_ && !facts.disturbed && facts.expected_bps != 0;
  Verdict verdict;
  if (!counts) {
    last_ = 0;
  } else if (WasLimit(facts, span)) {
    verdict = {.was_limit = true, .changed = OnRate(facts, span, interval, now)};
  } else {
    last_ = 0;
    verdict.changed = Grow(span, interval, now);
  }
  Begin(facts, now);
  return verdict;
}

// Two windows in a row have to agree that the part is more, or less: acknowledgements that were
// held back make one window poorer and the next one richer.
bool PathRate::OnRate(const Facts& facts, Duration span, Duration interval, Time now) {
  const uint64_t pdus = facts.acked_pdus - acked_pdus_;
  const auto octets = static_cast<double>(bytes_ + pdus * facts.frame_octets);
  const double bps = octets * 8e9 / static_cast<double>(span.count());
  rate_bps_ = static_cast<uint64_t>(bps);
  const double ratio = std::min(bps / static_cast<double>(facts.expected_bps), 1.0);
  const uint32_t part = std::max(static_cast<uint32_t>(ratio * kWhole), kMin);
  const uint32_t before = last_;
  last_ = static_cast<uint16_t>(part);
  if (before == 0) return false;
  uint32_t value = std::clamp<uint32_t>(part_, std::min(before, part), std::max(before, part));
  if (value < facts.best) value += (facts.best - value) / kTowardBest;
  hold_until_ = now + kHoldWindows * interval;
  const bool changed = value != part_;
  part_ = static_cast<uint16_t>(value);
  return changed;
}

// The plane carries its whole load: after a while it gets more, until the load is too much.
bool PathRate::Grow(Duration span, Duration interval, Time now) {
  if (part_ == kWhole || now < hold_until_) return false;
  uint32_t part = part_;
  for (int64_t steps = std::min(span / interval, kMaxSteps); steps != 0; --steps) {
    part = std::min(part + part / 8, kWhole);
  }
  part_ = static_cast<uint16_t>(part);
  return true;
}

}  // namespace suede
