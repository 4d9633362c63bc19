// SPDX-License-Identifier: Apache-2.0
// Detects whether frames leave the device of a port. A switch that pauses the port (PFC) keeps
// frames in the device; a missing answer is then no evidence about a plane or a peer
// (docs/planes.md, "A port that is paused").
//
// Takes facts about the device and the time; queries no port. Owned by the lcore of the queue pair.
// The calls for each burst cost a comparison; only timers, and a few acknowledgements, check
// whether frames have left.
#ifndef SUEDE_LINK_DEPARTURES_H_
#define SUEDE_LINK_DEPARTURES_H_

#include <algorithm>
#include <utility>

#include "base/time.h"
#include "port/frame.h"

namespace suede {

class Departures {
 public:
  // ---- For each burst.

  // The device has just taken a one-shot frame. Returns whether the frame is kept here, to detect
  // when it leaves.
  bool Keep(Frame* frame, Time now) {
    if (marker_ != nullptr) return false;
    marker_ = frame;
    handed_at_ = now;
    return true;
  }
  // The device has taken some of the offered frames, or none.
  void OnTransmit(bool took_some, Time now) {
    refused_since_ = took_some ? kNever : std::min(refused_since_, now);
  }

  // ---- For a sample of acknowledgements.

  bool WantsSample(Time now) const { return now >= sample_at_; }
  // A PDU that was given to the device at `sent_at` was acknowledged, so it has left. `busy`: the
  // device still holds its frame. Many devices return frames late: the frames that they hold are no
  // evidence. `once`: the PDU was sent only once.
  void OnSample(bool busy, Time sent_at, bool once, Time now);

  // ---- For timers.

  // The state of the device after a request to return sent frames (Port::Reclaim).
  struct Device {
    bool up = false;           // the device has a link
    bool reclaims = false;     // the device supports the request
    bool marker_busy = false;  // the device may still read the kept frame
  };
  // The oldest frame whose answer the caller awaits.
  struct Waiting {
    bool exists = false;
    bool staged = false;  // the device has not taken the frame yet
    bool busy = false;    // the device may still read the frame
    Time sent_at{};
  };
  // Since when no frame has left the device, as far as known; kNever: frames leave, or have been
  // held for less than `min`. `unused`: a frame to be released, or null.
  Time HeldSince(const Device& device, const Waiting& waiting, Duration min, Time now,
                 Frame*& unused);
  // Whether HeldSince has begun to return a time since the last call.
  bool TakeNews() { return std::exchange(news_, false); }
  // Whether an event may be emitted: at most ten times a second.
  bool MayEmit(Time now);

  // The kept frame; null: none.
  const Frame* marker() const { return marker_; }

 private:
  Frame* marker_ = nullptr;  // given to the device at handed_at_
  Time handed_at_{};
  Time refused_since_ = kNever;
  Time held_since_ = kNever;
  Time seen_at_{};  // when frames were last found to be held
  Time emit_at_{};
  Time sample_at_{};
  bool reports_ = true;  // the device had returned the last sampled frame, or no frame was sampled
  bool news_ = false;
};

}  // namespace suede

#endif  // SUEDE_LINK_DEPARTURES_H_
