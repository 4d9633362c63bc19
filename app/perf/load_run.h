// SPDX-License-Identifier: Apache-2.0
// One run of a load of one size, as a step function.
//
//   connect  until all servers have responded
//   load     at full speed, at a rate, or a few in flight; begins with the warm-up
//   drain    until everything in flight is accounted for
//   finish   the rest, such as a verification
//
// The backend issues the load and takes its completions: StreamLoad, MemoryLoad or MessageLoad.
#ifndef SUEDE_APP_PERF_LOAD_RUN_H_
#define SUEDE_APP_PERF_LOAD_RUN_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "perf/interval_log.h"
#include "perf/progress.h"
#include "perf/results.h"
#include "perf/run_board.h"
#include "perf/run_plan.h"

namespace suede::perf {

// The account of one worker's run, which the run shares with its backend.
struct LoadRecord {
  const RunPlan plan;
  const std::atomic<bool>& stop;   // set by a signal
  RunResult result = {};           // the worker's share; the board has the servers' reports
  RateTrack track = {};            // of result.measured
  Time measure_from = kNever;      // kNever: before the measured interval
  Time last_measured = {};         // of result.measured
  IntervalCells* cells = nullptr;  // null: no log of intervals

  // Counts commands sent, or operations ended, in the measured interval.
  void Count(Time now, uint32_t commands) {
    result.measured += commands;
    track.Add(now - measure_from, commands);
    last_measured = now;
  }
  // Returns whether the latency is in the measured interval.
  bool AddLatency(Time now, Time start) {
    const bool measured = start >= measure_from;
    RecordTime(now - start, cells, measured, &result.latency_ns);
    if (measured && result.samples.size() < plan.max_samples) {
      result.samples.push_back({.start = start - measure_from, .latency = now - start});
    }
    return measured;
  }
  bool has_failed() const { return result.outcome != Outcome::kDone; }
  // Ends the run. Keeps the first reason.
  void Fail(Outcome outcome, std::string explanation) {
    if (has_failed()) return;
    result.outcome = outcome;
    result.explanation = std::move(explanation);
  }
};

// Progress of a backend in a phase.
enum class Advance : uint8_t { kIdle, kWorked, kDone, kAbandoned };

// Owned by the thread that calls Poll. A backend has:
//
//   kCountsSent       counts commands when they are sent, and the load ends when none can be sent
//                     for the drain timeout; false: counts operations when they end
//   Poll(now)         takes completions; returns whether there were any
//   Connect(now), Drain(now, deadline), Finish(now)   a step of the phase
//   Issue(now, max, left, schedule)   starts up to `max` of the `left` commands of the count
//   max_burst(), under_way()   limits of `max`
//   is_abandoned(), Abandon()  the end of the run of all workers
//   Settle()          completes the record's result
//   Flush()           ends a poll
template <class Backend>
class LoadRun {
 public:
  // `args`: those of the backend, behind the record.
  template <class... Args>
  LoadRun(const RunPlan& plan, const std::atomic<bool>& stop, Args&&... args)
      : record_{.plan = plan, .stop = stop}, backend_(record_, std::forward<Args>(args)...) {
    // Touches the memory before the load.
    record_.result.samples.resize(plan.max_samples);
    record_.result.samples.clear();
  }
  LoadRun(const LoadRun&) = delete;

  // Performs one step, without blocking if the backend does not. Returns whether there was work.
  bool Poll(Time now) {
    if (done()) return false;
    bool worked = backend_.Poll(now);
    if (!record_.has_failed()) worked |= Step(now);
    if (record_.has_failed()) {
      if (phase_ >= Phase::kLoad) Settle(load_ended_);
      backend_.Abandon();
      phase_ = Phase::kEnd;
    }
    backend_.Flush();
    if (progress_ != nullptr) ReportProgress();
    return worked;
  }

  bool done() const { return phase_ == Phase::kEnd; }
  // Reports progress to `progress`, which must outlive the run.
  void ReportTo(WorkerProgress* progress) { progress_ = progress; }
  // Records all latencies in `cells`, also those outside of the measured interval.
  void LogTo(IntervalCells* cells) { record_.cells = cells; }
  const LoadRecord& record() const { return record_; }

 private:
  enum class Phase : uint8_t { kConnect, kLoad, kDrain, kFinish, kEnd };

  bool Step(Time now) {
    Advance advance = Advance::kIdle;
    switch (phase_) {
      case Phase::kConnect:
        if (record_.stop.load(std::memory_order_relaxed)) return Interrupt();
        advance = backend_.Connect(now);
        if (advance == Advance::kDone) BeginLoad(now);
        if (advance == Advance::kAbandoned) phase_ = Phase::kEnd;
        break;
      case Phase::kLoad:
        return Load(now);
      case Phase::kDrain:
        advance = backend_.Drain(now, deadline_);
        if (advance != Advance::kDone) break;
        // With a count, the interval ends when the last command is accounted for; otherwise with
        // the load.
        Settle(record_.plan.count > 0 && !record_.result.interrupted ? now : load_ended_);
        phase_ = Phase::kFinish;
        break;
      case Phase::kFinish:
        advance = backend_.Finish(now);
        if (advance == Advance::kDone) phase_ = Phase::kEnd;
        break;
      case Phase::kEnd:
        break;
    }
    return advance != Advance::kIdle;
  }

  bool Interrupt() {
    record_.result.interrupted = true;
    backend_.Abandon();
    phase_ = Phase::kEnd;
    return true;
  }

  void BeginLoad(Time now) {
    schedule_ = RateSchedule(now, record_.plan.rate > 0 ? record_.plan.rate : 1);
    warm_until_ = now + record_.plan.warmup;
    last_progress_ = now;
    phase_ = Phase::kLoad;
  }

  // Issues the commands that are due. Returns whether there were any.
  bool Load(Time now) {
    if (!measuring() && now >= warm_until_) {
      record_.measure_from = now;
      sent_before_ = sent_;
    }
    if (record_.stop.load(std::memory_order_relaxed)) record_.result.interrupted = true;
    if (record_.result.interrupted || IsOver(now)) {
      load_ended_ = now;
      deadline_ = now + record_.plan.drain_timeout;
      phase_ = Phase::kDrain;
      return true;
    }
    const uint64_t budget = Budget(now);
    const uint32_t sent = budget == 0 ? 0 : backend_.Issue(now, budget, Left(), schedule_);
    sent_ += sent;
    if constexpr (Backend::kCountsSent) {
      if (measuring() && sent > 0) record_.Count(now, sent);
      const bool is_due = record_.plan.rate <= 0 || schedule_.DueBy(now) > sent_;
      if (sent > 0 || !is_due) last_progress_ = now;
    }
    return sent > 0;
  }

  bool measuring() const { return record_.measure_from != kNever; }
  // Remaining commands of the count, while measuring.
  uint64_t Left() const {
    if (record_.plan.count == 0 || !measuring()) return UINT64_MAX;
    return record_.plan.count - (sent_ - sent_before_);
  }

  // Whether the count or the duration is reached, or nothing could be sent for the drain timeout:
  // commands in flight were lost, or a server grants no credit. The drain phase determines which.
  bool IsOver(Time now) const {
    if (backend_.is_abandoned()) return true;
    if (Backend::kCountsSent && now - last_progress_ > record_.plan.drain_timeout) return true;
    if (!measuring()) return false;
    if (record_.plan.count > 0) return Left() == 0;
    return now - record_.measure_from >= record_.plan.duration;
  }

  // Returns the number of commands that may be issued now.
  uint64_t Budget(Time now) const {
    uint64_t budget = std::min(backend_.max_burst(), Left());
    if (record_.plan.rate > 0) {
      const uint64_t due = schedule_.DueBy(now);
      budget = std::min(budget, due > sent_ ? due - sent_ : 0);
    }
    if (record_.plan.latency) {
      const uint64_t out = backend_.under_way();
      budget =
          std::min<uint64_t>(budget, record_.plan.inflight > out ? record_.plan.inflight - out : 0);
    }
    return budget;
  }

  // Stores this worker's share of the result, as measured until `end`.
  void Settle(Time end) {
    RunResult& result = record_.result;
    if constexpr (!Backend::kCountsSent) end = record_.last_measured;
    result.sent = sent_;
    result.measured_time =
        measuring() ? std::max(end - record_.measure_from, Duration(0)) : Duration(0);
    backend_.Settle();
  }

  void ReportProgress() {
    progress_->sent.store(sent_, std::memory_order_relaxed);
    progress_->stage.store(phase_ < Phase::kLoad    ? Stage::kConnect
                           : phase_ == Phase::kLoad ? Stage::kLoad
                                                    : Stage::kDrain,
                           std::memory_order_relaxed);
  }

  LoadRecord record_;
  Backend backend_;
  WorkerProgress* progress_ = nullptr;
  Phase phase_ = Phase::kConnect;
  RateSchedule schedule_;
  uint64_t sent_ = 0;
  uint64_t sent_before_ = 0;  // commands sent before the measured interval
  Time warm_until_{};
  Time last_progress_{};
  Time load_ended_{};
  Time deadline_ = kNever;  // of the drain
};

// Combines the workers' shares and the board's reports, if there is one, into a result.
RunResult Combine(const std::vector<const LoadRecord*>& workers, const RunBoard* board = nullptr);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_LOAD_RUN_H_
