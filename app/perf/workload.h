// SPDX-License-Identifier: Apache-2.0
// The client side of the workload: one run of one size, as a step function.
//
//   hello   sends START on each stream, repeatedly, until each server has responded with READY
//   load    sends commands at full speed, at a rate, or a few in flight; begins with the warm-up
//   drain   sends REPORT REQUEST behind the last command of each stream, until each server has
//           reported its counts, and echoes and completions are received
//
// docs/suede-perf.md describes the messages. Turn never blocks, so an lcore can call it.
#ifndef SUEDE_APP_PERF_WORKLOAD_H_
#define SUEDE_APP_PERF_WORKLOAD_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "perf/endpoint.h"
#include "perf/load_collector.h"
#include "perf/load_phase.h"
#include "perf/load_sender.h"
#include "perf/message_sender.h"
#include "perf/message_tags.h"
#include "perf/progress.h"
#include "perf/results.h"
#include "perf/run_board.h"
#include "perf/run_plan.h"
#include "perf/server.h"

namespace suede::perf {

// One worker's part of a run. Owned by the thread that calls Turn.
template <PerfEndpoint E>
class ClientWorkload {
 public:
  // Receives on `vcs`, and sends on the endpoint's lanes as `flow` and the following flows.
  // `server`: a peer's server, to which this workload passes commands, and whose Turn it calls.
  ClientWorkload(E& endpoint, const RunPlan& plan, RunBoard& board, uint16_t own_xpuid,
                 uint8_t flow, const std::vector<uint8_t>& vcs, const std::atomic<bool>& stop,
                 ServerWorkload<E>* server = nullptr)
      : endpoint_(endpoint),
        plan_(plan),
        board_(board),
        flow_(flow),
        stop_(stop),
        server_(server),
        own_tags_(endpoint.completion_limit()),
        sender_(endpoint, plan.shape, plan.streams, own_xpuid, flow),
        collector_(endpoint, plan, board, sender_, vcs, tags(), server),
        load_(endpoint, plan_, sender_, collector_, tags()),
        messages_(endpoint, plan_.streams, tags()) {
    result_.latency_is_rtt = plan.WantsEcho();
    if (plan.WantsEcho()) sender_.KeepTimes(plan.inflight);
  }

  // Performs one step without blocking. Returns whether there was work.
  bool Turn(Time now) {
    bool worked = collector_.Poll();
    // Serves before the load, which would use up the credit.
    if (server_ != nullptr) worked |= server_->Turn(now);
    if (progress_ != nullptr) ReportProgress();
    if (endpoint_.lost()) Fail(Outcome::kEndpointLost, "the endpoint went away");
    if (!collector_.unreachable().empty()) {
      Fail(collector_.is_no_peer() ? Outcome::kNoPeer : Outcome::kPeerSilent,
           collector_.unreachable());
    }
    if (messages_.refused()) Fail(Outcome::kRefused, "the endpoint calls a destination invalid");
    switch (phase_) {
      case Phase::kStart: return Begin(now);
      case Phase::kHello: return Hello(now) || worked;
      case Phase::kLoad: return Load(now) || worked;
      case Phase::kDrain: return Drain(now) || worked;
      case Phase::kLinger: return Linger() || worked;
      case Phase::kEnd: return worked;
    }
    return worked;
  }

  bool done() const { return phase_ == Phase::kEnd; }
  // Reports progress to `progress`, which must outlive the workload.
  void ReportTo(WorkerProgress* progress) { progress_ = progress; }
  // Records all latencies in `cells`, also those outside of the measured interval.
  void LogTo(IntervalCells* cells) { collector_.LogTo(cells); }
  // This worker's share of the result. The board has the servers' reports.
  const RunResult& result() const { return result_; }
  const RateTrack& track() const { return load_.track(); }

 private:
  enum class Phase : uint8_t { kStart, kHello, kLoad, kDrain, kLinger, kEnd };
  // A peer's server shares the accounting of completions.
  MessageTags& tags() { return server_ != nullptr ? server_->tags() : own_tags_; }
  void ReportProgress() {
    progress_->sent.store(sender_.sent(), std::memory_order_relaxed);
    if (server_ != nullptr) {
      progress_->received.store(server_->received(), std::memory_order_relaxed);
    }
    progress_->stage.store(phase_ < Phase::kLoad    ? Stage::kConnect
                           : phase_ == Phase::kLoad ? Stage::kLoad
                                                    : Stage::kDrain,
                           std::memory_order_relaxed);
  }

  static constexpr Duration kAskAgain = std::chrono::milliseconds(20);
  static constexpr Duration kStartAgain = std::chrono::milliseconds(500);

  // --- Phases ---

  bool Begin(Time now) {
    deadline_ = now + plan_.connect_timeout;
    AskToStart(now);
    phase_ = Phase::kHello;
    return true;
  }

  void AskToStart(Time now) {
    asked_ = now;
    messages_.Begin(StartMessage(), /*completed=*/true);
  }

  bool Hello(Time now) {
    if (stop_.load(std::memory_order_relaxed)) return Interrupt();
    if (board_.abandoned()) return End();
    // Repeats START: the endpoint drops messages to servers that have not started, or have
    // restarted.
    if (now - asked_ > kStartAgain) AskToStart(now);
    const bool worked = !messages_.done() && messages_.Step([this](uint32_t lane, uint32_t stream) {
      return board_.IsReady(FlowOfLane(lane), stream);
    });
    if (!arrived_ && AllLanes([this](uint8_t flow) { return AllReady(flow); })) {
      arrived_ = true;
      board_.ArriveAtStart();
    }
    if (arrived_ && board_.AllStarted()) return StartLoad(now);
    if (now > deadline_) Silent(false);
    return worked;
  }

  bool StartLoad(Time now) {
    if (plan_.WantsEcho() && !board_.all_echo()) {
      Fail(Outcome::kNoEcho, "the server sinks received commands; start it with --reaction echo");
      return true;
    }
    collector_.OnAnswered();
    load_.Begin(now);
    phase_ = Phase::kLoad;
    return true;
  }

  bool Load(Time now) {
    const uint32_t sent = load_.Send(now);
    if (sender_.refused()) Fail(Outcome::kRefused, "the endpoint refuses the commands as invalid");
    if (phase_ == Phase::kLoad && LoadIsOver(now)) StartDrain(now);
    return sent > 0;
  }

  bool LoadIsOver(Time now) {
    if (stop_.load(std::memory_order_relaxed)) {
      result_.interrupted = true;
      return true;
    }
    return board_.abandoned() || load_.IsOver(now) || load_.IsStalled(now);
  }

  void StartDrain(Time now) {
    load_ended_ = now;
    deadline_ = now + plan_.drain_timeout;
    AskForReports(now);
    phase_ = Phase::kDrain;
  }

  void AskForReports(Time now, bool completed = false) {
    asked_ = now;
    messages_.Begin(
        EncodeReportRequest({.code = Code::kReportRequest, .flow = flow_, .run = board_.run()}),
        completed);
  }

  bool Drain(Time now) {
    const bool worked = !messages_.done() && messages_.Step();
    const bool told = AllLanes([this](uint8_t flow) { return AllReported(flow); });
    if (messages_.done() && told && sender_.tags_outstanding() == 0) {
      if (AllArrived() || now > deadline_) return FinishDrain(now);
      // On an unordered path a report may overtake commands: requests it again.
      if (now - asked_ > kAskAgain) AskForReports(now);
    }
    // Requests again, with a completion, which reports whether the server is reachable.
    if (messages_.done() && !told && now - asked_ > kStartAgain) AskForReports(now, true);
    if (now <= deadline_) return worked;
    if (told) return FinishDrain(now);
    Silent(true);
    return true;
  }

  bool FinishDrain(Time now) {
    // With a count, the interval ends when the last command is accounted for; otherwise with the
    // load.
    const Time end = plan_.count > 0 && !result_.interrupted ? now : load_ended_;
    load_.Settle(end, &result_);
    board_.ArriveAtEnd();
    phase_ = Phase::kLinger;
    return true;
  }

  // Continues to receive, because other workers may need responses on this worker's VCs.
  bool Linger() {
    if (board_.AllEnded() || board_.abandoned()) return End();
    return false;
  }

  bool End() {
    phase_ = Phase::kEnd;
    return true;
  }
  bool Interrupt() {
    result_.interrupted = true;
    board_.Abandon();
    return End();
  }
  void Fail(Outcome outcome, std::string explanation) {
    if (phase_ == Phase::kEnd) return;
    if (phase_ >= Phase::kLoad) load_.Settle(load_ended_, &result_);
    result_.outcome = outcome;
    result_.explanation = std::move(explanation);
    board_.Abandon();
    phase_ = Phase::kEnd;
  }
  void Silent(bool at_end) {
    uint32_t lane = 0;
    while (lane + 1 < endpoint_.lanes() &&
           (at_end ? AllReported(FlowOfLane(lane)) : AllReady(FlowOfLane(lane)))) {
      ++lane;
    }
    const StreamId id = board_.FirstSilent(FlowOfLane(lane), at_end);
    if (!collector_.unreachable_reason().empty())
      return Fail(Outcome::kPeerSilent, collector_.unreachable_reason());
    Fail(Outcome::kPeerSilent,
         "no answer from a suede-perf server at XPU " + std::to_string(id.xpuid) + ", VC " +
             std::to_string(id.vc) +
             (endpoint_.lanes() > 1 ? ", by instance " + std::to_string(lane) + " of those given"
                                    : "") +
             (at_end ? " after the load" : "") +
             ": is it running, has it claimed this VC, does a path lead there and back? With "
             "transport.psn_scope: port another VC that nobody claims may hold this one up");
  }

  // --- Lanes ---

  uint8_t FlowOfLane(uint32_t lane) const { return static_cast<uint8_t>(flow_ + lane); }
  bool AllReady(uint8_t flow) const { return board_.ready(flow) == plan_.streams.size(); }
  bool AllReported(uint8_t flow) const { return board_.reported(flow) == plan_.streams.size(); }
  template <class Holds>
  bool AllLanes(const Holds& holds) const {
    for (uint32_t lane = 0; lane < endpoint_.lanes(); ++lane) {
      if (!holds(FlowOfLane(lane))) return false;
    }
    return true;
  }

  // Whether the servers have received everything that these flows sent, and everything that they
  // sent back was received.
  bool AllArrived() const {
    if (plan_.shape.control_bytes < kSequencedControlBytes) return true;  // not counted per flow
    for (uint32_t lane = 0; lane < endpoint_.lanes(); ++lane) {
      for (uint32_t i = 0; i < plan_.streams.size(); ++i) {
        if (!board_.HasAll(FlowOfLane(lane), i, sender_.stream(lane, i).next)) return false;
      }
    }
    return true;
  }

  uint32_t RatePerStream() const {
    if (plan_.rate <= 0) return 0;
    const double streams = static_cast<double>(plan_.streams.size()) * endpoint_.lanes();
    const double rate = plan_.rate / streams;
    return static_cast<uint32_t>(std::max(rate, 1.0));
  }

  EncodedMessage StartMessage() const {
    const LoadShape& shape = plan_.shape;
    return EncodeStart({.code = Code::kStart, .flow = flow_, .run = board_.run()},
                       {.wanted = plan_.bidirectional,
                        .check = shape.check,
                        .control_bytes = shape.control_bytes,
                        .data_bytes = shape.data_bytes,
                        .pack_every = static_cast<uint16_t>(shape.pack_every),
                        .rate = RatePerStream()});
  }

  E& endpoint_;
  const RunPlan plan_;
  RunBoard& board_;
  const uint8_t flow_;
  const std::atomic<bool>& stop_;
  ServerWorkload<E>* const server_;
  MessageTags own_tags_;
  WorkerProgress* progress_ = nullptr;
  LoadSender<E> sender_;
  LoadCollector<E> collector_;
  LoadPhase<E> load_;
  MessageSender<E> messages_;
  Phase phase_ = Phase::kStart;
  bool arrived_ = false;
  Time deadline_ = kNever;
  Time asked_;
  Time load_ended_;
  RunResult result_;
};

// Combines the workers' shares and the board's reports into a result.
RunResult Combine(const std::vector<const RunResult*>& workers,
                  const std::vector<const RateTrack*>& tracks, const RunBoard& board);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_WORKLOAD_H_
