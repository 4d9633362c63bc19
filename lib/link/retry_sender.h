// SPDX-License-Identifier: Apache-2.0
// The sending side of link-level retry (docs/link.md): numbers, the frames held until the far end
// has received them, and the next frame to send. No I/O; frames are only pointers here.
#ifndef SUEDE_LINK_RETRY_SENDER_H_
#define SUEDE_LINK_RETRY_SENDER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/psn.h"
#include "base/time.h"
#include "link/link_params.h"
#include "port/frame.h"

namespace suede {

class RetrySender {
 public:
  enum class State : uint8_t { kOff, kInit, kAdvance, kReplay, kFlush };

  explicit RetrySender(const RetryParams& params);

  // ---- The session.

  // Begins with number 0; no frame may be held. The window is the far end's, bounded by our own.
  void Begin(uint32_t window_frames, uint32_t window_octets);
  // Gives up held frames (`ended`), and enters the state `to`: kOff, kInit or kFlush.
  void Stop(State to);

  // ---- Frames to send.

  bool numbers() const { return state_ == State::kAdvance || state_ == State::kReplay; }
  // Whether frames may be taken: no taken frame waits to be sent.
  bool takes() const { return state_ == State::kAdvance && cursor_ == next_; }
  // The number of the next frame.
  Psn next() const { return next_; }
  // Whether the window has room for a frame of this length. An empty window always has room.
  bool Fits(uint32_t bytes) const {
    const uint32_t count = held();
    return count == 0 || (count < window_frames_ && octets_ + bytes <= window_octets_);
  }
  // The frame is held from now on. `takes` must have been true before the first frame of a burst.
  void Take(Frame* frame, uint32_t bytes);
  // Whether the frame is held.
  bool Holds(const Frame* frame) const;
  // The frame to send now, `ahead` places behind the first; null: none. The caller then calls
  // OnSent with the number of frames sent.
  Frame* ToSend(uint32_t ahead) const {
    const Psn at = cursor_.Plus(static_cast<int>(ahead));
    return at.IsBefore(next_) ? At(at).frame : nullptr;
  }
  // The first `count` frames of ToSend were sent. Returns how many of them were retransmissions.
  uint32_t OnSent(uint32_t count, Time now);

  // ---- Answers of the far end.

  enum class AckVerdict : uint8_t {
    kNothing,      // the answer is old
    kProgress,     // frames are `ended`
    kImplausible,  // the answer names a number that was not sent
    kCopy,         // a copy of a NACK whose retransmission is in progress
    kReplay,       // a retransmission has begun
  };
  AckVerdict OnAck(Psn last_good, Time now);
  AckVerdict OnNack(Psn last_good, Time now);

  // ---- Time.

  enum class Due : uint8_t { kNothing, kReplay, kFailed, kAged };
  // kFailed, kAged: the caller calls Stop.
  Due OnTime(Time now);
  Time deadline() const;

  // Frames that are no longer held, for the caller to release before ClearEnded.
  std::span<Frame* const> ended() const { return ended_; }
  void ClearEnded() { ended_.clear(); }

  State state() const { return state_; }
  uint32_t held() const { return static_cast<uint32_t>(next_.DistanceFrom(base_)); }
  uint32_t held_octets() const { return octets_; }

 private:
  struct Held {
    Frame* frame = nullptr;
    uint32_t bytes = 0;
    Time sent_at = kNever;  // of the first transmission
  };
  Held& At(Psn number) { return ring_[number.value() & mask_]; }
  const Held& At(Psn number) const { return ring_[number.value() & mask_]; }
  void Replay();
  void EndFirst();

  const RetryParams params_;
  std::vector<Held> ring_;
  uint32_t mask_;
  std::vector<Frame*> ended_;
  State state_;
  uint32_t window_frames_ = 0;
  uint32_t window_octets_ = 0;
  uint32_t octets_ = 0;
  Psn base_;             // the oldest held frame
  Psn cursor_;           // the next frame to send
  Psn sent_end_;         // behind all frames ever sent
  Psn next_;             // behind all held frames
  bool nacked_ = false;  // a NACK for base_ was heeded
  uint32_t tries_ = 0;   // expiries of the timer without progress
  Time due_ = kNever;
};

}  // namespace suede

#endif  // SUEDE_LINK_RETRY_SENDER_H_
