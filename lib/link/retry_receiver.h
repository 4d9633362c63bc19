// SPDX-License-Identifier: Apache-2.0
// The receiving side of link-level retry (docs/link.md): which numbered frames are passed up, and
// which answers the far end gets. No I/O.
#ifndef SUEDE_LINK_RETRY_RECEIVER_H_
#define SUEDE_LINK_RETRY_RECEIVER_H_

#include <algorithm>
#include <cstdint>

#include "base/psn.h"
#include "base/time.h"
#include "link/link_params.h"

namespace suede {

class RetryReceiver {
 public:
  enum class State : uint8_t { kOff, kSendAcks, kSendNack, kNackSent };

  explicit RetryReceiver(const RetryParams& params) : params_(params) {}

  // A session begins, whose sender holds at most `window_frames` frames.
  void Begin(uint32_t window_frames) {
    state_ = State::kSendAcks;
    window_ = static_cast<int>(std::clamp(window_frames, 1u, RetryParams::kMaxWindowFrames));
    ack_frames_ = std::clamp(window_frames / 4, 1u, params_.ack_frames);
    expected_ = Psn();
    OnAckSent();
  }
  void Stop() {
    state_ = State::kOff;
    OnAckSent();
  }

  // A numbered frame was received; the state is not kOff. The caller drops the frame unless
  // kAccept.
  enum class Verdict : uint8_t { kAccept, kDuplicate, kGap, kBeyond };
  Verdict OnData(Psn number, Time now) {
    const int ahead = number.DistanceFrom(expected_);
    if (ahead == 0) [[likely]] {
      expected_ = expected_.Next();
      state_ = State::kSendAcks;
      ScheduleAck(1, now);
      return Verdict::kAccept;
    }
    if (ahead < 0) {
      ScheduleAck(ack_frames_, now);
      return Verdict::kDuplicate;
    }
    if (ahead >= window_) return Verdict::kBeyond;
    if (state_ == State::kSendAcks) state_ = State::kSendNack;
    return Verdict::kGap;
  }
  Psn last_good() const { return expected_.Plus(-1); }

  // Whether an answer to the far end is due now, in a frame of its own.
  bool HasAnswer(Time now) const {
    return state_ == State::kSendNack || unacked_frames_ >= ack_frames_ || now >= due_;
  }
  bool answers_by_nack() const { return state_ == State::kSendNack; }
  // The answer has left in a frame of its own.
  void OnAnswered() {
    if (state_ == State::kSendNack) state_ = State::kNackSent;
    OnAckSent();
  }
  // An ACK has left in a numbered frame, which cannot carry a NACK.
  void OnAckSent() {
    unacked_frames_ = 0;
    due_ = kNever;
  }
  // When HasAnswer will be true; in the past if an answer is due already.
  Time deadline() const {
    return state_ == State::kSendNack || unacked_frames_ >= ack_frames_ ? Time{} : due_;
  }

  State state() const { return state_; }

 private:
  void ScheduleAck(uint32_t frames, Time now) {
    if (unacked_frames_ == 0) due_ = now + params_.ack_delay;
    unacked_frames_ += frames;
  }

  const RetryParams params_;
  State state_ = State::kOff;
  int window_ = 1;
  uint32_t ack_frames_ = 1;
  uint32_t unacked_frames_ = 0;
  Psn expected_;
  Time due_ = kNever;
};

}  // namespace suede

#endif  // SUEDE_LINK_RETRY_RECEIVER_H_
