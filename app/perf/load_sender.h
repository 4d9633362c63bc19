// SPDX-License-Identifier: Apache-2.0
// Generates the load: commands of one shape, round robin over the streams, on the lane that the
// endpoint picks. Writes runs of consecutive commands of a stream in place.
#ifndef SUEDE_APP_PERF_LOAD_SENDER_H_
#define SUEDE_APP_PERF_LOAD_SENDER_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "perf/command_writer.h"
#include "perf/completion_tags.h"

namespace suede::perf {

template <PerfEndpoint E>
class LoadSender {
 public:
  LoadSender(E& endpoint, const LoadShape& shape, const std::vector<StreamId>& streams,
             uint16_t own_xpuid, uint8_t flow)
      : endpoint_(endpoint),
        shape_(shape),
        writer_(endpoint, shape, own_xpuid),
        flow_(flow),
        tags_(CompletionTags::ForLoad(endpoint.completion_limit())),
        per_lane_(static_cast<uint32_t>(streams.size())),
        sent_by_lane_(endpoint.lanes()),
        until_pack_(shape.pack_every),
        until_completion_(shape.completion_every) {
    for (uint32_t lane = 0; lane < endpoint.lanes(); ++lane) {
      for (const StreamId& id : streams) streams_.push_back({.to = id});
    }
    blocked_limit_ = std::min(per_lane_, kBlockedLimit);
  }
  LoadSender(const LoadSender&) = delete;

  // Enables recording of send times, of up to `inflight` commands per stream.
  void KeepTimes(uint32_t inflight) {
    time_mask_ = std::bit_ceil(inflight) - 1;
    times_.assign(streams_.size() * (size_t{time_mask_} + 1), 0);
  }
  // Returns the index of the lane's stream `at` among the streams of all lanes.
  uint32_t StreamIndex(uint32_t lane, uint32_t at) const { return lane * per_lane_ + at; }
  Time SentTime(uint32_t stream_index, uint32_t sequence) const {
    return TimeFromNs(times_[TimeSlot(stream_index, sequence)]);
  }

  // Number of commands in a full PDU.
  uint32_t pdu_commands() const { return writer_.pdu_commands(); }
  size_t streams() const { return per_lane_; }

  // Sends up to `max` commands, fewer if the streams lack credit. Returns their number. In each
  // round, every stream gets `run` consecutive commands; a change of `run` takes effect in the next
  // round. intended(k): intended send time of this sender's command k; called for timed commands
  // only.
  template <class Intended>
  uint32_t Burst(uint32_t max, uint32_t run, const Intended& intended) {
    uint32_t sent = 0;
    uint32_t blocked = 0;
    while (sent < max && blocked < blocked_limit_) {
      if (left_of_run_ == 0) {
        if (cursor_ == 0) run_ = run;
        left_of_run_ = run_;
      }
      const uint32_t count = SendOn(cursor_, std::min(left_of_run_, max - sent), intended);
      sent += count;
      blocked = count != 0 ? 0 : blocked + 1;
      left_of_run_ = count != 0 ? left_of_run_ - count : 0;
      if (left_of_run_ == 0 && ++cursor_ == per_lane_) cursor_ = 0;
    }
    blocked_ += blocked;
    if (sent > 0) endpoint_.Flush();
    return sent;
  }

  // Requests a completion for the next command of the next stream, counted with those of messages,
  // to check that the destination is reachable.
  void WatchNext(CompletionTags* tags) {
    watch_tags_ = tags;
    watched_ = watched_ + 1 < per_lane_ ? watched_ + 1 : 0;
  }

  // Sends one more command on each stream of lane 0, whose completion has the tag kLast, as far as
  // credit and `tags` permit. Returns whether there was progress.
  bool SendLast(CompletionTags* tags) {
    const uint32_t before = ended_;
    for (; ended_ < per_lane_ && tags->HasRoom(); ++ended_) {
      TxStream& stream = streams_[ended_];
      if (!writer_.Send(NextOf(stream, 0), shape_.data_bytes,
                        {.flags = SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION,
                         .tag = CompletionTags::kLast})) {
        break;
      }
      tags->OnSent();
      ++stream.next;
      ++sent_;
      ++sent_by_lane_[0];
    }
    if (ended_ != before) endpoint_.Flush();
    return ended_ != before;
  }

  void OnCompletion() { tags_.OnCompletion(); }

  uint8_t flow() const { return flow_; }  // of lane 0; the other lanes have the following numbers
  uint64_t sent() const { return sent_; }
  const std::vector<uint64_t>& sent_by_lane() const { return sent_by_lane_; }
  uint64_t blocked() const { return blocked_; }
  uint32_t tags_outstanding() const { return tags_.outstanding(); }
  const TxStream& stream(uint32_t lane, uint32_t index) const {
    return streams_[lane * per_lane_ + index];
  }
  // Whether the endpoint rejected a command as invalid, which ends the run.
  bool refused() const { return writer_.refused(); }

 private:
  // Maximum of consecutive streams without credit per Burst. Bounds the time with thousands of
  // streams; the next call continues at the cursor.
  static constexpr uint32_t kBlockedLimit = 64;

  // Sends up to `max` commands on stream `at`. Returns their number.
  template <class Intended>
  uint32_t SendOn(uint32_t at, uint32_t max, const Intended& intended) {
    const uint32_t run = IsWatched(at) ? 1 : PlainCommands(max);
    for (uint32_t attempt = 0;; ++attempt) {
      const int32_t picked = endpoint_.Pick(streams_[at].to.xpuid, attempt);
      if (picked < 0) return 0;
      const auto lane = static_cast<uint32_t>(picked);
      const uint32_t sent = run > 1 ? SendRunOnLane(streams_[StreamIndex(lane, at)], lane, run)
                                    : uint32_t{SendOnLane(lane, at, intended)};
      if (sent != 0) return sent;
    }
  }

  bool IsWatched(uint32_t at) const { return watch_tags_ != nullptr && at == watched_; }

  // Returns how many of the next commands, up to `max`, may be sent as one run, because they differ
  // only in content. 1 with several lanes, which are picked per command, and if send times are
  // recorded.
  uint32_t PlainCommands(uint32_t max) const {
    if (endpoint_.lanes() > 1 || time_mask_ != kNoTimes) return 1;
    if (until_pack_ != 0) max = std::min(max, until_pack_ - 1);
    if (until_completion_ != 0) max = std::min(max, until_completion_ - 1);
    return max;
  }

  CommandPlace NextOf(const TxStream& stream, uint32_t lane) const {
    return {.to = stream.to,
            .flow = static_cast<uint8_t>(flow_ + lane),
            .sequence = stream.next,
            .lane = lane};
  }

  uint32_t SendRunOnLane(TxStream& stream, uint32_t lane, uint32_t max) {
    const uint32_t sent = writer_.SendRun(NextOf(stream, lane), max);
    stream.next += sent;
    sent_ += sent;
    sent_by_lane_[lane] += sent;
    if (until_pack_ != 0) until_pack_ -= sent;
    if (until_completion_ != 0) until_completion_ -= sent;
    return sent;
  }

  template <class Intended>
  bool SendOnLane(uint32_t lane, uint32_t at, const Intended& intended) {
    const uint32_t index = StreamIndex(lane, at);
    TxStream& stream = streams_[index];
    RecordMarks marks;
    if (until_pack_ == 1) marks.flags |= SUEDE_RECORD_TRANSMIT_NOW;
    if (until_completion_ == 1) {
      if (!tags_.HasRoom()) return false;
      marks.flags |= SUEDE_RECORD_COMPLETION;
      marks.tag = static_cast<uint64_t>(ToNs(intended(sent_)));
    }
    const bool watch = IsWatched(at) && until_completion_ != 1 && watch_tags_->HasRoom();
    if (watch) {
      marks.flags |= SUEDE_RECORD_COMPLETION;
      marks.tag = CompletionTags::kMessage;
    }
    if (!writer_.Send(NextOf(stream, lane), shape_.data_bytes, marks)) return false;
    if (watch) watch_tags_->OnSent();
    if (IsWatched(at)) watch_tags_ = nullptr;
    if (time_mask_ != kNoTimes) times_[TimeSlot(index, stream.next)] = ToNs(intended(sent_));
    ++sent_by_lane_[lane];
    OnSent(stream);
    return true;
  }

  void OnSent(TxStream& stream) {
    ++stream.next;
    ++sent_;
    if (until_pack_ != 0 && --until_pack_ == 0) until_pack_ = shape_.pack_every;
    if (until_completion_ != 0 && --until_completion_ == 0) {
      until_completion_ = shape_.completion_every;
      tags_.OnSent();
    }
  }

  size_t TimeSlot(uint32_t index, uint32_t sequence) const {
    return size_t{index} * (size_t{time_mask_} + 1) + (sequence & time_mask_);
  }

  static constexpr uint32_t kNoTimes = UINT32_MAX;

  E& endpoint_;
  const LoadShape shape_;
  CommandWriter<E> writer_;
  const uint8_t flow_;
  CompletionTags tags_;
  const uint32_t per_lane_;        // streams per lane
  std::vector<TxStream> streams_;  // of lane 0, then of the following lanes
  std::vector<uint64_t> sent_by_lane_;
  uint32_t cursor_ = 0;
  uint32_t run_ = 1;          // commands per stream in this round
  uint32_t left_of_run_ = 0;  // of the stream at the cursor; 0: begins a new run
  uint32_t blocked_limit_ = 0;
  uint32_t until_pack_ = 0;        // 1: the next command; 0: none
  uint32_t until_completion_ = 0;  // 1: the next command; 0: none
  CompletionTags* watch_tags_ = nullptr;  // null: no pending watch
  uint32_t watched_ = 0;               // stream to watch
  uint32_t ended_ = 0;                 // streams whose last command is sent
  uint64_t sent_ = 0;
  uint64_t blocked_ = 0;
  uint32_t time_mask_ = kNoTimes;
  std::vector<int64_t> times_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_LOAD_SENDER_H_
