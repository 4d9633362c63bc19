// SPDX-License-Identifier: Apache-2.0
// Pacing of a run's load, and its measured interval.
#ifndef SUEDE_APP_PERF_LOAD_PHASE_H_
#define SUEDE_APP_PERF_LOAD_PHASE_H_

#include <algorithm>
#include <cstdint>

#include "perf/endpoint.h"
#include "perf/load_collector.h"
#include "perf/load_sender.h"
#include "perf/results.h"
#include "perf/run_plan.h"
#include "perf/schedule.h"

namespace suede::perf {

// The load of one worker. Owned by the thread that calls Send.
template <PerfEndpoint E>
class LoadPhase {
 public:
  // `plan` must outlive the object.
  LoadPhase(E& endpoint, const RunPlan& plan, LoadSender<E>& sender, LoadCollector<E>& collector,
            MessageTags& tags)
      : endpoint_(endpoint), plan_(plan), sender_(sender), collector_(collector), tags_(tags) {}

  void Begin(Time now) {
    schedule_ = RateSchedule(now, plan_.rate > 0 ? plan_.rate : 1);
    measure_from_ = now + plan_.warmup;
    last_progress_ = now;
    watch_at_ = now + WatchGap();
  }

  // Sends the commands that are due. Returns their number.
  uint32_t Send(Time now) {
    if (!measuring_ && now >= measure_from_) {
      measuring_ = true;
      measure_from_ = now;
      sent_before_ = sender_.sent();
      collector_.MeasureFrom(now);
    }
    if (now >= watch_at_) {
      watch_at_ = now + WatchGap();
      sender_.WatchNext(&tags_);
    }
    const uint64_t budget = Budget(now);
    const uint32_t sent = budget == 0 ? 0 : SendUpTo(now, budget);
    if (measuring_ && sent > 0) track_.Add(now - measure_from_, sent);
    const bool due = plan_.rate <= 0 || schedule_.DueBy(now) > sender_.sent();
    if (sent > 0 || !due) last_progress_ = now;
    return sent;
  }

  // Whether the count or the duration is reached.
  bool IsOver(Time now) const {
    if (!measuring_) return false;
    if (plan_.count > 0) return sender_.sent() - sent_before_ >= plan_.count;
    return now - measure_from_ >= plan_.duration;
  }

  // Whether nothing could be sent for the drain timeout: commands in flight were lost, or a server
  // grants no credit. The drain phase determines which.
  bool IsStalled(Time now) const { return now - last_progress_ > plan_.drain_timeout; }

  // Stores this worker's share of the result, as measured until `end`.
  void Settle(Time end, RunResult* result) const {
    result->sent = sender_.sent();
    result->sent_by_lane = sender_.sent_by_lane();
    result->measured = measuring_ ? sender_.sent() - sent_before_ : 0;
    result->measured_time = measuring_ ? std::max(end - measure_from_, Duration(0)) : Duration(0);
    result->blocked = sender_.blocked();
    result->latency_ns = collector_.latency_ns();
    result->completions = collector_.completions();
  }
  const RateTrack& track() const { return track_; }

 private:
  static constexpr uint32_t kBurst = 32;
  static constexpr uint32_t kPdus = 4;  // maximum of full PDUs in a burst at full speed

  // Interval in which each stream is watched once, up to 50 streams.
  static constexpr Duration kWatchRound = std::chrono::milliseconds(100);
  Duration WatchGap() const {
    const auto streams = static_cast<int64_t>(sender_.streams());
    return std::max<Duration>(kWatchRound / streams, std::chrono::milliseconds(2));
  }

  bool AtFullSpeed() const { return plan_.rate <= 0 && !plan_.latency; }
  // Returns the commands sent consecutively on a stream: a full PDU at full speed, fewer at the end
  // of a count, for an even distribution; otherwise 1.
  uint32_t Run() const {
    const uint64_t streams = sender_.streams();
    if (streams == 1) return sender_.pdu_commands();
    if (!AtFullSpeed()) return 1;
    const uint64_t share = plan_.count > 0 && measuring_ ? Left() / streams : UINT64_MAX;
    return static_cast<uint32_t>(std::clamp<uint64_t>(share, 1, sender_.pdu_commands()));
  }
  // Remaining commands of the count, while measuring.
  uint64_t Left() const { return plan_.count - (sender_.sent() - sent_before_); }

  // Returns the number of commands that may be sent now.
  uint64_t Budget(Time now) const {
    const uint64_t burst =
        AtFullSpeed() ? std::max(kBurst, kPdus * sender_.pdu_commands()) : kBurst;
    uint64_t budget = burst;
    if (plan_.rate > 0) {
      const uint64_t due = schedule_.DueBy(now);
      budget = due > sender_.sent() ? due - sender_.sent() : 0;
    }
    if (plan_.count > 0 && measuring_) {
      budget = std::min(budget, Left());
    }
    if (plan_.latency) {
      const uint64_t out = collector_.under_way();
      budget = std::min<uint64_t>(budget, plan_.inflight > out ? plan_.inflight - out : 0);
    }
    return std::min(budget, burst);
  }

  uint32_t SendUpTo(Time now, uint64_t budget) {
    const auto max = static_cast<uint32_t>(budget);
    uint32_t sent;
    if (plan_.rate > 0) {
      sent = sender_.Burst(max, Run(), [this](uint64_t k) { return schedule_.IntendedTime(k); });
    } else if (plan_.latency) {
      sent = sender_.Burst(max, Run(), [this](uint64_t) { return endpoint_.Now(); });
    } else {
      sent = sender_.Burst(max, Run(), [now](uint64_t) { return now; });
    }
    collector_.OnSent(sent);
    return sent;
  }

  E& endpoint_;
  const RunPlan& plan_;
  LoadSender<E>& sender_;
  LoadCollector<E>& collector_;
  MessageTags& tags_;
  Time watch_at_ = kNever;
  bool measuring_ = false;
  uint64_t sent_before_ = 0;  // commands sent before the measured interval
  RateSchedule schedule_;
  Time last_progress_;
  Time measure_from_ = kNever;
  RateTrack track_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_LOAD_PHASE_H_
