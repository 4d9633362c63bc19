// SPDX-License-Identifier: Apache-2.0
// Requests of a rank to random other ranks, and responses to theirs: closed loop with a think time,
// or open loop at a rate.
#ifndef SUEDE_APP_PERF_REQUEST_LOOP_H_
#define SUEDE_APP_PERF_REQUEST_LOOP_H_

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "perf/rank_plan.h"
#include "perf/transfer_sender.h"

namespace suede::perf {

// Not thread-safe.
template <PerfEndpoint E>
class RequestLoop {
 public:
  static constexpr uint8_t kRequest = 0;  // flows
  static constexpr uint8_t kResponse = 1;

  RequestLoop(const RankPlan& plan, TransferSender<E>& sender, RankResult& result)
      : plan_(plan),
        sender_(sender),
        result_(result),
        random_(plan.traffic.seed * 0x9e3779b97f4a7c15u + plan.rank),
        request_commands_(plan.CommandsOf(plan.traffic.bytes)),
        response_commands_(plan.CommandsOf(plan.response_bytes)),
        received_requests_(plan.xpuids.size()),
        pending_(plan.xpuids.size()) {}

  void Begin(Time now, Time end) {
    end_ = end;
    next_arrival_ = now;
    free_at_ = {};
    for (uint32_t i = 0; i < plan_.inflight && plan_.rate <= 0; ++i) free_at_.push(now);
  }
  // Sends the requests that are due. Returns whether there were any.
  bool Poll(Time now, bool measured) {
    measured_ = measured;
    bool worked = false;
    if (plan_.rate > 0) {
      while (next_arrival_ <= now && next_arrival_ < end_ && outstanding_ < plan_.inflight) {
        Send(next_arrival_);
        next_arrival_ += Exponential(1e9 / plan_.rate);
        worked = true;
      }
      return worked;
    }
    for (; !free_at_.empty() && free_at_.top() <= now && now < end_; worked = true) {
      free_at_.pop();
      Send(now);
    }
    return worked;
  }
  // Whether the rank's own requests are finished. It still responds to others.
  bool IsOver(Time now) const { return now >= end_ && outstanding_ == 0; }
  // Whether no request is in flight; long pauses are then normal.
  bool IsThinking() const { return outstanding_ == 0; }
  void Stop(Time now) { end_ = std::min(end_, now); }
  // Also records response times in `cells`.
  void LogTo(IntervalCells* cells) { cells_ = cells; }

  // Processes a command from `source`, already counted.
  void OnCommand(uint32_t source, uint8_t flow, Time now) {
    if (flow == kRequest) {
      if (++received_requests_[source] % request_commands_ != 0) return;
      sender_.Add({.rank = source,
                   .vc = plan_.vcs.size() > 1 ? plan_.vcs[1] : plan_.vcs[0],
                   .flow = kResponse,
                   .bytes = plan_.response_bytes,
                   .due = now},
                  now);
      return;
    }
    std::deque<Request>& pending = pending_[source];
    if (pending.empty() || ++pending.front().received < response_commands_) return;
    const Duration took = now - pending.front().due;
    pending.pop_front();
    --outstanding_;
    RecordTime(took, cells_, measured_, &result_.response_ns);
    if (plan_.rate > 0) return;
    free_at_.push(now + Exponential(static_cast<double>(plan_.think.count())));
  }

 private:
  struct Request {
    Time due;
    uint64_t received = 0;  // received commands of the response
  };
  double Unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  Duration Exponential(double mean_ns) {
    return Duration(std::llround(-std::log1p(-Unit()) * mean_ns));
  }
  void Send(Time due) {
    const auto ranks = static_cast<uint32_t>(plan_.xpuids.size());
    const auto to = static_cast<uint32_t>((plan_.rank + 1 + random_() % (ranks - 1)) % ranks);
    pending_[to].push_back({.due = due});
    ++outstanding_;
    sender_.Add({.rank = to,
                 .vc = plan_.vcs[0],
                 .flow = kRequest,
                 .bytes = plan_.traffic.bytes,
                 .due = due},
                due);
  }

  const RankPlan& plan_;
  TransferSender<E>& sender_;
  RankResult& result_;
  IntervalCells* cells_ = nullptr;
  std::mt19937_64 random_;
  const uint64_t request_commands_;
  const uint64_t response_commands_;
  Time end_{};
  Time next_arrival_{};
  bool measured_ = false;
  uint32_t outstanding_ = 0;
  std::priority_queue<Time, std::vector<Time>, std::greater<>> free_at_;  // closed loop
  std::vector<uint64_t> received_requests_;   // received commands of requests, by rank
  std::vector<std::deque<Request>> pending_;  // own requests without a complete response
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_REQUEST_LOOP_H_
