// SPDX-License-Identifier: Apache-2.0
// Whether frames leave the device of a port. A switch that pauses the port (PFC)
// keeps frames in the device, and that no answer comes then says nothing of a plane or a peer
// (docs/planes.md, "A port that is paused").
//
// Facts about the device and the time go in; nothing here asks a port. Owned by the lcore of the
// queue pair. What is called for each burst costs a comparison; whether frames have left is looked
// at by timers only, and by a few acknowledgements.
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

  // Of a one-shot frame that the device has just taken: whether it is kept here, to see when it
  // leaves.
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
  // A PDU that was given to the device at `sent_at` was acknowledged, so that it has left. Does the
  // device know, or is the frame `busy` still? Many give frames back late, and then nothing can be
  // learnt from what it holds. `once`: the PDU was sent only once.
  void OnSample(bool busy, Time sent_at, bool once, Time now);

  // ---- For timers.

  // The device, after it was asked to take back what it has finished with.
  struct Device {
    bool up = false;           // it has a link
    bool reclaims = false;     // it can be asked
    bool marker_busy = false;  // it may still read the frame that is kept
  };
  // The oldest frame that the caller waits for an answer to.
  struct Waiting {
    bool exists = false;
    bool staged = false;  // the device has not taken it yet
    bool busy = false;    // the device may still read it
    Time sent_at{};
  };
  // Since when nothing has left the device, as far as one can tell; kNever: frames leave, or have
  // been held for less than `least`. Gives a frame to be released, or null.
  Time HeldSince(const Device& device, const Waiting& waiting, Duration least, Time now,
                 Frame*& unused);
  // Of HeldSince: true once for each time that it begins.
  bool TakeNews() { return std::exchange(news_, false); }
  // Whether that may be told: not more than ten times a second.
  bool MayTell(Time now);

  // The frame that is kept; null: none.
  const Frame* marker() const { return marker_; }

 private:
  Frame* marker_ = nullptr;  // the device got it at handed_at_
  Time handed_at_{};
  Time refused_since_ = kNever;
  Time held_since_ = kNever;
  Time seen_at_{};  // held, the last time
  Time tell_at_{};
  Time sample_at_{};
  bool tells_ = true;  // what was acknowledged was found to have left, or nothing was yet
  bool news_ = false;
};

}  // namespace suede

#endif  // SUEDE_LINK_DEPARTURES_H_
