// SPDX-License-Identifier: Apache-2.0
// Two endpoints joined back to back in memory, with faults on demand.
#ifndef SUEDE_TESTS_PERF_LOOPBACK_H_
#define SUEDE_TESTS_PERF_LOOPBACK_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "perf/endpoint.h"
#include "perf/protocol.h"

namespace suede::perf {

class Loopback {
 public:
  struct Stored {
    uint16_t source = 0;
    uint16_t destination = 0;
    uint8_t vc = 0;
    std::vector<uint8_t> control;
    std::vector<uint8_t> data;
  };
  enum class Fate { kDeliver, kDrop, kDouble, kSwapWithNext, kBehindReport };

  // Asked for each load and echo; may change it.
  std::function<Fate(Stored&)> fault = [](Stored&) { return Fate::kDeliver; };
  // Asked for each message of the protocol: whether it arrives.
  std::function<bool(const Message&)> arrives = [](const Message&) { return true; };
  Time now;
  uint32_t credit = 64;  // commands that wait at a receiver, per VC
  uint8_t completion_status = SUEDE_STATUS_OK;
  bool lost = false;

  std::deque<Stored>& QueueTo(uint16_t xpuid, uint8_t vc) { return queues_[{xpuid, vc}]; }

  void Deliver(Stored command) {
    auto& queue = QueueTo(command.destination, command.vc);
    const auto message = DecodeMessage(command.control.data(),
                                       static_cast<uint32_t>(command.control.size()));
    if (message && !arrives(*message)) return;
    const Fate fate = message ? Fate::kDeliver : fault(command);
    if (fate == Fate::kDrop) return;
    if (fate == Fate::kDouble) queue.push_back(command);
    if (fate == Fate::kSwapWithNext) {
      held_.push_back(std::move(command));
      return;
    }
    if (fate == Fate::kBehindReport) {
      late_.push_back(std::move(command));
      return;
    }
    queue.push_back(std::move(command));
    if (message && message->code == Code::kReport) {
      for (Stored& late : late_) QueueTo(late.destination, late.vc).push_back(std::move(late));
      late_.clear();
    }
    for (Stored& held : held_) QueueTo(held.destination, held.vc).push_back(std::move(held));
    held_.clear();
  }

 private:
  std::map<std::pair<uint16_t, uint8_t>, std::deque<Stored>> queues_;
  std::vector<Stored> held_;
  std::vector<Stored> late_;
};

class LoopbackEndpoint : public SingleLane {
 public:
  LoopbackEndpoint(Loopback& link, uint16_t xpuid) : link_(link), xpuid_(xpuid) {}

  SendResult Send(const ClientCommand& c, uint32_t /*lane*/ = 0) {
    auto& queue = link_.QueueTo(c.xpuid, c.vc);
    if (queue.size() >= link_.credit) return SendResult::kWouldBlock;
    const uint32_t control_bytes = (c.control[0] & 0x0f) * 2u;
    const uint32_t data_bytes = (c.control[0] & 0x10) != 0 ? c.control[1] + 1u : 0;
    Loopback::Stored stored{.source = xpuid_, .destination = c.xpuid, .vc = c.vc};
    stored.control.assign(c.control, c.control + control_bytes);
    if (data_bytes > 0) stored.data.assign(c.data, c.data + data_bytes);
    if ((c.flags & SUEDE_RECORD_COMPLETION) != 0) {
      completions_.push_back(
          {.tag = c.tag, .xpuid = c.xpuid, .vc = c.vc, .status = link_.completion_status});
    }
    flags_seen[c.flags]++;
    link_.Deliver(std::move(stored));
    return SendResult::kOk;
  }
  SendResult Reserve(const ClientShape& shape, uint32_t max, CommandSpan* span,
                     uint32_t /*lane*/ = 0) {
    auto& queue = link_.QueueTo(shape.xpuid, shape.vc);
    const uint32_t room =
        link_.credit > queue.size() ? link_.credit - static_cast<uint32_t>(queue.size()) : 0;
    shape_ = shape;
    reserved_ = std::min({max, room, reserve_limit});
    if (reserved_ == 0) return SendResult::kWouldBlock;
    // One byte between the records, which nobody may write.
    stride_ = ControlBytes() + DataBytes() + 1;
    records_.assign(size_t{reserved_} * stride_, kUntouched);
    for (uint32_t i = 0; i < reserved_; ++i) {
      records_[i * stride_] = shape.type;
      records_[i * stride_ + 1] = shape.length;
    }
    *span = {.control = records_.data(),
             .data = DataBytes() != 0 ? records_.data() + ControlBytes() : nullptr,
             .stride = stride_,
             .count = reserved_};
    return SendResult::kOk;
  }
  SendResult Commit(uint32_t count, uint32_t lane = 0) {
    if (count > reserved_) return SendResult::kInvalid;
    reserved_ = 0;
    max_run = std::max(max_run, count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint8_t* control = records_.data() + i * stride_;
      untouched &= control[stride_ - 1] == kUntouched;
      Send({.xpuid = shape_.xpuid,
            .vc = shape_.vc,
            .flags = shape_.flags,
            .control = control,
            .data = DataBytes() != 0 ? control + ControlBytes() : nullptr},
           lane);
    }
    return SendResult::kOk;
  }
  void Flush() {}
  uint32_t PollCompletions(suede_completion* out, uint32_t max) {
    uint32_t count = 0;
    for (; count < max && !completions_.empty(); ++count) {
      out[count] = completions_.front();
      completions_.pop_front();
    }
    return count;
  }
  uint32_t Receive(uint32_t vc, ReceivedSpan* out, uint32_t max) {
    auto& queue = link_.QueueTo(xpuid_, static_cast<uint8_t>(vc));
    if (queue.empty()) return 0;
    const Loopback::Stored first = queue.front();
    const auto stride = static_cast<uint32_t>(first.control.size() + first.data.size());
    std::vector<uint8_t>& records = held_[vc].emplace_back();
    uint32_t count = 0;
    for (; count < max && !queue.empty(); ++count) {
      const Loopback::Stored& s = queue.front();
      if (s.source != first.source || s.control.size() != first.control.size() ||
          s.data.size() != first.data.size()) {
        break;
      }
      records.insert(records.end(), s.control.begin(), s.control.end());
      records.insert(records.end(), s.data.begin(), s.data.end());
      queue.pop_front();
    }
    *out = {.control = records.data(),
            .data = first.data.empty() ? nullptr : records.data() + first.control.size(),
            .stride = stride,
            .count = count,
            .control_bytes = static_cast<uint16_t>(first.control.size()),
            .data_bytes = static_cast<uint16_t>(first.data.size()),
            .source_xpuid = first.source,
            .own_xpuid = xpuid_,
            .vc = first.vc};
    return count;
  }
  void Release(uint32_t vc) { held_[vc].clear(); }
  Time Now() { return link_.now; }
  uint32_t completion_limit() const { return 32; }
  uint32_t pack_limit() const { return 400; }
  bool lost() const { return link_.lost; }

  std::map<int, uint64_t> flags_seen;
  uint32_t reserve_limit = UINT32_MAX;  // as where the ring ends
  uint32_t max_run = 0;                 // of commands that were committed together
  bool untouched = true;                // no byte behind a reserved command was written

 private:
  static constexpr uint8_t kUntouched = 0xa5;
  uint32_t ControlBytes() const { return (shape_.type & 0x0fu) * 2; }
  uint32_t DataBytes() const { return (shape_.type & 0x10) != 0 ? shape_.length + 1u : 0; }

  Loopback& link_;
  const uint16_t xpuid_;
  std::deque<suede_completion> completions_;
  std::map<uint32_t, std::deque<std::vector<uint8_t>>> held_;
  ClientShape shape_;
  uint32_t reserved_ = 0;
  uint32_t stride_ = 0;
  std::vector<uint8_t> records_;
};
static_assert(PerfEndpoint<LoopbackEndpoint>);

}  // namespace suede::perf

#endif  // SUEDE_TESTS_PERF_LOOPBACK_H_
