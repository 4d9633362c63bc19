// SPDX-License-Identifier: Apache-2.0
// Sends transfers as commands, several concurrently, with a full PDU of each in round robin.
#ifndef SUEDE_APP_PERF_TRANSFER_SENDER_H_
#define SUEDE_APP_PERF_TRANSFER_SENDER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <queue>
#include <string>
#include <vector>

#include "perf/endpoint.h"
#include "perf/interval_log.h"
#include "perf/message_tags.h"
#include "perf/payload.h"
#include "perf/protocol.h"
#include "perf/rank_plan.h"
#include "perf/unreachable.h"

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
        tag_limit_(endpoint.completion_limit() - MessageTags::LimitOf(endpoint.completion_limit())),
        run_(std::max(endpoint.pack_limit() / (kSequencedControlBytes + plan.data_bytes), 1u)),
        next_(plan.xpuids.size() * kVcCount * kFlows) {}

  // Sets the tag of the current run, in byte 3 of its load.
  void SetTag(uint8_t tag) { tag_ = tag; }
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
  bool refused() const { return refused_; }
  // Reason why a destination is unreachable, which ends the run; empty: none.
  const std::string& unreachable() const { return unreachable_; }
  // Processes the completion of a transfer's last command.
  void OnCompletion(const suede_completion& done, Time now, bool measured) {
    --tags_outstanding_;
    ++result_.completions[std::min<size_t>(done.status, kCompletionStatuses - 1)];
    if (IsUnreachable(done)) unreachable_ = UnreachableText(done);
    if (done.status != SUEDE_STATUS_OK) return;
    const Duration took = now - TimeFromNs(static_cast<int64_t>(done.tag));
    const auto took_ns = static_cast<uint64_t>(std::max<int64_t>(took.count(), 0));
    if (cells_ != nullptr) cells_->OnLatency(took_ns);
    if (measured) result_.transfer_ns.Record(took_ns);
  }
  uint32_t tags_outstanding() const { return tags_outstanding_; }
  // Also records transfer times in `cells`.
  void LogTo(IntervalCells* cells) { cells_ = cells; }

 private:
  static constexpr size_t kVisits = 16;
  struct IsLater {
    bool operator()(const Outgoing& a, const Outgoing& b) const { return a.due > b.due; }
  };

  // Sends a PDU's worth of commands, or the transfer's last command.
  bool Visit(Outgoing& out) {
    const uint64_t whole = (out.bytes - 1) / plan_.data_bytes;  // without the last command
    if (whole == 0) return SendLast(out);
    return SendRun(out, static_cast<uint32_t>(std::min<uint64_t>(whole, run_)));
  }

  bool SendRun(Outgoing& out, uint32_t max) {
    uint8_t shape[2];
    SetShape(shape, OpcodeFor(), kSequencedControlBytes, plan_.data_bytes);
    const uint16_t xpuid = plan_.xpuids[out.rank];
    CommandSpan span;
    SendResult result = endpoint_.Reserve(
        {.xpuid = xpuid, .vc = out.vc, .type = shape[0], .length = shape[1]}, max, &span, 0);
    if (result == SendResult::kOk) {
      uint32_t& next = NextOf(out);
      for (uint32_t i = 0; i < span.count; ++i) {
        const size_t offset = size_t{i} * span.stride;
        Write(out, next + i, span.control + offset, span.data + offset, plan_.data_bytes);
      }
      result = endpoint_.Commit(span.count, 0);
      if (result == SendResult::kOk) {
        next += span.count;
        return Sent(out, span.count, uint64_t{span.count} * plan_.data_bytes);
      }
    }
    return Refused(result);
  }

  bool SendLast(Outgoing& out) {
    const auto bytes = static_cast<uint32_t>(out.bytes);
    alignas(64) uint8_t control[64] = {};
    alignas(64) uint8_t data[kMaxDataBytes] = {};
    SetShape(control, OpcodeFor(), kSequencedControlBytes, bytes);
    uint32_t& next = NextOf(out);
    Write(out, next, control, data, bytes);
    const bool tagged = tags_outstanding_ < tag_limit_;
    const SendResult result =
        endpoint_.Send({.xpuid = plan_.xpuids[out.rank],
                        .vc = out.vc,
                        .flags = static_cast<uint8_t>(tagged ? SUEDE_RECORD_COMPLETION : 0),
                        .tag = static_cast<uint64_t>(ToNs(out.due)),
                        .control = control,
                        .data = data},
                       0);
    if (result != SendResult::kOk) return Refused(result);
    tags_outstanding_ += tagged ? 1 : 0;
    ++next;
    return Sent(out, 1, bytes);
  }

  Opcode OpcodeFor() const { return plan_.check ? Opcode::kCheckedLoad : Opcode::kLoad; }
  uint32_t& NextOf(const Outgoing& out) {
    return next_[(size_t{out.rank} * kVcCount + out.vc) * kFlows + out.flow];
  }
  // Writes a command, except for its first two bytes.
  void Write(const Outgoing& out, uint32_t sequence, uint8_t* control, uint8_t* data,
             uint32_t bytes) const {
    control[2] = out.flow;
    control[3] = tag_;
    StoreBe32(control + 4, sequence);
    if (!plan_.check) {
      std::memset(data, 0, bytes);
      return;
    }
    FillContent({.source = plan_.xpuids[plan_.rank],
                 .destination = plan_.xpuids[out.rank],
                 .vc = out.vc,
                 .flow = out.flow,
                 .sequence = sequence},
                control, kSequencedControlBytes, data, bytes);
  }
  bool Sent(Outgoing& out, uint32_t commands, uint64_t bytes) {
    out.bytes -= bytes;
    result_.sent_commands += commands;
    result_.sent_bytes += bytes;
    return true;
  }
  bool Refused(SendResult result) {
    refused_ |= result == SendResult::kInvalid;
    ++result_.blocked;
    return false;
  }

  E& endpoint_;
  const RankPlan& plan_;
  RankResult& result_;
  IntervalCells* cells_ = nullptr;
  const uint32_t tag_limit_;
  const uint32_t run_;  // number of commands in a full PDU
  uint8_t tag_ = 0;
  bool refused_ = false;
  std::string unreachable_;
  uint32_t tags_outstanding_ = 0;
  size_t cursor_ = 0;
  std::vector<Outgoing> active_;
  std::priority_queue<Outgoing, std::vector<Outgoing>, IsLater> later_;
  std::vector<uint32_t> next_;  // sequence numbers, by rank, VC and flow
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_TRANSFER_SENDER_H_
