// The client side of the workload: one run of one size, as a step function.
//
//   hello   START on each stream, until each server has answered READY
//   load    commands at full speed, at a rate, or a few in flight; the warm-up is its first part
//   drain   REPORT REQUEST behind the last command of each stream, until each server has told what
//           it received, and echoes and completions are in
//
// docs/suede-perf.md describes the messages. Turn never blocks, so that an lcore can call it.
#ifndef SUEDE_APP_PERF_WORKLOAD_H_
#define SUEDE_APP_PERF_WORKLOAD_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "perf/batch_receiver.h"
#include "perf/endpoint.h"
#include "perf/load_sender.h"
#include "perf/results.h"
#include "perf/run_board.h"
#include "perf/schedule.h"

namespace suede::perf {

struct RunPlan {
  LoadShape shape;
  std::vector<StreamId> streams;
  bool latency = false;        // a few in flight, each one's echo (or completion) timed
  bool bidirectional = false;  // the servers send the same load back
  uint32_t inflight = 1;       // latency mode
  double rate = 0;             // commands per second of this worker; 0: full speed
  uint64_t count = 0;          // commands of this worker after the warm-up; 0: by duration
  Duration duration = std::chrono::seconds(1);
  Duration warmup{};
  Duration connect_timeout = std::chrono::seconds(10);
  Duration drain_timeout = std::chrono::seconds(10);

  // Latency until the completion, if completions are asked for; else until the echo.
  bool WantsEcho() const { return latency && shape.completion_every == 0; }
};

// One worker's part of a run; owned by the thread that calls Turn.
template <PerfEndpoint E>
class ClientWorkload {
 public:
  // The worker receives on `vcs` and sends on the endpoint's queue as flow `flow`.
  ClientWorkload(E& endpoint, const RunPlan& plan, RunBoard& board, uint16_t own_xpuid,
                 uint8_t flow, const std::vector<uint8_t>& vcs, const std::atomic<bool>& stop)
      : endpoint_(endpoint), plan_(plan), board_(board), flow_(flow), stop_(stop),
        receiver_(endpoint, vcs), sender_(endpoint, plan.shape, plan.streams, own_xpuid, flow) {
    result_.latency_is_rtt = plan.WantsEcho();
    if (plan.WantsEcho()) sender_.KeepTimes(plan.inflight);
  }

  // One step. Returns whether there was anything to do.
  bool Turn(Time now) {
    bool worked = receiver_.Poll([this](const ReceivedCommand& c) { return OnCommand(c); });
    if (sender_.tags_outstanding() > 0) worked |= PollCompletions();
    if (endpoint_.lost()) Fail(Outcome::kEndpointLost, "the endpoint went away");
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
  // This worker's share. What the servers reported is on the board.
  const RunResult& result() const { return result_; }
  const RateTrack& track() const { return track_; }

 private:
  enum class Phase : uint8_t { kStart, kHello, kLoad, kDrain, kLinger, kEnd };
  static constexpr uint32_t kBurst = 32;
  static constexpr Duration kAskAgain = std::chrono::milliseconds(20);

  // --- Phases ---

  bool Begin(Time now) {
    deadline_ = now + plan_.connect_timeout;
    phase_ = Phase::kHello;
    return true;
  }

  bool Hello(Time now) {
    if (stop_.load(std::memory_order_relaxed)) return Interrupt();
    if (board_.abandoned()) return End();
    bool worked = false;
    if (messages_sent_ < plan_.streams.size()) worked = SendMessages(Code::kStart);
    if (!arrived_ && board_.ready(flow_) == plan_.streams.size()) {
      arrived_ = true;
      board_.ArriveAtStart();
    }
    if (arrived_ && board_.AllStarted()) return StartLoad(now);
    if (now > deadline_) Silent(false);
    return worked;
  }

  bool StartLoad(Time now) {
    if (plan_.WantsEcho() && !board_.all_echo()) {
      Fail(Outcome::kNoEcho, "the server sinks what it receives; start it with --reaction echo");
      return true;
    }
    schedule_ = RateSchedule(now, plan_.rate > 0 ? plan_.rate : 1);
    measure_from_ = now + plan_.warmup;
    measuring_ = false;
    phase_ = Phase::kLoad;
    return true;
  }

  bool Load(Time now) {
    if (!measuring_ && now >= measure_from_) {
      measuring_ = true;
      measure_from_ = now;
      sent_before_ = sender_.sent();
    }
    const uint64_t budget = Budget(now);
    const uint32_t sent = budget == 0 ? 0 : SendLoad(now, budget);
    if (measuring_ && sent > 0) track_.Add(now - measure_from_, sent);
    if (sender_.refused()) Fail(Outcome::kRefused, "the endpoint refuses the commands as invalid");
    if (LoadIsOver(now)) StartDrain(now);
    return sent > 0;
  }

  bool LoadIsOver(Time now) {
    if (phase_ != Phase::kLoad) return false;
    if (stop_.load(std::memory_order_relaxed)) {
      result_.interrupted = true;
      return true;
    }
    if (board_.abandoned()) return true;
    if (!measuring_) return false;
    if (plan_.count > 0) return sender_.sent() - sent_before_ >= plan_.count;
    return now - measure_from_ >= plan_.duration;
  }

  void StartDrain(Time now) {
    load_ended_ = now;
    deadline_ = now + plan_.drain_timeout;
    messages_sent_ = 0;
    phase_ = Phase::kDrain;
  }

  bool Drain(Time now) {
    bool worked = false;
    if (messages_sent_ < plan_.streams.size()) {
      worked = SendMessages(Code::kReportRequest);
      asked_ = now;
    } else if (board_.reported(flow_) == plan_.streams.size() && sender_.tags_outstanding() == 0) {
      if (AllArrived() || now > deadline_) return FinishDrain(now);
      // Where the path does not keep order, a report may have overtaken commands: ask again.
      if (now - asked_ > kAskAgain) messages_sent_ = 0;
    }
    if (now > deadline_) {
      if (board_.reported(flow_) < plan_.streams.size()) Silent(true);
      else FinishDrain(now);
    }
    return worked;
  }

  bool FinishDrain(Time now) {
    // A count is over when its last command has been accounted for; a duration ends by the clock.
    const Time end = plan_.count > 0 && !result_.interrupted ? now : load_ended_;
    Settle(end);
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
    if (phase_ >= Phase::kLoad) Settle(load_ended_);
    result_.outcome = outcome;
    result_.explanation = std::move(explanation);
    board_.Abandon();
    phase_ = Phase::kEnd;
  }
  void Silent(bool at_end) {
    const StreamId id = board_.FirstSilent(flow_, at_end);
    Fail(Outcome::kPeerSilent,
         "no answer from a suede-perf server at XPU " + std::to_string(id.xpuid) + ", VC " +
             std::to_string(id.vc) + (at_end ? " after the load" : "") +
             ": is it running, has it claimed this VC, does a path lead there and back?");
  }

  void Settle(Time end) {
    result_.sent = sender_.sent();
    result_.measured = measuring_ ? sender_.sent() - sent_before_ : 0;
    result_.measured_time = measuring_ ? std::max(end - measure_from_, Duration(0)) : Duration(0);
    result_.blocked = sender_.blocked();
  }

  // Whether the servers have received all that this flow sent.
  bool AllArrived() const {
    if (plan_.shape.control_bytes < kSequencedControlBytes) return true;  // not told per flow
    const auto& streams = sender_.streams();
    for (uint32_t i = 0; i < streams.size(); ++i) {
      if (board_.Received(flow_, i) < streams[i].next) return false;
    }
    return true;
  }

  // --- Sending ---

  // How many commands may be sent at this moment.
  uint64_t Budget(Time now) const {
    uint64_t budget = kBurst;
    if (plan_.rate > 0) {
      const uint64_t due = schedule_.DueBy(now);
      budget = due > sender_.sent() ? due - sender_.sent() : 0;
    }
    if (plan_.count > 0 && measuring_) {
      budget = std::min(budget, plan_.count - (sender_.sent() - sent_before_));
    }
    if (plan_.latency) {
      const uint64_t out = plan_.WantsEcho() ? echoes_out_ : sender_.tags_outstanding();
      budget = std::min<uint64_t>(budget, plan_.inflight > out ? plan_.inflight - out : 0);
    }
    return std::min<uint64_t>(budget, kBurst);
  }

  uint32_t SendLoad(Time now, uint64_t budget) {
    const auto max = static_cast<uint32_t>(budget);
    uint32_t sent;
    if (plan_.rate > 0) {
      sent = sender_.Burst(max, [this](uint64_t k) { return schedule_.IntendedTime(k); });
    } else if (plan_.latency) {
      sent = sender_.Burst(max, [this](uint64_t) { return endpoint_.Now(); });
    } else {
      sent = sender_.Burst(max, [now](uint64_t) { return now; });
    }
    if (plan_.WantsEcho()) echoes_out_ += sent;
    return sent;
  }

  // Goes on where the last call had no more credit.
  bool SendMessages(Code code) {
    const uint32_t first = messages_sent_;
    const Message message{.code = code, .flow = flow_, .run = board_.run()};
    const LoadShape& shape = plan_.shape;
    const EncodedMessage encoded =
        code == Code::kStart
            ? EncodeStart(message, {.wanted = plan_.bidirectional,
                                    .check = shape.check,
                                    .control_bytes = shape.control_bytes,
                                    .data_bytes = shape.data_bytes,
                                    .pack_every = static_cast<uint16_t>(shape.pack_every)})
            : EncodeReportRequest(message);
    for (uint32_t n = 0; n < kBurst && messages_sent_ < plan_.streams.size(); ++n) {
      const StreamId to = plan_.streams[messages_sent_];
      const SendResult sent = endpoint_.Send({.xpuid = to.xpuid,
                                              .vc = to.vc,
                                              .flags = SUEDE_RECORD_TRANSMIT_NOW,
                                              .control = encoded.control,
                                              .data = encoded.data});
      if (sent == SendResult::kInvalid) {
        Fail(Outcome::kRefused,
             "the endpoint refuses commands to XPU " + std::to_string(to.xpuid));
        break;
      }
      if (sent != SendResult::kOk) break;
      ++messages_sent_;
    }
    endpoint_.Flush();
    return messages_sent_ != first;
  }

  // --- Receiving ---

  bool OnCommand(const ReceivedCommand& command) {
    const Opcode opcode = OpcodeOf(command.control);
    if (IsEcho(opcode) && opcode != Opcode::kProtocol) {
      OnEcho(command, opcode);
    } else if (opcode == Opcode::kLoad || opcode == Opcode::kCheckedLoad) {
      reverse_.Count(command, opcode);
    } else if (const auto message = DecodeMessage(command.control, command.control_bytes)) {
      OnMessage(command, *message);
    }
    return true;
  }

  void OnEcho(const ReceivedCommand& command, Opcode opcode) {
    if (static_cast<uint8_t>(opcode) > static_cast<uint8_t>(Opcode::kCheckedEcho)) return;
    echoes_.Count(command, opcode);
    if (!plan_.WantsEcho() || command.control_bytes < kSequencedControlBytes) return;
    const int32_t stream = board_.IndexOf({command.source_xpuid, command.vc});
    if (stream < 0 || echoes_out_ == 0) return;
    --echoes_out_;
    const Time sent =
        sender_.SentTime(static_cast<uint32_t>(stream), LoadBe32(command.control + 4));
    AddSample(endpoint_.Now(), sent);
  }

  void OnMessage(const ReceivedCommand& command, const Message& message) {
    const StreamId from{command.source_xpuid, command.vc};
    const int32_t stream = board_.IndexOf(from);
    if (message.run != board_.run() || stream < 0) return;
    const auto index = static_cast<uint32_t>(stream);
    if (message.code == Code::kReady) {
      const auto traits = DecodeServerTraits(command.data, command.data_bytes);
      if (traits) board_.OnReady(message.flow, index, *traits);
    } else if (message.code == Code::kReport) {
      const auto forward = DecodeStreamCounts(command.data, command.data_bytes);
      if (!forward) return;
      StreamCounts back = echoes_.At(from, message.flow).counts();
      back.Add(reverse_.At(from, message.flow).counts());
      board_.OnReport(message.flow, index, *forward, back);
    }
  }

  bool PollCompletions() {
    suede_completion done[kBurst];
    const uint32_t count = endpoint_.PollCompletions(done, kBurst);
    if (count == 0) return false;
    const Time now = endpoint_.Now();
    for (uint32_t i = 0; i < count; ++i) {
      sender_.OnCompletion();
      ++result_.completions[std::min<size_t>(done[i].status, kCompletionStatuses - 1)];
      if (done[i].status != SUEDE_STATUS_OK) {
        OnBadCompletion(done[i]);
      } else if (!plan_.WantsEcho()) {
        AddSample(now, TimeFromNs(static_cast<int64_t>(done[i].tag)));
      }
    }
    return true;
  }

  void OnBadCompletion(const suede_completion& done) {
    if (done.status != SUEDE_STATUS_UNREACHABLE && done.status != SUEDE_STATUS_UNKNOWN_XPU) return;
    Fail(Outcome::kPeerSilent, "XPU " + std::to_string(done.xpuid) +
                                   (done.status == SUEDE_STATUS_UNREACHABLE
                                        ? " is unreachable: it does not acknowledge"
                                        : " is not a configured peer of the endpoint"));
  }

  // Samples belong to the measured part where they were meant to be sent in it.
  void AddSample(Time now, Time intended) {
    if (!measuring_ || intended < measure_from_) return;
    result_.latency_ns.Record(static_cast<uint64_t>(std::max<int64_t>((now - intended).count(), 0)));
  }

  E& endpoint_;
  const RunPlan plan_;
  RunBoard& board_;
  const uint8_t flow_;
  const std::atomic<bool>& stop_;
  BatchReceiver<E> receiver_;
  LoadSender<E> sender_;
  Phase phase_ = Phase::kStart;
  bool arrived_ = false;
  bool measuring_ = false;
  uint32_t messages_sent_ = 0;  // streams that have got this phase's message
  uint64_t echoes_out_ = 0;
  uint64_t sent_before_ = 0;  // the measurement
  RateSchedule schedule_;
  Time deadline_ = kNever;
  Time asked_;
  Time measure_from_ = kNever;
  Time load_ended_;
  RxTable echoes_;
  RxTable reverse_;
  RateTrack track_;
  RunResult result_;
};

// The workers' shares and the board's reports, put together.
RunResult Combine(const std::vector<const RunResult*>& workers,
                  const std::vector<const RateTrack*>& tracks, const RunBoard& board);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_WORKLOAD_H_
