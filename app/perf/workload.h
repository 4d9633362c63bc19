// SPDX-License-Identifier: Apache-2.0
// The client side of the workload: one run of one size, as a step function.
//
//   hello   START on each stream, again and again until each server has answered READY
//   load    commands at full speed, at a rate, or a few in flight; the warm-up is its first part
//   drain   REPORT REQUEST behind the last command of each stream, until each server has told its
//           counts, and echoes and completions are in
//
// docs/suede-perf.md describes the messages. Turn never blocks, so that an lcore can call it.
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

// One worker's part of a run; owned by the thread that calls Turn.
template <PerfEndpoint E>
class ClientWorkload {
 public:
  // The worker receives on `vcs` and sends on the endpoint's lanes as flow `flow` and those after
  // it. `server`: that of a peer, which gets the commands of others and is turned by this workload.
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

  // One step. Returns whether there was anything to do.
  bool Turn(Time now) {
    bool worked = collector_.Poll();
    // Before the load, which would take all of the credit.
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
  // From now on says there how far it is; `progress` outlives it.
  void ReportTo(WorkerProgress* progress) { progress_ = progress; }
  // Latencies are told there, those outside of the measurement, too.
  void LogTo(IntervalCells* cells) { collector_.LogTo(cells); }
  // This worker's share. The servers' reports are on the board.
  const RunResult& result() const { return result_; }
  const RateTrack& track() const { return load_.track(); }

 private:
  enum class Phase : uint8_t { kStart, kHello, kLoad, kDrain, kLinger, kEnd };
  // Answers of a peer's server have their completions among ours.
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
    // The endpoint gives up messages to a server that was not there yet, or restarted.
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
      // Where the path does not keep order, a report may have overtaken commands: ask again.
      if (now - asked_ > kAskAgain) AskForReports(now);
    }
    // The completion of another request says whether the endpoint still reaches the server.
    if (messages_.done() && !told && now - asked_ > kStartAgain) AskForReports(now, true);
    if (now <= deadline_) return worked;
    if (told) return FinishDrain(now);
    Silent(true);
    return true;
  }

  bool FinishDrain(Time now) {
    // A count is over when its last command has been accounted for; a duration ends by the clock.
    const Time end = plan_.count > 0 && !result_.interrupted ? now : load_ended_;
    load_.Settle(end, &result_);
    board_.ArriveAtEnd();
    phase_ = Phase::kLinger;
    return true;
  }

  // Other workers may still need the answers that come to this one's VCs.
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
    if (!collector_.not_there().empty()) return Fail(Outcome::kPeerSilent, collector_.not_there());
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

  // Whether the servers have received all that this flow sent, and all that they sent back has
  // come.
  bool AllArrived() const {
    if (plan_.shape.control_bytes < kSequencedControlBytes) return true;  // not told per flow
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

// The workers' shares and the board's reports, put together.
RunResult Combine(const std::vector<const RunResult*>& workers,
                  const std::vector<const RateTrack*>& tracks, const RunBoard& board);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_WORKLOAD_H_
