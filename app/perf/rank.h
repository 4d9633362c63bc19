// SPDX-License-Identifier: Apache-2.0
// One rank of a workload: steps of transfers, barriers between iterations, sums at the end
// (docs/suede-perf.md, "Workloads"). A step function, as in load_run.h.
#ifndef SUEDE_APP_PERF_RANK_H_
#define SUEDE_APP_PERF_RANK_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "perf/batch_receiver.h"
#include "perf/rank_barrier.h"
#include "perf/rank_ledger.h"
#include "perf/rank_plan.h"
#include "perf/request_loop.h"
#include "perf/transfer_sender.h"

namespace suede::perf {

// Owned by the thread that calls Turn. Ranks of the same thread share `traffic`.
template <PerfEndpoint E>
class Rank {
 public:
  Rank(E& endpoint, const RankPlan& plan, Traffic& traffic, uint32_t nonce,
       const std::atomic<bool>& stop)
      : endpoint_(endpoint),
        plan_(plan),
        traffic_(traffic),
        nonce_(nonce),
        stop_(stop),
        receiver_(endpoint, plan.vcs),
        sender_(endpoint, plan_, result_),
        barrier_(endpoint, plan_, nonce),
        requests_(plan_, sender_, result_) {
    for (uint32_t rank = 0; rank < plan_.xpuids.size(); ++rank) {
      rank_of_.emplace(plan_.xpuids[rank], rank);
    }
    result_.rank = plan_.rank;
    result_.xpuid = plan_.xpuids[plan_.rank];
    result_.steps.resize(traffic.steps());
  }
  Rank(const Rank&) = delete;

  // Performs one step without blocking. Returns whether there was work.
  bool Turn(Time now) {
    if (phase_ == Phase::kStart) Begin(now);
    const uint64_t loads = loads_;
    const bool came = receiver_.Poll([&](const ReceivedCommand& c) { return OnCommand(c, now); });
    const bool completed = PollCompletions(now);
    const bool said = barrier_.Step(phase_ == Phase::kWait || phase_ == Phase::kAccount, now);
    const bool advanced = Advance(now);
    // Sends at a barrier, too: other ranks may wait for responses.
    const bool sent = sender_.Send(now);
    // During work only received load is a sign of life, not the repeated messages of ranks at a
    // barrier.
    const bool heard = phase_ == Phase::kWork ? loads_ != loads : came;
    if (heard || completed || advanced || sent) alive_ = now;
    CheckLife(now);
    return came || completed || said || advanced || sent;
  }

  bool done() const { return phase_ == Phase::kEnd; }
  // Logs times of iterations and flows to `log`, which must outlive the rank.
  void LogFlowsTo(FlowLog* log) { flow_log_ = log; }
  // Counts load and latencies in `cells`, which must outlive the rank.
  void LogTo(IntervalCells* cells) {
    cells_ = cells;
    if (IsRequests())
      requests_.LogTo(cells);
    else
      sender_.LogTo(cells);
  }
  const RankResult& result() const { return result_; }

 private:
  enum class Phase : uint8_t { kStart, kWait, kWork, kAccount, kLinger, kEnd };
  static constexpr size_t kMaxLedgers = 4;
  // Time that an interrupted rank waits for rank 0, which may have been interrupted, too.
  static constexpr Duration kStopGrace = std::chrono::seconds(1);

  void Begin(Time now) {
    alive_ = now;
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
      OnLoad(found->second, command, now);
    }
    return true;
  }

  void OnLoad(uint32_t source, const ReceivedCommand& command, Time now) {
    ++loads_;
    const uint8_t tag = command.control[3];
    if (ledger_ != nullptr && tag != tag_) {
      ++result_.stale;
      return;
    }
    RankLedger* const ledger = ledger_ != nullptr ? ledger_ : LedgerOf(tag);
    if (!ledger->OnLoad(source, command, now)) return;
    if (cells_ != nullptr) cells_->OnLoad(command.source_xpuid, command.vc, command.data_bytes);
    if (plan_.traffic.pattern == Pattern::kRequestResponse) {
      requests_.OnCommand(source, command.control[2] & 1, now);
    }
  }

  // Returns the ledger of a tag. Before the rank knows its run's tag, it keeps a ledger for each
  // received tag, up to kMaxLedgers.
  RankLedger* LedgerOf(uint8_t tag) {
    auto found = ledgers_.find(tag);
    if (found != ledgers_.end()) return found->second.get();
    if (ledgers_.size() == kMaxLedgers) ledgers_.erase(ledgers_.begin());
    const auto ranks = static_cast<uint32_t>(plan_.xpuids.size());
    return ledgers_.emplace(tag, std::make_unique<RankLedger>(ranks)).first->second.get();
  }
  void TakeTag(uint8_t tag) {
    if (ledger_ != nullptr) return;
    tag_ = tag;
    ledger_ = LedgerOf(tag);
    sender_.SetTag(tag);
  }

  bool PollCompletions(Time now) {
    suede_completion done[32];
    const uint32_t count = endpoint_.PollCompletions(done, 32);
    for (uint32_t i = 0; i < count; ++i) {
      if (done[i].tag == MessageTags::kTag)
        barrier_.tags().OnCompletion();
      else
        sender_.OnCompletion(done[i], now, measured_);
    }
    return count > 0;
  }

  bool Advance(Time now) {
    switch (phase_) {
      case Phase::kWait:
        return Wait(now);
      case Phase::kWork:
        return Work(now);
      case Phase::kAccount:
        return WaitToLeave();
      case Phase::kLinger:
        if (barrier_.IsQuiet() && sender_.done()) phase_ = Phase::kEnd;
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
        alive_ = now;
        return false;
      }
      Lead(now);
    }
    const auto release = barrier_.Take();
    if (!release) return false;
    released_ = false;
    all_at_ = Time();
    if (first_ == Time()) first_ = now;
    TakeTag(release->tag);
    ++number_;
    if (release->next == Next::kAccount) {
      phase_ = Phase::kAccount;
      result_.account = ledger_->ToAccount();
      barrier_.SendAccount(result_.account, now);
    } else {
      BeginIteration(release->next == Next::kMeasure, now);
    }
    return true;
  }

  Time DueOf(uint32_t number) const {
    if (plan_.rate <= 0 || number == 0 || IsRequests()) return Time();
    return first_ + Duration(static_cast<int64_t>(number * 1e9 / plan_.rate));
  }
  bool IsRequests() const { return plan_.traffic.pattern == Pattern::kRequestResponse; }

  // Releases all ranks from the barrier. Called on rank 0 once all have arrived.
  void Lead(Time now) {
    released_ = true;
    Release release{.barrier = number_, .tag = tag_};
    if (number_ == 0) {
      release.tag = static_cast<uint8_t>(nonce_);
      first_ = now;
    } else if (measured_) {
      result_.all_ns.Record(static_cast<uint64_t>((all_at_ - due_).count()));
    }
    const bool warm = now - first_ < plan_.warmup && plan_.barrier && !IsRequests();
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
    if (!plan_.barrier || IsRequests()) return true;
    if (plan_.iterations != 0) return result_.iterations >= plan_.iterations;
    return now - begin_measured_ >= plan_.duration;
  }

  bool WaitToLeave() {
    if (barrier_.leads() && !released_ && barrier_.HasAllAccounts()) {
      released_ = true;
      result_.all = barrier_.sum();
      barrier_.ReleaseAll({.barrier = number_, .next = Next::kLeave, .tag = tag_});
    }
    const auto release = barrier_.Take();
    if (!release) return false;
    phase_ = Phase::kLinger;
    return true;
  }

  // ---- Work.

  void BeginIteration(bool measured, Time now) {
    phase_ = Phase::kWork;
    measured_ = measured;
    // Open loop: measures the iteration from its scheduled time.
    due_ = std::max(DueOf(number_ - 1), Time());
    if (due_ == Time()) due_ = now;
    begin_ = now;
    sent_before_ = result_.sent_bytes;
    ledger_->Begin(now);
    step_ = 0;
    if (IsRequests())
      requests_.Begin(now, now + plan_.duration);
    else
      BeginStep(now);
  }

  void BeginStep(Time now) {
    if (step_ == 0 && flow_log_ != nullptr) flow_log_->begins.push_back(now);
    const Step step = traffic_.StepOf(plan_.rank, iteration_, step_);
    for (const Transfer& out : step.out) {
      sender_.Add({.rank = out.rank,
                   .vc = out.vc >= 0 ? static_cast<uint8_t>(out.vc)
                                     : plan_.vcs[out.rank % plan_.vcs.size()],
                   .bytes = out.bytes,
                   .due = begin_ + out.due},
                  now);
    }
    for (const Transfer& in : step.in) {
      ledger_->Want(in.rank, (in.bytes - 1) / plan_.data_bytes + 1);
    }
  }

  bool Work(Time now) {
    if (sender_.refused()) {
      Fail(Outcome::kRefused, "the endpoint refuses the commands as invalid");
      return true;
    }
    if (IsRequests()) return Request(now);
    if (!sender_.done() || !ledger_->HasAll()) {
      // A trace may have long pauses.
      if (sender_.waits() && !sender_.done()) alive_ = now;
      return false;
    }
    if (measured_) result_.steps[step_].Add(now - due_);
    if (++step_ < traffic_.steps())
      BeginStep(now);
    else
      EndIteration(now);
    return true;
  }

  bool Request(Time now) {
    if (stop_.load(std::memory_order_relaxed)) requests_.Stop(now);
    const bool worked = requests_.Turn(now, measured_);
    if (requests_.thinks()) alive_ = now;
    if (!requests_.IsOver(now) || !sender_.done()) return worked;
    EndIteration(now);
    return true;
  }

  void EndIteration(Time now) {
    ++iteration_;
    if (measured_) {
      ++result_.iterations;
      result_.iteration_ns.Record(static_cast<uint64_t>((now - due_).count()));
      result_.measured += now - begin_;
      result_.measured_bytes += result_.sent_bytes - sent_before_;
    }
    if (flow_log_ != nullptr) ledger_->AddTo(*flow_log_, iteration_ - 1);
    ledger_->End(measured_);
    const bool goes_on = !plan_.barrier && !IsRequests() && iteration_ < plan_.iterations;
    if (goes_on) {
      due_ = begin_ = now;
      sent_before_ = result_.sent_bytes;
      ledger_->Begin(now);
      step_ = 0;
      return BeginStep(now);
    }
    phase_ = Phase::kWait;
    barrier_.Arrive(number_, now);
  }

  // ---- Ends.

  void CheckLife(Time now) {
    if (phase_ == Phase::kEnd) return;
    if (endpoint_.lost()) return Fail(Outcome::kEndpointLost, "the daemon went away");
    if (phase_ != Phase::kLinger && !sender_.unreachable().empty()) {
      return Fail(Outcome::kPeerSilent, sender_.unreachable());
    }
    const Duration max = number_ == 0 ? plan_.connect_timeout : plan_.stall_timeout;
    if (now - alive_ <= max) return;
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
    for (uint32_t rank = 0; rank < plan_.xpuids.size(); ++rank) {
      const uint64_t missing = ledger_->MissingFrom(rank);
      if (missing == 0) continue;
      return own + " waits for " + std::to_string(missing) + " commands of " + name(rank) +
             " in step " + std::to_string(step_) + " of iteration " + std::to_string(iteration_) +
             ": have all processes the same workload, --bytes, --size and --seed?";
    }
    return own + " cannot send: no credit";
  }

  bool Interrupt() {
    result_.interrupted = true;
    phase_ = Phase::kEnd;
    return true;
  }
  void Fail(Outcome outcome, std::string explanation) {
    result_.outcome = outcome;
    result_.explanation = std::move(explanation);
    if (ledger_ != nullptr) result_.account = ledger_->ToAccount();
    phase_ = Phase::kEnd;
  }

  E& endpoint_;
  const RankPlan plan_;
  Traffic& traffic_;
  const uint32_t nonce_;
  const std::atomic<bool>& stop_;
  RankResult result_;
  std::unordered_map<uint16_t, uint32_t> rank_of_;  // by XPU
  BatchReceiver<E> receiver_;
  TransferSender<E> sender_;
  RankBarrier<E> barrier_;
  RequestLoop<E> requests_;
  std::map<uint8_t, std::unique_ptr<RankLedger>> ledgers_;  // by tag of the run
  RankLedger* ledger_ = nullptr;                            // of this run
  FlowLog* flow_log_ = nullptr;
  uint8_t tag_ = 0;
  Phase phase_ = Phase::kStart;
  uint32_t number_ = 0;  // of the next barrier
  uint64_t iteration_ = 0;
  uint32_t step_ = 0;
  bool measured_ = false;
  bool released_ = false;  // rank 0 has released this barrier
  IntervalCells* cells_ = nullptr;
  uint64_t loads_ = 0;     // received commands of load
  Time alive_{};           // time of the last progress
  Time first_{};           // rank 0: the first release
  Time begin_measured_{};
  Time all_at_{};
  Time stopped_{};
  Time due_{};  // start of the iteration's measured time
  Time begin_{};
  uint64_t sent_before_ = 0;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RANK_H_
