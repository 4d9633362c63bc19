// SPDX-License-Identifier: Apache-2.0
// A queue of a memif: one ring in each direction, behind the gate by which the control thread
// connects and disconnects them. Bursts belong to the lcore that owns the queue.
#ifndef SUEDE_MEMIF_QUEUE_H_
#define SUEDE_MEMIF_QUEUE_H_

#include <cstdint>

#include "memif/ring.h"
#include "port/burst_gate.h"
#include "port/port.h"

namespace suede::memif {

class Queue {
 public:
  explicit Queue(uint32_t max_frame_bytes) : max_frame_bytes_(max_frame_bytes) {}

  // Returns up to `max` frames, allocated from `pool`.
  uint32_t Receive(Port& pool, Frame** frames, uint32_t max) {
    if (!gate_.Enter()) [[unlikely]]
      return 0;
    const uint32_t count = rx_.Receive(pool, frames, max, max_frame_bytes_);
    tx_.OnPoll();
    gate_.Leave();
    return count;
  }
  // Copies frames[0, n) to the ring and returns n; the caller keeps the frames.
  uint32_t Send(Frame* const* frames, uint32_t count) {
    if (!gate_.Enter()) [[unlikely]]
      return 0;
    const uint32_t done = tx_.Send(frames, count);
    gate_.Leave();
    return done;
  }

  // Control thread. The gate is closed while the queue has no rings.
  BurstGate& gate() { return gate_; }
  void Connect(const RingView& rx, const RingView& tx) {
    rx_.Attach(rx);
    tx_.Attach(tx);
    rx_.Open();
    tx_.Open();
  }
  // Any thread.
  const QueueCounters& counters() const { return counters_; }
  bool broken() const { return rx_.broken() || tx_.broken(); }

 private:
  const uint32_t max_frame_bytes_;
  BurstGate gate_;
  QueueCounters counters_;
  ReceiveRing rx_{&counters_};
  SendRing tx_{&counters_};
};

}  // namespace suede::memif

#endif  // SUEDE_MEMIF_QUEUE_H_
