// SPDX-License-Identifier: Apache-2.0
// The iterations of a rank: its transfers, step by step, or its requests, and the load that it
// receives.
#ifndef SUEDE_APP_PERF_RANK_WORK_H_
#define SUEDE_APP_PERF_RANK_WORK_H_

#include <cstdint>
#include <map>
#include <memory>

#include "perf/load_run.h"
#include "perf/rank_ledger.h"
#include "perf/rank_plan.h"
#include "perf/request_loop.h"
#include "perf/transfer_sender.h"

namespace suede::perf {

// Not thread-safe.
template <PerfEndpoint E>
class RankWork {
 public:
  RankWork(E& endpoint, const RankPlan& plan, Traffic& traffic, RankResult& result)
      : plan_(plan),
        traffic_(traffic),
        result_(result),
        sender_(endpoint, plan, result),
        requests_(plan, sender_, result) {
    result.steps.resize(traffic.steps());
  }

  void LogFlowsTo(FlowLog* log) { flow_log_ = log; }
  void LogTo(IntervalCells* cells) {
    cells_ = cells;
    if (plan_.HasRequests())
      requests_.LogTo(cells);
    else
      sender_.LogTo(cells);
  }

  // ---- Received load.

  void OnLoad(uint32_t source, const ReceivedCommand& command, Time now) {
    ++loads_;
    const uint8_t tag = command.control[3];
    if (ledger_ != nullptr && tag != tag_) {
      ++result_.stale;
      return;
    }
    RankLedger* const ledger = ledger_ != nullptr ? ledger_ : LedgerOf(tag);
    if (!ledger->OnLoad(source, command, now)) return;
    if (cells_ != nullptr) cells_->OnLoad({command.source_xpuid, command.vc}, command.data_bytes);
    if (plan_.HasRequests()) requests_.OnCommand(source, command.control[2] & 1, now);
  }
  // Sets the tag of the run. Drops the load of other runs from then on.
  void SetTag(uint8_t tag) {
    if (ledger_ != nullptr) return;
    tag_ = tag;
    ledger_ = LedgerOf(tag);
    sender_.SetTag(tag);
  }
  uint8_t tag() const { return tag_; }
  uint64_t loads() const { return loads_; }  // received commands of load, of all runs
  Account ToAccount() const { return ledger_ != nullptr ? ledger_->ToAccount() : Account(); }

  // ---- Iterations.

  TransferSender<E>& sender() { return sender_; }
  bool measured() const { return measured_; }
  Time due() const { return due_; }  // start of the iteration's measured time

  void OnCompletion(const suede_completion& done, Time now) {
    sender_.OnCompletion(done, now, measured_);
  }

  void Begin(bool measured, Time due, Time now) {
    measured_ = measured;
    due_ = due;
    begin_ = now;
    sent_before_ = result_.sent_bytes;
    ledger_->Begin(now);
    step_ = 0;
    if (plan_.HasRequests())
      requests_.Begin(now, now + plan_.duration);
    else
      BeginStep(now);
  }

  // Performs a part of the work. Returns kDone at the end of the iteration, or without barriers of
  // the last one. `stop`: ends requests early.
  Advance Poll(Time now, bool stop) {
    if (plan_.HasRequests()) {
      if (stop) requests_.Stop(now);
      const bool worked = requests_.Poll(now, measured_);
      if (requests_.IsOver(now) && sender_.done()) return End(now);
      return worked ? Advance::kWorked : Advance::kIdle;
    }
    calculates_ = now < busy_until_;
    if (calculates_ || !sender_.done() || !ledger_->HasAll()) return Advance::kIdle;
    if (measured_) result_.steps[step_].Add(now - due_);
    if (++step_ == traffic_.steps()) return End(now);
    BeginStep(now);
    return Advance::kWorked;
  }
  // Whether the traffic itself has a pause now: a think time, or one or a calculation of a trace.
  bool IsPausing() const {
    if (plan_.HasRequests()) return requests_.IsThinking();
    return calculates_ || (sender_.waits() && !sender_.done());
  }

  // Returns what the iteration waits for, for an error message. `name`: names a rank.
  template <class Name>
  std::string Missing(const Name& name) const {
    for (uint32_t rank = 0; rank < plan_.xpuids.size(); ++rank) {
      const uint64_t missing = ledger_->MissingFrom(rank);
      if (missing == 0) continue;
      return " waits for " + std::to_string(missing) + " commands of " + name(rank) + " in step " +
             std::to_string(step_) + " of iteration " + std::to_string(iteration_) +
             ": have all processes the same workload, --bytes, --size and --seed?";
    }
    return " cannot send: no credit";
  }

 private:
  static constexpr size_t kMaxLedgers = 4;

  // Returns the ledger of a tag. Before the rank knows its run's tag, it keeps a ledger for each
  // received tag, up to kMaxLedgers.
  RankLedger* LedgerOf(uint8_t tag) {
    auto found = ledgers_.find(tag);
    if (found != ledgers_.end()) return found->second.get();
    if (ledgers_.size() == kMaxLedgers) ledgers_.erase(ledgers_.begin());
    const auto ranks = static_cast<uint32_t>(plan_.xpuids.size());
    return ledgers_.emplace(tag, std::make_unique<RankLedger>(ranks)).first->second.get();
  }

  void BeginStep(Time now) {
    if (step_ == 0 && flow_log_ != nullptr) flow_log_->begins.push_back(now);
    const Step step = traffic_.StepOf(plan_.rank, iteration_, step_);
    busy_until_ = now + step.busy;
    // The steps of a trace have times of their own.
    const Time from = plan_.traffic.pattern == Pattern::kTrace ? now : begin_;
    for (const Transfer& out : step.out) {
      sender_.Add({.rank = out.rank,
                   .vc = out.vc >= 0 ? static_cast<uint8_t>(out.vc)
                                     : plan_.vcs[out.rank % plan_.vcs.size()],
                   .bytes = out.bytes,
                   .due = from + out.due},
                  now);
    }
    for (const Transfer& in : step.in) ledger_->Want(in.rank, plan_.CommandsOf(in.bytes));
  }

  Advance End(Time now) {
    ++iteration_;
    if (measured_) {
      ++result_.iterations;
      result_.iteration_ns.Record(static_cast<uint64_t>((now - due_).count()));
      result_.measured += now - begin_;
      result_.measured_bytes += result_.sent_bytes - sent_before_;
    }
    if (flow_log_ != nullptr) ledger_->AddTo(*flow_log_, iteration_ - 1);
    ledger_->End(measured_);
    if (plan_.barrier || plan_.HasRequests() || iteration_ >= plan_.iterations) {
      return Advance::kDone;
    }
    Begin(measured_, now, now);
    return Advance::kWorked;
  }

  const RankPlan& plan_;
  Traffic& traffic_;
  RankResult& result_;
  TransferSender<E> sender_;
  RequestLoop<E> requests_;
  std::map<uint8_t, std::unique_ptr<RankLedger>> ledgers_;  // by tag of the run
  RankLedger* ledger_ = nullptr;                            // of this run
  FlowLog* flow_log_ = nullptr;
  IntervalCells* cells_ = nullptr;
  uint8_t tag_ = 0;
  uint64_t loads_ = 0;
  uint64_t iteration_ = 0;
  uint32_t step_ = 0;
  bool measured_ = false;
  bool calculates_ = false;  // the step is not over because of a calculation
  Time busy_until_{};
  Time due_{};
  Time begin_{};
  uint64_t sent_before_ = 0;  // bytes
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RANK_WORK_H_
