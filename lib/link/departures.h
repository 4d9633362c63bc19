// SPDX-License-Identifier: Apache-2.0
// Whether frames leave the device of a port. A switch that pauses the port (PFC)
// keeps frames in the device; a missing answer then says nothing of a plane or a peer
// (docs/planes.md, "A port that is paused").
//
// Facts about the device and the time go in; nothing here asks a port. Owned by the lcore of the
// queue pair. The calls for each burst cost a comparison; only timers, and a few acknowledgements,
// check whether frames have left.
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

  // The device has just taken a one-shot frame. Returns whether the frame is kept here, to see when
  // it leaves.
  bool Keep(Frame* frame, Time now) {
    if (marker_ != nullptr) return false;
    marker_ = frame;
    handed_at_ = now;
    return true;
  }
  // The device has taken some of the frames it was given, or none.
  void OnTransmit(bool took_some, Time now) {
    refused_since_ = took_some ? kNever : std::min(refused_since_, now);
  }

  // ---- For an acknowledgement now and then.

  bool WantsSample(Time now) const { return now >= sample_at_; }
  // A PDU that was given to the device at `sent_at` was acknowledged, so it has left. `busy`: the
  // device still holds its frame. Many devices give frames back late: the frames that they hold say
  // nothing. `once`: the PDU was sent only once.
  void OnSample(bool busy, Time sent_at, bool once, Time now);

  // ---- For timers.

  // The device, after it was asked to take back what it has finished with.
  struct Device {
    bool up = false;           // the device has a link
    bool reclaims = false;     // the device can be asked
    bool marker_busy = false;  // the device may still read the frame that is kept
  };
  // The oldest frame that the caller waits for an answer to.
  struct Waiting {
    bool exists = false;
    bool staged = false;  // the device has not taken it yet
    bool busy = false;    // the device may still read it
    Time sent_at{};
  };
  // Since when nothing has left the device, as far as is known; kNever: frames leave, or have been
  // held for less than `min`. `unused`: a frame to be released, or null.
  Time HeldSince(const Device& device, const Waiting& waiting, Duration min, Time now,
                 Frame*& unused);
  // Whether HeldSince has begun to return a time since the last call.
  bool TakeNews() { return std::exchange(news_, false); }
  // Whether such news may be emitted: at most ten times a second.
  bool MayEmit(Time now);

  // The frame that is kept; null: none.
  const Frame* marker() const { return marker_; }

 private:
  Frame* marker_ = nullptr;  // the device got it at handed_at_
  Time handed_at_{};
  Time refused_since_ = kNever;
  Time held_since_ = kNever;
  Time seen_at_{};  // when frames were last found to be held
  Time tell_at_{};
  Time sample_at_{};
  bool tells_ = true;  // the device knew that the last sampled frame had left, or none was sampled
  bool news_ = false;
};

}  // namespace suede

#endif  // SUEDE_LINK_DEPARTURES_H_
