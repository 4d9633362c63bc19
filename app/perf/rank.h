// SPDX-License-Identifier: Apache-2.0
// One rank of a workload: steps of transfers, barriers between iterations, sums at the end
// (docs/suede-perf.md, "Workloads"). A step function, as in load_run.h.
#ifndef SUEDE_APP_PERF_RANK_H_
#define SUEDE_APP_PERF_RANK_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "perf/batch_receiver.h"
#include "perf/rank_barrier.h"
#include "perf/rank_work.h"

namespace suede::perf {

// Owned by the thread that calls Poll. Ranks of the same thread share `traffic`.
template <PerfEndpoint E>
class Rank {
 public:
  Rank(E& endpoint, const RankPlan& plan, Traffic& traffic, uint32_t nonce,
       const std::atomic<bool>& stop)
      : endpoint_(endpoint),
        plan_(plan),
        nonce_(nonce),
        stop_(stop),
        receiver_(endpoint, plan.vcs),
        barrier_(endpoint, plan_, nonce),
        work_(endpoint, plan_, traffic, result_) {
    for (uint32_t rank = 0; rank < plan_.xpuids.size(); ++rank) {
      rank_of_.emplace(plan_.xpuids[rank], rank);
    }
    result_.rank = plan_.rank;
    result_.xpuid = plan_.xpuids[plan_.rank];
  }
  Rank(const Rank&) = delete;

  // Performs one step without blocking. Returns whether there was work.
  bool Poll(Time now) {
    if (phase_ == Phase::kStart) Begin(now);
    const uint64_t loads = work_.loads();
    const bool received =
        receiver_.Poll([&](const ReceivedCommand& c) { return OnCommand(c, now); });
    const Completed completed = PollCompletions(now);
    const bool signaled = barrier_.Step(phase_ == Phase::kWait || phase_ == Phase::kAccount, now);
    const bool advanced = AdvancePhase(now);
    // Sends at a barrier, too: other ranks may wait for responses.
    const bool sent = work_.sender().Send(now);
    // During work only load is a sign of life, received or completed, not the repeated messages of
    // ranks at a barrier.
    const bool progressed = phase_ == Phase::kWork ? work_.loads() != loads || completed.load
                                                   : received || completed.any;
    if (progressed || advanced || sent) last_progress_ = now;
    CheckProgress(now);
    return received || completed.any || signaled || advanced || sent;
  }

  bool done() const { return phase_ == Phase::kEnd; }
  // Logs times of iterations and flows to `log`, which must outlive the rank.
  void LogFlowsTo(FlowLog* log) { work_.LogFlowsTo(log); }
  // Counts load and latencies in `cells`, which must outlive the rank.
  void LogTo(IntervalCells* cells) { work_.LogTo(cells); }
  const RankResult& result() const { return result_; }

 private:
  enum class Phase : uint8_t { kStart, kWait, kWork, kAccount, kLinger, kEnd };
  // Time that an interrupted rank waits for rank 0, which may have been interrupted, too.
  static constexpr Duration kStopGrace = std::chrono::seconds(1);

  void Begin(Time now) {
    last_progress_ = now;
    phase_ = Phase::kWait;
    barrier_.Arrive(0, now);
  }

  bool OnCommand(const ReceivedCommand& command, Time now) {
    const auto found = rank_of_.find(command.source_xpuid);
    if (found == rank_of_.end() || command.control_bytes < kSequencedControlBytes) return true;
    const Opcode opcode = OpcodeOf(command.control);
    if (opcode == Opcode::kProtocol) {
      const auto message = DecodeMessage(command.control, command.control_bytes);
      if (message) barrier_.OnMessage(found->second, *message, command);
    } else if (opcode == Opcode::kLoad || opcode == Opcode::kCheckedLoad) [[likely]] {
      work_.OnLoad(found->second, command, now);
    }
    return true;
  }

  struct Completed {
    bool any = false;
    bool load = false;
  };
  Completed PollCompletions(Time now) {
    suede_completion done[32];
    const uint32_t count = endpoint_.PollCompletions(done, 32);
    Completed completed{.any = count > 0};
    for (uint32_t i = 0; i < count; ++i) {
      if (done[i].tag == CompletionTags::kMessage) {
        barrier_.tags().OnCompletion();
      } else {
        work_.OnCompletion(done[i], now);
        completed.load = true;
      }
    }
    return completed;
  }

  bool AdvancePhase(Time now) {
    switch (phase_) {
      case Phase::kWait:
        return Wait(now);
      case Phase::kWork:
        return Work(now);
      case Phase::kAccount:
        return WaitToLeave();
      case Phase::kLinger:
        if (barrier_.IsQuiet() && work_.sender().done()) phase_ = Phase::kEnd;
        return false;
      default:
        return false;
    }
  }

  // ---- Barriers.

  bool Wait(Time now) {
    if (stop_.load(std::memory_order_relaxed) && !barrier_.leads()) {
      // Gives rank 0, which may be interrupted as well, time to collect the sums.
      if (stopped_ == Time()) stopped_ = now;
      if (now - stopped_ > kStopGrace) return Interrupt();
    }
    if (barrier_.leads() && !released_ && barrier_.AllAt(number_)) {
      if (all_at_ == Time()) all_at_ = now;
      // Open loop: delays the iteration until its scheduled time.
      if (now < DueOf(number_)) {
        last_progress_ = now;
        return false;
      }
      Lead(now);
    }
    const auto release = barrier_.Take();
    if (!release) return false;
    released_ = false;
    all_at_ = Time();
    if (first_ == Time()) first_ = now;
    work_.SetTag(release->tag);
    ++number_;
    if (release->next == Next::kAccount) {
      phase_ = Phase::kAccount;
      result_.account = work_.ToAccount();
      barrier_.SendAccount(result_.account, now);
    } else {
      phase_ = Phase::kWork;
      // Open loop: measures the iteration from its scheduled time.
      const Time due = DueOf(number_ - 1);
      work_.Begin(release->next == Next::kMeasure, due == Time() ? now : due, now);
    }
    return true;
  }

  Time DueOf(uint32_t number) const {
    if (plan_.rate <= 0 || number == 0 || plan_.HasRequests()) return Time();
    return first_ + Duration(static_cast<int64_t>(number * 1e9 / plan_.rate));
  }

  // Releases all ranks from the barrier. Called on rank 0 once all have arrived.
  void Lead(Time now) {
    released_ = true;
    Release release{.barrier = number_, .tag = work_.tag()};
    if (number_ == 0) {
      release.tag = static_cast<uint8_t>(nonce_);
      first_ = now;
    } else if (work_.measured()) {
      result_.all_ns.Record(static_cast<uint64_t>((all_at_ - work_.due()).count()));
    }
    const bool warm = now - first_ < plan_.warmup && plan_.barrier && !plan_.HasRequests();
    if (warm && !stop_) {
      release.next = Next::kWarmUp;
    } else if (IsLast(now)) {
      release.next = Next::kAccount;
    } else {
      if (result_.iterations == 0 && begin_measured_ == Time()) begin_measured_ = now;
      release.next = Next::kMeasure;
    }
    barrier_.ReleaseAll(release);
  }

  bool IsLast(Time now) {
    if (stop_.load(std::memory_order_relaxed)) {
      result_.interrupted = true;
      return true;
    }
    if (number_ == 0 || begin_measured_ == Time()) return false;
    if (!plan_.barrier || plan_.HasRequests()) return true;
    if (plan_.iterations != 0) return result_.iterations >= plan_.iterations;
    return now - begin_measured_ >= plan_.duration;
  }

  bool WaitToLeave() {
    if (barrier_.leads() && !released_ && barrier_.HasAllAccounts()) {
      released_ = true;
      result_.all = barrier_.sum();
      barrier_.ReleaseAll({.barrier = number_, .next = Next::kLeave, .tag = work_.tag()});
    }
    const auto release = barrier_.Take();
    if (!release) return false;
    phase_ = Phase::kLinger;
    return true;
  }

  bool Work(Time now) {
    if (work_.sender().refused()) {
      Fail(Outcome::kRefused, "the endpoint refuses the commands as invalid");
      return true;
    }
    const Advance advance = work_.Poll(now, stop_.load(std::memory_order_relaxed));
    if (work_.IsPausing()) last_progress_ = now;
    if (advance == Advance::kDone) {
      phase_ = Phase::kWait;
      barrier_.Arrive(number_, now);
    }
    return advance != Advance::kIdle;
  }

  // ---- Ends.

  void CheckProgress(Time now) {
    if (phase_ == Phase::kEnd) return;
    if (endpoint_.lost()) return Fail(Outcome::kEndpointLost, "the daemon went away");
    if (phase_ != Phase::kLinger && !work_.sender().unreachable().empty()) {
      return Fail(Outcome::kPeerSilent, work_.sender().unreachable());
    }
    const Duration max = number_ == 0 ? plan_.connect_timeout : plan_.stall_timeout;
    if (now - last_progress_ <= max) return;
    if (phase_ == Phase::kLinger) {
      phase_ = Phase::kEnd;
      return;
    }
    Fail(Outcome::kPeerSilent, Missing());
  }

  std::string Missing() const {
    const auto name = [&](uint32_t rank) {
      return "rank " + std::to_string(rank) + " (XPU " + std::to_string(plan_.xpuids[rank]) + ")";
    };
    const std::string own = name(plan_.rank);
    if (phase_ != Phase::kWork) {
      const uint32_t other = barrier_.leads() ? barrier_.FirstMissing(number_) : 0;
      return own + " hears nothing of " + name(other) + " at barrier " + std::to_string(number_) +
             ": does that process run, with the same --ranks?";
    }
    return own + work_.Missing(name);
  }

  bool Interrupt() {
    result_.interrupted = true;
    phase_ = Phase::kEnd;
    return true;
  }
  void Fail(Outcome outcome, std::string explanation) {
    result_.outcome = outcome;
    result_.explanation = std::move(explanation);
    result_.account = work_.ToAccount();
    phase_ = Phase::kEnd;
  }

  E& endpoint_;
  const RankPlan plan_;
  const uint32_t nonce_;
  const std::atomic<bool>& stop_;
  RankResult result_;
  std::unordered_map<uint16_t, uint32_t> rank_of_;  // by XPU
  BatchReceiver<E> receiver_;
  RankBarrier<E> barrier_;
  RankWork<E> work_;
  Phase phase_ = Phase::kStart;
  uint32_t number_ = 0;    // of the next barrier
  bool released_ = false;  // rank 0 has released this barrier
  Time last_progress_{};   // time of the last progress
  Time first_{};           // rank 0: the first release
  Time begin_measured_{};
  Time all_at_{};
  Time stopped_{};
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RANK_H_
