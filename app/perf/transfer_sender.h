// SPDX-License-Identifier: Apache-2.0
// Sends transfers as commands, several concurrently, with a full PDU of each in round robin.
#ifndef SUEDE_APP_PERF_TRANSFER_SENDER_H_
#define SUEDE_APP_PERF_TRANSFER_SENDER_H_

#include <algorithm>
#include <cstdint>
#include <queue>
#include <string>
#include <vector>

#include "perf/command_writer.h"
#include "perf/completion_tags.h"
#include "perf/endpoint.h"
#include "perf/interval_log.h"
#include "perf/rank_plan.h"

namespace suede::perf {

// A transfer in progress.
struct Outgoing {
  uint32_t rank = 0;
  uint8_t vc = 0;
  uint8_t flow = 0;
  uint64_t bytes = 0;  // unsent bytes
  Time due{};          // earliest send time, and start of its measured time
};

// Not thread-safe.
template <PerfEndpoint E>
class TransferSender {
 public:
  static constexpr uint32_t kFlows = 2;

  TransferSender(E& endpoint, const RankPlan& plan, RankResult& result)
      : endpoint_(endpoint),
        plan_(plan),
        result_(result),
        writer_(endpoint, {.data_bytes = plan.data_bytes, .check = plan.check},
                plan.xpuids[plan.rank]),
        tags_(CompletionTags::ForLoad(endpoint.completion_limit())),
        next_(plan.xpuids.size() * kVcCount * kFlows) {}

  // Sets the tag of the current run, in byte 3 of its load.
  void SetTag(uint8_t tag) { writer_.SetRunTag(tag); }
  void Add(const Outgoing& transfer, Time now) {
    if (transfer.due <= now)
      active_.push_back(transfer);
    else
      later_.push(transfer);
  }
  // Sends as much as credit permits, up to a bound per call. Returns false if nothing was sent.
  bool Send(Time now) {
    for (; !later_.empty() && later_.top().due <= now; later_.pop()) {
      active_.push_back(later_.top());
    }
    bool worked = false;
    const size_t visits = std::min(active_.size(), kVisits);
    for (size_t i = 0; i < visits; ++i) {
      if (cursor_ >= active_.size()) cursor_ = 0;
      if (active_.empty()) break;
      worked |= Visit(active_[cursor_]);
      if (active_[cursor_].bytes != 0) {
        ++cursor_;
        continue;
      }
      active_[cursor_] = active_.back();
      active_.pop_back();
    }
    if (worked) endpoint_.Flush();
    return worked;
  }
  bool done() const { return active_.empty() && later_.empty(); }
  // Whether no transfer is due.
  bool waits() const { return active_.empty(); }
  // Whether the endpoint rejected a command as invalid, which ends the run.
  bool refused() const { return writer_.refused(); }
  // Reason why a destination is unreachable, which ends the run; empty: none.
  const std::string& unreachable() const { return unreachable_; }
  // Processes the completion of a transfer's last command.
  void OnCompletion(const suede_completion& done, Time now, bool measured) {
    tags_.OnCompletion();
    ++result_.completions[std::min<size_t>(done.status, kCompletionStatuses - 1)];
    if (IsUnreachable(done)) unreachable_ = UnreachableText(done);
    if (done.status != SUEDE_STATUS_OK) return;
    const Duration took = now - TimeFromNs(static_cast<int64_t>(done.tag));
    RecordTime(took, cells_, measured, &result_.transfer_ns);
  }
  // Also records transfer times in `cells`.
  void LogTo(IntervalCells* cells) { cells_ = cells; }

 private:
  static constexpr size_t kVisits = 16;
  struct IsLater {
    bool operator()(const Outgoing& a, const Outgoing& b) const { return a.due > b.due; }
  };

  // Sends a PDU's worth of commands, or the transfer's last command.
  bool Visit(Outgoing& out) {
    uint32_t& next = next_[(size_t{out.rank} * kVcCount + out.vc) * kFlows + out.flow];
    const CommandPlace place{
        .to = {plan_.xpuids[out.rank], out.vc}, .flow = out.flow, .sequence = next};
    const uint64_t whole = (out.bytes - 1) / plan_.data_bytes;  // without the last command
    uint64_t bytes = out.bytes;
    uint32_t commands;
    if (whole != 0) {
      commands = writer_.SendRun(
          place, static_cast<uint32_t>(std::min<uint64_t>(whole, writer_.pdu_commands())));
      bytes = uint64_t{commands} * plan_.data_bytes;
    } else {
      const bool tagged = tags_.HasRoom();
      commands = writer_.Send(place, static_cast<uint32_t>(bytes),
                              {.flags = tagged ? uint8_t{SUEDE_RECORD_COMPLETION} : uint8_t{0},
                               .tag = static_cast<uint64_t>(ToNs(out.due))});
      if (commands != 0 && tagged) tags_.OnSent();
    }
    if (commands == 0) {
      ++result_.blocked;
      return false;
    }
    next += commands;
    out.bytes -= bytes;
    result_.sent_commands += commands;
    result_.sent_bytes += bytes;
    return true;
  }

  E& endpoint_;
  const RankPlan& plan_;
  RankResult& result_;
  IntervalCells* cells_ = nullptr;
  CommandWriter<E> writer_;
  CompletionTags tags_;
  std::string unreachable_;
  size_t cursor_ = 0;
  std::vector<Outgoing> active_;
  std::priority_queue<Outgoing, std::vector<Outgoing>, IsLater> later_;
  std::vector<uint32_t> next_;  // sequence numbers, by rank, VC and flow
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_TRANSFER_SENDER_H_
