// SPDX-License-Identifier: Apache-2.0
// Burst interface that a driver implements: one queue pair of one Ethernet port.
//
// Thread: everything but `link` belongs to the lcore that owns the queue pair. There is one virtual
// call per burst or poll iteration, never per frame.
#ifndef SUEDE_PORT_PORT_H_
#define SUEDE_PORT_PORT_H_

#include <cstdint>

#include "port/frame.h"

namespace suede {

struct LinkState {
  bool up = false;
  uint64_t speed_bps = 0;  // 0: unknown
};

class Port {
 public:
  virtual ~Port() = default;

  // Returns up to `max` received frames; the caller owns one reference to each.
  virtual uint32_t Receive(Frame** frames, uint32_t max) = 0;

  // Passes frames[0, count) to the device in order and returns the number that it accepted. The
  // caller keeps its reference to each frame, and must not write to a frame while IsBusy() holds
  // for it.
  virtual uint32_t Transmit(Frame* const* frames, uint32_t count) = 0;

  // Like Transmit, but takes over the caller's reference to each accepted frame. Nobody else may
  // have a reference to the frames. Costs less, as nobody has to release them.
  virtual uint32_t Give(Frame* const* frames, uint32_t count) {
    const uint32_t taken = Transmit(frames, count);
    Release(frames, taken);
    return taken;
  }

  // Sends frames that other threads have queued at this queue pair, if any. Call once per poll
  // iteration, before transmitting the owner's frames.
  virtual void Flush() {}

  // Whether the device, or a layer of the link that holds the frame, may still read the frame.
  virtual bool IsBusy(const Frame* frame) const = 0;

  // Reclaims frames that the device has finished with, so that IsBusy no longer holds for them.
  // Returns false if the device does not support this, and so may keep transmitted frames until it
  // receives more. Not for the fast path.
  virtual bool Reclaim() { return false; }

  // Fills frames[0, n) with empty frames and returns n <= count; n < count: the pool is exhausted.
  // Their `data` is undefined, their `length` 0.
  virtual uint32_t Allocate(Frame** frames, uint32_t count) = 0;

  // Drops the caller's reference to each frame. A frame may belong to another port of the same
  // kind, and returns to its pool; Transmit and IsBusy accept such frames, too. All three accept
  // frames that another queue pair of the same port has received or allocated.
  virtual void Release(Frame* const* frames, uint32_t count) = 0;

  // Adds a reference to each frame for the caller, who must drop it by another Release. IsBusy
  // holds for a frame with such a reference.
  virtual void Hold(Frame* const* frames, uint32_t count) = 0;

  // Maximum frame, in bytes from the Ethernet header to the R-CRC.
  virtual uint32_t max_frame_bytes() const = 0;

  // Whether the device can compute this checksum on transmission. Every device offers kNone.
  virtual bool Offers(TxOffload offload) const = 0;

  // Returns the last known state of the link. Any thread.
  virtual LinkState link() const = 0;
};

}  // namespace suede

#endif  // SUEDE_PORT_PORT_H_
