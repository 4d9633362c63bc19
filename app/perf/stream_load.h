// SPDX-License-Identifier: Apache-2.0
// The load of commands on streams, as the backend of a LoadRun.
//
//   connect  sends START on each stream, repeatedly, until each server has responded with READY
//   drain    sends REPORT REQUEST behind the last command of each stream, until each server has
//            reported its counts, and echoes and completions are received
//   finish   waits for the other workers
//
// docs/suede-perf.md describes the messages. Never blocks, so an lcore can call it.
#ifndef SUEDE_APP_PERF_STREAM_LOAD_H_
#define SUEDE_APP_PERF_STREAM_LOAD_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "perf/endpoint.h"
#include "perf/load_collector.h"
#include "perf/load_run.h"
#include "perf/load_sender.h"
#include "perf/message_sender.h"
#include "perf/run_board.h"
#include "perf/server.h"

namespace suede::perf {

// One worker's part of a load. Owned by the thread that steps the run.
template <PerfEndpoint E>
class StreamLoad {
 public:
  static constexpr bool kCountsSent = true;

  // Receives on `vcs`, and sends on the endpoint's lanes as `flow` and the following flows.
  // `server`: a peer's server, to which this load passes commands, and whose Poll it calls.
  StreamLoad(LoadRecord& record, E& endpoint, RunBoard& board, uint16_t own_xpuid, uint8_t flow,
             const std::vector<uint8_t>& vcs, ServerWorkload<E>* server = nullptr)
      : record_(record),
        plan_(record.plan),
        endpoint_(endpoint),
        board_(board),
        flow_(flow),
        server_(server),
        own_tags_(CompletionTags::ForMessages(endpoint.completion_limit())),
        sender_(endpoint, plan_.shape, plan_.streams, own_xpuid, flow),
        collector_(endpoint, record, board, sender_, vcs, tags(), server),
        messages_(endpoint, plan_.streams, tags()) {
    record.result.latency_is_rtt = plan_.WantsEcho();
    if (plan_.WantsEcho()) sender_.KeepTimes(plan_.inflight);
  }

  bool Poll(Time now) {
    bool worked = collector_.Poll();
    // Serves before the load, which would use up the credit.
    if (server_ != nullptr) worked |= server_->Poll(now);
    if (endpoint_.lost()) record_.Fail(Outcome::kEndpointLost, "the endpoint went away");
    if (messages_.refused()) {
      record_.Fail(Outcome::kRefused, "the endpoint calls a destination invalid");
    }
    return worked;
  }
  void Flush() {}

  Advance Connect(Time now) {
    if (board_.abandoned()) return Advance::kAbandoned;
    if (plan_.send_only) return ConnectAlone(now);
    if (deadline_ == kNever) deadline_ = now + plan_.connect_timeout;
    // Repeats START: the endpoint drops messages to servers that have not started, or have
    // restarted.
    if (requested_at_ == kNever || now - requested_at_ > kStartRetry) {
      requested_at_ = now;
      messages_.Begin(StartMessage(), /*completed=*/true);
    }
    const bool worked = !messages_.done() && messages_.Step([this](uint32_t lane, uint32_t stream) {
      return board_.IsReady(FlowOfLane(lane), stream);
    });
    if (!arrived_ && AllLanes([this](uint8_t flow) { return AllReady(flow); })) {
      arrived_ = true;
      board_.ArriveAtStart();
    }
    if (arrived_ && board_.AllStarted()) {
      if (plan_.WantsEcho() && !board_.all_echo()) {
        record_.Fail(Outcome::kNoEcho,
                     "the server sinks received commands; start it with --reaction echo");
      }
      collector_.OnAllResponded();
      watch_at_ = now + WatchGap();
      return Advance::kDone;
    }
    if (now > deadline_) FailSilent(false);
    return worked ? Advance::kWorked : Advance::kIdle;
  }

  // ---- Load.

  uint64_t max_burst() const {
    return AtFullSpeed() ? std::max(kBurst, kPdus * sender_.pdu_commands()) : kBurst;
  }
  uint64_t under_way() const { return collector_.under_way(); }
  bool is_abandoned() const { return board_.abandoned(); }
  void Abandon() { board_.Abandon(); }

  uint32_t Issue(Time now, uint64_t budget, uint64_t left, const RateSchedule& schedule) {
    if (now >= watch_at_) {
      watch_at_ = now + WatchGap();
      sender_.WatchNext(&tags());
    }
    const auto max = static_cast<uint32_t>(budget);
    const uint32_t run = RunOf(left);
    uint32_t sent;
    if (plan_.rate > 0) {
      sent = sender_.Burst(max, run, [&](uint64_t k) { return schedule.IntendedTime(k); });
    } else if (plan_.latency) {
      sent = sender_.Burst(max, run, [this](uint64_t) { return endpoint_.Now(); });
    } else {
      sent = sender_.Burst(max, run, [now](uint64_t) { return now; });
    }
    collector_.OnSent(sent);
    if (sender_.refused()) {
      record_.Fail(Outcome::kRefused, "the endpoint refuses the commands as invalid");
    }
    return sent;
  }

  // ---- After the load.

  Advance Drain(Time now, Time deadline) {
    if (plan_.send_only) return DrainAlone(now, deadline);
    if (!std::exchange(drains_, true)) RequestReports(now, false);
    const bool worked = !messages_.done() && messages_.Step();
    const bool all_reported = AllLanes([this](uint8_t flow) { return AllReported(flow); });
    if (messages_.done() && all_reported && sender_.tags_outstanding() == 0) {
      if (AllArrived() || now > deadline) return FinishDrain();
      // On an unordered path a report may overtake commands: requests it again.
      if (now - requested_at_ > kReportRetry) RequestReports(now, false);
    }
    // Requests again, with a completion, which reports whether the server is reachable.
    if (messages_.done() && !all_reported && now - requested_at_ > kStartRetry)
      RequestReports(now, true);
    if (now <= deadline) return worked ? Advance::kWorked : Advance::kIdle;
    if (all_reported) return FinishDrain();
    FailSilent(true);
    return Advance::kWorked;
  }

  void Settle() {
    record_.result.sent_by_lane = sender_.sent_by_lane();
    record_.result.blocked = sender_.blocked();
    if (plan_.send_only) record_.result.sent = sender_.sent();  // with the streams' last commands
  }

  // Continues to receive, because other workers may need responses on this worker's VCs.
  Advance Finish(Time /*now*/) {
    return board_.AllEnded() || board_.abandoned() ? Advance::kDone : Advance::kIdle;
  }

 private:
  static constexpr uint32_t kBurst = 32;
  static constexpr uint32_t kPdus = 4;  // maximum of full PDUs in a burst at full speed
  static constexpr Duration kReportRetry = std::chrono::milliseconds(20);
  static constexpr Duration kStartRetry = std::chrono::milliseconds(500);
  // Interval in which each stream is watched once, up to 50 streams.
  static constexpr Duration kWatchRound = std::chrono::milliseconds(100);

  // A peer's server shares the accounting of completions.
  CompletionTags& tags() { return server_ != nullptr ? server_->tags() : own_tags_; }

  Duration WatchGap() const {
    const auto streams = static_cast<int64_t>(sender_.streams());
    return std::max<Duration>(kWatchRound / streams, std::chrono::milliseconds(2));
  }
  bool AtFullSpeed() const { return plan_.rate <= 0 && !plan_.latency; }
  // Returns the commands sent consecutively on a stream: a full PDU at full speed, fewer at the end
  // of a count, of which `left` are left, for an even distribution; otherwise 1.
  uint32_t RunOf(uint64_t left) const {
    const uint64_t streams = sender_.streams();
    if (streams == 1) return sender_.pdu_commands();
    if (!AtFullSpeed()) return 1;
    return static_cast<uint32_t>(std::clamp<uint64_t>(left / streams, 1, sender_.pdu_commands()));
  }

  // Begins without servers, once all workers are here.
  Advance ConnectAlone(Time now) {
    if (!std::exchange(arrived_, true)) board_.ArriveAtStart();
    if (!board_.AllStarted()) return Advance::kIdle;
    collector_.OnAllResponded();
    watch_at_ = now + WatchGap();
    return Advance::kDone;
  }

  // Ends when the completions of the streams' last commands have come.
  Advance DrainAlone(Time now, Time deadline) {
    const bool worked = sender_.SendLast(&tags());
    if (AllReported(flow_) && sender_.tags_outstanding() == 0) return FinishDrain();
    if (now <= deadline) return worked ? Advance::kWorked : Advance::kIdle;
    const StreamId id = board_.FirstSilent(flow_, /*at_end=*/true);
    record_.Fail(Outcome::kPeerSilent,
                 "XPU " + std::to_string(id.xpuid) + ", VC " + std::to_string(id.vc) +
                     ": not all commands are acknowledged: has a program there claimed this VC, "
                     "and does it take them? `suedectl peers list` shows the peer; --drain is the "
                     "time to wait");
    return Advance::kWorked;
  }

  EncodedMessage StartMessage() const {
    const LoadShape& shape = plan_.shape;
    uint32_t rate = 0;  // of a stream
    if (plan_.rate > 0) {
      const double streams = static_cast<double>(plan_.streams.size()) * endpoint_.lanes();
      rate = static_cast<uint32_t>(std::max(plan_.rate / streams, 1.0));
    }
    return EncodeStart({.code = Code::kStart, .flow = flow_, .run = board_.run()},
                       {.wanted = plan_.bidirectional,
                        .check = shape.check,
                        .control_bytes = shape.control_bytes,
                        .data_bytes = shape.data_bytes,
                        .pack_every = static_cast<uint16_t>(shape.pack_every),
                        .rate = rate});
  }

  void RequestReports(Time now, bool completed) {
    requested_at_ = now;
    messages_.Begin(
        EncodeReportRequest({.code = Code::kReportRequest, .flow = flow_, .run = board_.run()}),
        completed);
  }

  Advance FinishDrain() {
    board_.ArriveAtEnd();
    return Advance::kDone;
  }

  void FailSilent(bool at_end) {
    uint32_t lane = 0;
    while (lane + 1 < endpoint_.lanes() &&
           (at_end ? AllReported(FlowOfLane(lane)) : AllReady(FlowOfLane(lane)))) {
      ++lane;
    }
    const StreamId id = board_.FirstSilent(FlowOfLane(lane), at_end);
    if (!collector_.unreachable_reason().empty())
      return record_.Fail(Outcome::kPeerSilent, collector_.unreachable_reason());
    record_.Fail(
        Outcome::kPeerSilent,
        "no answer from a suede-perf server at XPU " + std::to_string(id.xpuid) + ", VC " +
            std::to_string(id.vc) +
            (endpoint_.lanes() > 1 ? ", by instance " + std::to_string(lane) + " of those given"
                                   : "") +
            (at_end ? " after the load" : "") +
            ": is it running, has it claimed this VC, does a path lead there and back? With "
            "transport.psn_scope: port another VC that nobody claims may hold this one up");
  }

  // ---- Lanes.

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

  LoadRecord& record_;
  const RunPlan& plan_;
  E& endpoint_;
  RunBoard& board_;
  const uint8_t flow_;
  ServerWorkload<E>* const server_;
  CompletionTags own_tags_;
  LoadSender<E> sender_;
  LoadCollector<E> collector_;
  MessageSender<E> messages_;
  bool arrived_ = false;
  bool drains_ = false;
  Time deadline_ = kNever;  // of the servers' responses
  Time requested_at_ = kNever;
  Time watch_at_ = kNever;
};

template <PerfEndpoint E>
using StreamRun = LoadRun<StreamLoad<E>>;

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_STREAM_LOAD_H_
