// SPDX-License-Identifier: Apache-2.0
// The server side of the workload: counts received commands, echoes them if configured, and reports
// the counts.
#ifndef SUEDE_APP_PERF_SERVER_H_
#define SUEDE_APP_PERF_SERVER_H_

#include <algorithm>
#include <cstring>
#include <deque>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "perf/batch_receiver.h"
#include "perf/completion_tags.h"
#include "perf/endpoint.h"
#include "perf/interval_log.h"
#include "perf/progress.h"
#include "perf/protocol.h"
#include "perf/results.h"
#include "perf/reverse_sender.h"
#include "perf/run_plan.h"
#include "perf/served_runs.h"
#include "perf/streams.h"

namespace suede::perf {

// The server of one worker. Owned by the thread that calls Poll.
//
// A peer's server does not receive: its client passes it the commands. Requests whose response
// lacks credit are then queued here, not in the receive ring, where they would block the client's
// commands: two peers that have filled each other's rings would deadlock.
template <PerfEndpoint E>
class ServerWorkload {
 public:
  ServerWorkload(E& endpoint, uint16_t own_xpuid, const std::vector<uint8_t>& vcs, bool echoes)
      : endpoint_(endpoint),
        receiver_(std::in_place, endpoint, vcs),
        own_xpuid_(own_xpuid),
        echoes_(echoes),
        tags_(CompletionTags::ForMessages(endpoint.completion_limit())) {}
  // Constructs the server of a peer.
  ServerWorkload(E& endpoint, uint16_t own_xpuid)
      : ServerWorkload(endpoint, own_xpuid, {}, /*echoes=*/false) {
    is_peer_ = true;
  }

  // Performs one step without blocking. Returns whether there was work.
  bool Poll(Time now) {
    now_ = now;
    const uint64_t before = received_;
    bool worked =
        receiver_->Poll([this](const ReceivedCommand& c) { return OnCommand(c); },
                        [this](const ReceivedSpan& span, uint32_t at) { return OnRun(span, at); });
    if (received_ != before) arrivals_.On(now);
    worked |= SendPending();
    if (progress_ != nullptr) progress_->received.store(received_, std::memory_order_relaxed);
    if (to_flush_) {
      endpoint_.Flush();
      to_flush_ = false;
    }
    for (ReverseSender<E>& reverse : reverses_) {
      if (!reverse.ended) worked |= reverse.Send(now) > 0;
    }
    if (linger_ && (PollCompletions() || worked)) last_work_ = now;
    return worked;
  }

  // Returns the counts of finished and current runs.
  StreamCounts Total() const {
    StreamCounts total = finished_;
    total.Add(table_.Total());
    return total;
  }
  uint64_t runs() const { return runs_; }
  uint64_t received() const { return received_; }
  const Arrivals& arrivals() const { return arrivals_; }
  // Reports progress to `progress`, which must outlive the server.
  void ReportTo(WorkerProgress* progress) {
    progress_ = progress;
    progress->stage.store(Stage::kServe, std::memory_order_relaxed);
  }

  // Counts load in `cells`, which must outlive the server.
  void LogTo(IntervalCells* cells) { cells_ = cells; }
  // Counts all commands, and answers none.
  void ReceiveOnly() { receive_only_ = true; }
  // Limits received load to `per_second` commands. Leaves the rest in the ring.
  void LimitRate(double per_second) {
    receive_gap_ = Duration(static_cast<int64_t>(1e9 / per_second));
  }

  // --- For a peer ---

  CompletionTags& tags() { return tags_; }
  // Whether the command is load or a request to a server.
  static bool IsForServer(const ReceivedCommand& command) {
    const Opcode opcode = OpcodeOf(command.control);
    if (opcode == Opcode::kLoad || opcode == Opcode::kCheckedLoad) return true;
    const auto message = DecodeMessage(command.control, command.control_bytes);
    return message && (message->code == Code::kStart || message->code == Code::kReportRequest);
  }
  // Receives without the client from now on, until the peers have completed their runs, or for the
  // timeout.
  void StartLinger(const ServedRuns::Linger& linger, Time now) {
    linger_ = linger;
    last_work_ = now;
    receiver_.emplace(endpoint_, linger_->vcs);
  }
  bool done() const {
    if (!linger_) return false;
    if (now_ - last_work_ > linger_->timeout) return true;
    return pending_.empty() && tags_.outstanding() == 0 && served_.HasAll(*linger_);
  }

  // Counts load from the span's command `at` on as one run, where nothing is done with each
  // command. Returns the number of commands; 0: OnCommand must process the first.
  uint32_t OnRun(const ReceivedSpan& span, uint32_t at) {
    if (echoes_ || receive_gap_.count() > 0) return 0;
    const uint32_t count = table_.CountRun(span, at);
    received_ += count;
    if (cells_ != nullptr && count != 0) {
      cells_->OnLoad({span.source_xpuid, span.vc}, uint64_t{count} * span.data_bytes, count);
    }
    return count;
  }
  // Processes a command. Returns false if it must be passed again.
  bool OnCommand(const ReceivedCommand& command) {
    const Opcode opcode = OpcodeOf(command.control);
    if (opcode == Opcode::kLoad || opcode == Opcode::kCheckedLoad) [[likely]] {
      if (receive_gap_.count() > 0 && now_ < next_receive_) return false;
      if (echoes_ && !SendBack(command, opcode)) return false;
      // Permits a delayed receiver to catch up by kReceiveSlack.
      if (receive_gap_.count() > 0)
        next_receive_ = std::max(next_receive_, now_ - kReceiveSlack) + receive_gap_;
      if (table_.Count(command, opcode) && cells_ != nullptr) {
        cells_->OnLoad({command.source_xpuid, command.vc}, command.data_bytes);
      }
      ++received_;
      return true;
    }
    if (receive_only_) {
      table_.At({command.source_xpuid, command.vc}, 0).OnCounted(command.data_bytes);
      ++received_;
      return true;
    }
    const auto message = DecodeMessage(command.control, command.control_bytes);
    if (!message) return true;  // command of another program
    const StreamId from{command.source_xpuid, command.vc};
    if (message->code == Code::kStart) return OnStart(from, command, *message);
    if (message->code == Code::kReportRequest) {
      return OnReportRequest({.to = from, .message = *message});
    }
    return true;
  }

 private:
  static constexpr Duration kReceiveSlack = std::chrono::milliseconds(10);

  // A request of a client.
  struct Request {
    StreamId to;
    Message message;
    friend bool operator==(const Request& a, const Request& b) {
      return a.to == b.to && a.message.code == b.message.code && a.message.flow == b.message.flow;
    }
  };
  bool PollCompletions() {
    suede_completion done[16];
    const uint32_t count = endpoint_.PollCompletions(done, 16);
    for (uint32_t i = 0; i < count; ++i) {
      if (done[i].tag == CompletionTags::kMessage) tags_.OnCompletion();
    }
    return count > 0;
  }

  bool SendBack(const ReceivedCommand& command, Opcode opcode) {
    uint8_t control[kMaxControlBytes];
    std::memcpy(control, command.control, std::min<size_t>(command.control_bytes, sizeof control));
    SetOpcode(control, static_cast<Opcode>(static_cast<uint8_t>(opcode) | 2));
    return Respond({command.source_xpuid, command.vc}, control, command.data);
  }

  bool OnStart(StreamId from, const ReceivedCommand& command, const Message& message) {
    const auto load = DecodeReverseLoad(command.data, command.data_bytes);
    if (!load) return true;
    if (!OnRequest({.to = from, .message = message})) return false;
    RxStream& stream = table_.At(from, message.flow);
    if (stream.run() == message.run) return true;  // repeated START
    finished_.Add(stream.counts());
    stream.Start(message.run);
    ++runs_;
    if (is_peer_) served_.OnStart(from, message.run, message.flow);
    if (auto old = FindReverse(from, message.flow); old != reverses_.end()) reverses_.erase(old);
    if (load->wanted) {
      const LoadShape shape{.control_bytes = load->control_bytes,
                            .data_bytes = load->data_bytes,
                            .check = load->check,
                            .pack_every = load->pack_every};
      reverses_.emplace_back(endpoint_, from, message.flow, shape, own_xpuid_).rate = load->rate;
    }
    return true;
  }

  bool OnReportRequest(const Request& request) {
    // Ignores requests for a run that this server has not seen start.
    const RxStream& stream = table_.At(request.to, request.message.flow);
    return stream.run() != request.message.run || OnRequest(request);
  }

  // Responds to a request, or queues it on a peer's server. Returns false if it must be passed
  // again.
  bool OnRequest(const Request& request) {
    if (pending_.empty() && RespondTo(request)) return true;
    if (!is_peer_) return false;
    // Replaces a queued equal request, because clients repeat requests until they get a response.
    std::erase(pending_, request);
    pending_.push_back(request);
    return true;
  }

  bool SendPending() {
    bool worked = false;
    while (!pending_.empty() && RespondTo(pending_.front())) {
      pending_.pop_front();
      worked = true;
    }
    return worked;
  }

  bool RespondTo(const Request& request) {
    Message response = request.message;
    if (response.code == Code::kStart) {
      response.code = Code::kReady;
      const EncodedMessage ready = EncodeReady(response, {.echoes = echoes_});
      return Respond(request.to, ready.control, ready.data);
    }
    response.code = Code::kReport;
    const StreamId to = request.to;
    const RxStream& stream = table_.At(to, response.flow);
    if (stream.run() != response.run) return true;  // another run has begun meanwhile
    StreamCounts counts = stream.counts();
    const auto reverse = FindReverse(to, response.flow);
    if (reverse != reverses_.end()) {
      counts.sent_back = reverse->sender.sent();
    } else if (echoes_) {
      counts.sent_back = counts.received + counts.duplicated;
    }
    const EncodedMessage report = EncodeReport(response, counts);
    // A peer exits only once its reports are acknowledged.
    if (is_peer_ && !tags_.HasRoom()) return false;
    if (!Respond(to, report.control, report.data, is_peer_)) return false;
    if (reverse != reverses_.end()) reverse->ended = true;
    if (is_peer_) served_.OnReported(to, response.run, response.flow);
    return true;
  }

  bool Respond(StreamId to, const uint8_t* control, const uint8_t* data, bool tagged = false) {
    // The control encodes the length of the data, which may be shorter than the buffer.
    const SendResult result =
        endpoint_.Send({.xpuid = to.xpuid,
                        .vc = to.vc,
                        .flags = static_cast<uint8_t>(tagged ? SUEDE_RECORD_COMPLETION : 0),
                        .tag = CompletionTags::kMessage,
                        .control = control,
                        .data = data},
                       0);
    to_flush_ = true;
    if (tagged && result == SendResult::kOk) tags_.OnSent();
    // Drops invalid commands, which would block the VC forever.
    return result == SendResult::kOk || result == SendResult::kInvalid;
  }

  auto FindReverse(StreamId stream, uint8_t flow) {
    return std::find_if(reverses_.begin(), reverses_.end(), [&](const ReverseSender<E>& r) {
      return r.stream == stream && r.flow == flow;
    });
  }

  E& endpoint_;
  std::optional<BatchReceiver<E>> receiver_;
  const uint16_t own_xpuid_;
  const bool echoes_;
  bool is_peer_ = false;
  bool receive_only_ = false;
  bool to_flush_ = false;
  std::optional<ServedRuns::Linger> linger_;
  Time last_work_{};  // while it lingers
  Time now_{};
  Time next_receive_{};
  Duration receive_gap_{};  // 0: no limit
  IntervalCells* cells_ = nullptr;
  uint64_t received_ = 0;
  Arrivals arrivals_;
  WorkerProgress* progress_ = nullptr;
  CompletionTags tags_;
  std::deque<Request> pending_;
  ServedRuns served_;
  RxTable table_;
  std::list<ReverseSender<E>> reverses_;
  StreamCounts finished_;
  uint64_t runs_ = 0;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_SERVER_H_
