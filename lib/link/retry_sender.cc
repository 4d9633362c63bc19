// SPDX-License-Identifier: Apache-2.0
#include "link/retry_sender.h"

#include <algorithm>
#include <bit>

namespace suede {

RetrySender::RetrySender(const RetryParams& params)
    : params_(params),
      ring_(params.on ? std::bit_ceil(params.window_frames) : 1),
      mask_(static_cast<uint32_t>(ring_.size() - 1)),
      state_(params.on ? State::kInit : State::kOff) {
  ended_.reserve(ring_.size());
}

void RetrySender::Begin(uint32_t window_frames, uint32_t window_octets) {
  state_ = State::kAdvance;
  window_frames_ = std::clamp(window_frames, 1u, params_.window_frames);
  window_octets_ = std::min(window_octets, params_.window_octets);
  base_ = cursor_ = sent_end_ = next_ = Psn();
  nacked_ = false;
  tries_ = 0;
  due_ = kNever;
}

void RetrySender::Stop(State to) {
  while (base_ != next_) EndFirst();
  cursor_ = base_;
  state_ = to;
}

void RetrySender::EndFirst() {
  const Held& first = At(base_);
  octets_ -= first.bytes;
  ended_.push_back(first.frame);
  base_ = base_.Next();
}

void RetrySender::Take(Frame* frame, uint32_t bytes) {
  At(next_) = {.frame = frame, .bytes = bytes};
  octets_ += bytes;
  next_ = next_.Next();
}

bool RetrySender::Holds(const Frame* frame) const {
  for (Psn at = base_; at != next_; at = at.Next()) {
    if (At(at).frame == frame) return true;
  }
  return false;
}

uint32_t RetrySender::OnSent(uint32_t count, Time now) {
  uint32_t again = 0;
  for (; count != 0; --count) {
    if (cursor_ == base_) due_ = now + params_.replay_timeout * (1u << tries_);
    if (cursor_.IsBefore(sent_end_)) {
      ++again;
    } else {
      At(cursor_).sent_at = now;
      sent_end_ = cursor_.Next();
    }
    cursor_ = cursor_.Next();
  }
  if (state_ == State::kReplay && cursor_ == next_) state_ = State::kAdvance;
  return again;
}

// An acknowledgement behind the held frames is old: retransmitted frames carry the acknowledgement
// of their first transmission.
RetrySender::AckVerdict RetrySender::OnAck(Psn last_good, Time now) {
  if (!numbers()) return AckVerdict::kNothing;
  const int count = last_good.Next().DistanceFrom(base_);
  if (count <= 0) return AckVerdict::kNothing;
  if (last_good.Next().IsAfter(sent_end_)) return AckVerdict::kImplausible;
  for (int i = 0; i < count; ++i) EndFirst();
  if (cursor_.IsBefore(base_)) cursor_ = base_;
  if (state_ == State::kReplay && cursor_ == next_) state_ = State::kAdvance;
  nacked_ = false;
  tries_ = 0;
  due_ = cursor_ == base_ ? kNever : now + params_.replay_timeout;
  return AckVerdict::kProgress;
}

RetrySender::AckVerdict RetrySender::OnNack(Psn last_good, Time now) {
  const AckVerdict verdict = OnAck(last_good, now);
  if (!numbers() || verdict == AckVerdict::kImplausible || last_good.Next() != base_)
    return verdict;
  // A NACK means that frames behind base_ have arrived: they must have been sent.
  if (base_ == sent_end_) return AckVerdict::kImplausible;
  if (nacked_) return AckVerdict::kCopy;
  nacked_ = true;
  Replay();
  return AckVerdict::kReplay;
}

// Retransmits from the oldest frame on. The timer starts when the first frame leaves.
void RetrySender::Replay() {
  state_ = State::kReplay;
  cursor_ = base_;
  due_ = kNever;
}

RetrySender::Due RetrySender::OnTime(Time now) {
  if (!numbers() || base_ == sent_end_) return Due::kNothing;
  if (now - At(base_).sent_at > params_.max_age) return Due::kAged;
  if (now < due_) return Due::kNothing;
  if (tries_ == params_.replay_count) return Due::kFailed;
  ++tries_;
  Replay();
  return Due::kReplay;
}

Time RetrySender::deadline() const {
  if (!numbers() || base_ == sent_end_) return kNever;
  return std::min(due_, At(base_).sent_at + params_.max_age + Duration(1));
}

}  // namespace suede
