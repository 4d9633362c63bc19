// SPDX-License-Identifier: Apache-2.0
#include "congestion/credit_source.h"

#include <algorithm>

#include "congestion/bandwidth_delay.h"

namespace suede {
namespace {

// Max repetitions of a request without a backlog. With a backlog, the number of unanswered requests
// after which the target counts as silent.
constexpr uint8_t kTries = 4;
// A target that answers, but grants no credit, counts as silent after this many times `repeat_max`.
constexpr int kPatience = 32;
// The time between PDUs without credit grows up to 2^6 `repeat_max`.
constexpr int kMaxDoublings = 6;

}  // namespace

CreditSource::CreditSource(const CongestionParams& params, const PathLimits& path, Time now)
    : largest_(path.largest_octets), granted_at_(now) {
  const int64_t bdp = BandwidthDelayOctets(path.rate_bps, params.base_rtt);
  reserve_ = ReserveOctets(bdp, params.initial_percent, largest_);
  SetRate(params, path.rate_bps);
  target_ = highest_ = reserve_;
}

void CreditSource::SetRate(const CongestionParams& params, uint64_t rate_bps) {
  const int64_t ask = BandwidthDelayOctets(rate_bps, params.base_rtt) * params.ask_bdp;
  const int64_t min = std::max(reserve_, largest_);
  ask_ = static_cast<uint32_t>(std::clamp<int64_t>(ask, min, kCreditSpan / 2));
}

void CreditSource::RaiseLargest(uint32_t octets) {
  largest_ = octets;
  ask_ = std::max(ask_, octets);
}

int64_t CreditSource::OnGrant(Credit24 credit, int64_t limit, const CongestionParams& params,
                              Duration base_rtt, Time now) {
  const int64_t granted = credit.Octets(limit);
  if (granted < limit || granted > highest_) return limit;
  // The target may grant no credit, but it is alive. Even so, a source without a backlog stops its
  // requests.
  if (granted > limit || starved_) unanswered_ = 0;
  if (granted == limit) return limit;
  interval_ = now - std::max(granted_at_, asked_at_);
  granted_at_ = now;
  speculations_ = 0;
  wait_ = FirstWait(params, base_rtt);
  repeat_due_ = granted < target_ ? now + wait_ : kNever;
  return granted;
}

int64_t CreditSource::Speculate(int64_t sent, int64_t limit, const CongestionParams& params,
                                Time now) {
  const bool silent = unanswered_ >= kTries ||
                      now - std::max(granted_at_, asked_at_) >= kPatience * params.repeat_max;
  if (!starved_ || !silent || limit - sent >= largest_ || now < speculate_due_) return limit;
  speculate_due_ = now + params.repeat_max * (1 << speculations_);
  if (speculations_ < kMaxDoublings) ++speculations_;
  return RoundUpToCredit(sent + largest_);
}

std::optional<CreditRequest> CreditSource::Poll(uint64_t backlog, int64_t sent, int64_t limit,
                                                const CongestionParams& params, Duration base_rtt,
                                                Time now) {
  const auto needed = static_cast<int64_t>(std::min<uint64_t>(backlog, ask_));
  const Numbers numbers{
      .target = RoundUpToCredit(sent + needed + reserve_), .sent = sent, .limit = limit};
  const bool was_starved = starved_;
  starved_ = limit - sent < needed;
  wanted_ = kNever;
  // An idle source stops its repetitions; its first backlog restarts them.
  const bool forgotten = starved_ && !was_starved && target_ > limit && repeat_due_ == kNever;
  if (now >= repeat_due_ && !starved_ && unanswered_ >= kTries) repeat_due_ = kNever;
  if (now >= repeat_due_ || forgotten) {
    wait_ = forgotten ? FirstWait(params, base_rtt) : std::min(2 * wait_, params.repeat_max);
  } else if (!IsNews(numbers)) {
    return std::nullopt;
  } else if (now < next_request_) {
    wanted_ = next_request_;
    return std::nullopt;
  }
  return MakeRequest(numbers, params, base_rtt, now);
}

bool CreditSource::IsNews(const Numbers& numbers) const {
  const auto& [target, sent, limit] = numbers;
  const int64_t pending = target_ - limit;
  if (pending <= 0) {
    return starved_ || limit - sent < reserve_ / 2;
  }
  // Half of the permitted request is not requested yet; or the backlog has shrunk, and others
  // should not wait for credit that this source would leave unused.
  const int64_t more = target - limit;
  return (more >= 2 * pending && more - pending >= largest_) ||
         (2 * std::max<int64_t>(more, 0) < pending && target_ - target >= 2 * int64_t{largest_});
}

CreditRequest CreditSource::MakeRequest(const Numbers& numbers, const CongestionParams& params,
                                        Duration base_rtt, Time now) {
  const auto& [target, sent, limit] = numbers;
  if (target_ <= limit) {
    // Earlier observations of other senders may be outdated.
    interval_ /= 2;
    asked_at_ = now;
    wait_ = FirstWait(params, base_rtt);
  }
  target_ = target;
  highest_ = std::max(highest_, target);
  wait_ = std::max(wait_, base_rtt / 4);
  repeat_due_ = target > limit ? now + wait_ : kNever;
  next_request_ = now + base_rtt / 4;
  if (unanswered_ < kTries) ++unanswered_;
  return {Credit24::Floor(target), Credit24::Floor(sent), Credit24::Floor(limit)};
}

// Returns the wait before the first repetition. A target with many senders grants to each only now
// and then: a request that was not lost is not repeated.
Duration CreditSource::FirstWait(const CongestionParams& params, Duration base_rtt) const {
  const Duration first = params.repeat != Duration(0) ? params.repeat : 4 * base_rtt;
  return std::min(std::max(first, 2 * interval_), params.repeat_max);
}

std::string_view CreditSource::state_name(int64_t sent, int64_t limit) const {
  if (starved_ && speculations_ != 0) return "speculating";
  if (starved_ && limit - sent < largest_) return "asking";
  return starved_ ? "granted" : "idle";
}

}  // namespace suede
