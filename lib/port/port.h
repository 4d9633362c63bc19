// SPDX-License-Identifier: Apache-2.0
// The burst interface that a driver implements: one queue pair of one Ethernet port.
//
// Thread: everything but `link` belongs to the lcore that owns the queue pair. A call is virtual
// once per burst or turn, never per frame.
#ifndef SUEDE_PORT_PORT_H_
#define SUEDE_PORT_PORT_H_

#include <cstdint>

#include "port/frame.h"

namespace suede {

struct LinkState {
  bool up = false;
  uint64_t speed_bps = 0;  // 0: not known
};

class Port {
 public:
  virtual ~Port() = default;

  // Takes up to `max` received frames; the caller owns one reference to each.
  virtual uint32_t Receive(Frame** frames, uint32_t max) = 0;

  // Hands over frames[0, count) in order and returns how many the device took. The caller keeps its
  // reference to every one, and must not write to a frame for which IsBusy() holds.
  virtual uint32_t Transmit(Frame* const* frames, uint32_t count) = 0;

  // As Transmit, but the caller's reference goes with each frame that the device takes. The frames
  // are ones that nobody else has. Costs less: nobody has to release them.
  virtual uint32_t Give(Frame* const* frames, uint32_t count) {
    const uint32_t taken = Transmit(frames, count);
    Release(frames, taken);
    return taken;
  }

  // Sends frames that others have left with this queue pair. Once a turn, before the owner's own
  // frames, with or without any of these.
  virtual void Flush() {}

  // Whether the device may still read the frame, or a layer of the link that holds it.
  virtual bool IsBusy(const Frame* frame) const = 0;

  // Takes back what the device has finished with, as far as it can be asked to, so that IsBusy
  // does not hold for it any longer. False: it cannot be asked, and may keep what has left until
  // it is given more. Not for the fast path.
  virtual bool Reclaim() { return false; }

  // Fills frames[0, n) with empty frames, n <= count the return value; fewer than asked means that
  // the pool is exhausted. Their `data` is undefined, their `length` 0.
  virtual uint32_t Allocate(Frame** frames, uint32_t count) = 0;

  // Gives up the caller's reference to each frame. It may be one of another port of the same kind,
  // which is where it goes back to; Transmit and IsBusy take such frames, too. All three take frames
  // that another queue pair of the same port has received or given.
  virtual void Release(Frame* const* frames, uint32_t count) = 0;

  // Takes a further reference to each frame for the caller, who releases it by a Release of its
  // own. IsBusy holds for a frame that has one.
  virtual void Hold(Frame* const* frames, uint32_t count) = 0;

  // The largest frame, in bytes from the Ethernet header to the R-CRC.
  virtual uint32_t max_frame_bytes() const = 0;

  // Whether the device fills this in on transmission; every device does nothing when asked to.
  virtual bool Offers(TxOffload offload) const = 0;

  // The link as last seen; any thread.
  virtual LinkState link() const = 0;
};

}  // namespace suede

#endif  // SUEDE_PORT_PORT_H_
