// SPDX-License-Identifier: Apache-2.0
// Collects everything that a client receives in a run: echoes, reverse load, the servers' messages
// and completions.
#ifndef SUEDE_APP_PERF_LOAD_COLLECTOR_H_
#define SUEDE_APP_PERF_LOAD_COLLECTOR_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "perf/batch_receiver.h"
#include "perf/completion_tags.h"
#include "perf/endpoint.h"
#include "perf/load_run.h"
#include "perf/load_sender.h"
#include "perf/run_board.h"
#include "perf/server.h"

namespace suede::perf {

// The collector of one worker. Owned by the worker's thread.
template <PerfEndpoint E>
class LoadCollector {
 public:
  LoadCollector(E& endpoint, LoadRecord& record, RunBoard& board, LoadSender<E>& sender,
                const std::vector<uint8_t>& vcs, CompletionTags& tags, ServerWorkload<E>* server)
      : endpoint_(endpoint),
        record_(record),
        wants_echo_(record.plan.WantsEcho()),
        board_(board),
        sender_(sender),
        receiver_(endpoint, vcs),
        tags_(tags),
        server_(server) {}

  // Processes received commands and completions. Returns whether there were any.
  bool Poll() {
    const bool received = receiver_.Poll(
        [this](const ReceivedCommand& command) { return OnCommand(command); },
        [this](const ReceivedSpan& span, uint32_t at) {
          return server_ != nullptr ? server_->OnRun(span, at) : reverse_.CountRun(span, at);
        });
    const uint32_t outstanding = sender_.tags_outstanding() + tags_.outstanding();
    return (outstanding > 0 && PollCompletions()) || received;
  }

  void OnSent(uint32_t commands) {
    if (wants_echo_) under_way_ += commands;
  }

  // Number of commands whose timed echo or completion is outstanding.
  uint64_t under_way() const { return wants_echo_ ? under_way_ : sender_.tags_outstanding(); }
  // All servers have responded: an unreachable one from now on ends the run.
  void OnAllResponded() { all_responded_ = true; }
  // The last reason why a server that has not responded is unreachable; empty: none.
  const std::string& unreachable_reason() const { return unreachable_reason_; }

 private:
  static constexpr uint32_t kBatch = 32;

  bool OnCommand(const ReceivedCommand& command) {
    if (server_ != nullptr && server_->IsForServer(command)) return server_->OnCommand(command);
    const Opcode opcode = OpcodeOf(command.control);
    if (opcode == Opcode::kEcho || opcode == Opcode::kCheckedEcho) {
      OnEcho(command, opcode);
    } else if (opcode == Opcode::kLoad || opcode == Opcode::kCheckedLoad) {
      reverse_.Count(command, opcode);
    } else if (const auto message = DecodeMessage(command.control, command.control_bytes)) {
      OnMessage(command, *message);
    }
    return true;
  }

  void OnEcho(const ReceivedCommand& command, Opcode opcode) {
    echoes_.Count(command, opcode);
    if (!wants_echo_ || command.control_bytes < kSequencedControlBytes) return;
    const int32_t stream = board_.IndexOf({command.source_xpuid, command.vc});
    const auto lane = static_cast<uint8_t>(command.control[2] - sender_.flow());
    if (stream < 0 || under_way_ == 0 || lane >= endpoint_.lanes()) return;
    --under_way_;
    const Time sent = sender_.SentTime(sender_.StreamIndex(lane, static_cast<uint32_t>(stream)),
                                       LoadBe32(command.control + 4));
    record_.AddLatency(endpoint_.Now(), sent);
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
    suede_completion done[kBatch];
    const uint32_t count = endpoint_.PollCompletions(done, kBatch);
    if (count == 0) return false;
    const Time now = endpoint_.Now();
    for (uint32_t i = 0; i < count; ++i) {
      if (done[i].tag == CompletionTags::kLast) {
        tags_.OnCompletion();
        OnLastCompletion(done[i]);
        continue;
      }
      if (done[i].tag == CompletionTags::kMessage) {
        tags_.OnCompletion();
        OnMessageCompletion(done[i]);
        continue;
      }
      sender_.OnCompletion();
      ++record_.result.completions[std::min<size_t>(done[i].status, kCompletionStatuses - 1)];
      if (done[i].status != SUEDE_STATUS_OK) {
        OnBadCompletion(done[i]);
      } else if (!wants_echo_) {
        record_.AddLatency(now, TimeFromNs(static_cast<int64_t>(done[i].tag)));
      }
    }
    return true;
  }

  // Processes the completion of a message, or of a watched command.
  void OnMessageCompletion(const suede_completion& done) {
    if (done.status == SUEDE_STATUS_UNKNOWN_XPU || all_responded_) return OnBadCompletion(done);
    // Retries a server that has not responded yet, until the timeout.
    unreachable_reason_ = IsUnreachable(done) ? UnreachableText(done) : "";
  }

  // Processes the completion of a stream's last command. As completions of a stream come in order,
  // all of the stream has arrived: reports it, as a server would.
  void OnLastCompletion(const suede_completion& done) {
    const int32_t stream = board_.IndexOf({done.xpuid, done.vc});
    if (done.status != SUEDE_STATUS_OK || stream < 0) return OnBadCompletion(done);
    const auto index = static_cast<uint32_t>(stream);
    const uint64_t sent = sender_.stream(0, index).next;
    board_.OnReport(sender_.flow(), index,
                    {.received = sent, .data_bytes = sent * record_.plan.shape.data_bytes}, {});
  }

  void OnBadCompletion(const suede_completion& done) {
    if (IsUnreachable(done)) record_.Fail(Outcome::kPeerSilent, UnreachableText(done));
    if (done.status == SUEDE_STATUS_UNKNOWN_XPU) {
      record_.Fail(Outcome::kNoPeer, "XPU " + std::to_string(done.xpuid) +
                                         " is no peer that the endpoint's configuration names");
    }
  }

  E& endpoint_;
  LoadRecord& record_;
  const bool wants_echo_;
  RunBoard& board_;
  LoadSender<E>& sender_;
  BatchReceiver<E> receiver_;
  CompletionTags& tags_;
  ServerWorkload<E>* const server_;  // of a peer: handles load and requests; else null
  uint64_t under_way_ = 0;           // outstanding echoes
  // Counts of this run.
  RxTable echoes_{/*from_zero=*/true};
  RxTable reverse_{/*from_zero=*/true};
  bool all_responded_ = false;
  std::string unreachable_reason_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_LOAD_COLLECTOR_H_
