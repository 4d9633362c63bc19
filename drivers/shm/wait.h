// SPDX-License-Identifier: Apache-2.0
// Decides whether a client's wait is over: for the daemon's control thread, for the lcore, and for
// the client before it sleeps.
#ifndef SUEDE_SHM_WAIT_H_
#define SUEDE_SHM_WAIT_H_

#include <bit>

#include "client/segment.h"
#include "shm/protocol.h"

namespace suede {

// The parts of a protocol::Wait that are ready, as its masks.
struct WaitReady {
  uint32_t credit_queues = 0;
  uint32_t completion_queues = 0;
  uint32_t rx_vcs = 0;
  bool any() const { return (credit_queues | completion_queues | rx_vcs) != 0; }
};

// Checks a wait. All masks of `wait` must lie within the segment's queues and VCs. The values read
// are only compared. Another thread may be writing values of `wait`.
inline WaitReady FindReady(void* segment, const SegmentOffsets& offsets,
                           const protocol::Wait& wait) {
  const auto* head = static_cast<const suede_segment*>(segment);
  WaitReady ready;
  for (uint32_t left = LoadRelaxed(wait.credit_queues); left != 0; left &= left - 1) {
    const auto q = static_cast<uint32_t>(std::countr_zero(left));
    const auto* credits = AtOffset<suede_credits>(segment, offsets.credits[q]);
    const auto* ring = AtOffset<suede_ring>(segment, offsets.tx_ring[q]);
    if (LoadAcquire(credits->aggregate_returned) != LoadRelaxed(wait.returned[q]) ||
        LoadAcquire(ring->tail.value) != LoadRelaxed(wait.tail[q]) ||
        LoadAcquire(head->queue_state[q].value) != LoadRelaxed(wait.state[q])) {
      ready.credit_queues |= 1u << q;
    }
  }
  for (uint32_t left = LoadRelaxed(wait.completion_queues); left != 0; left &= left - 1) {
    const auto q = static_cast<uint32_t>(std::countr_zero(left));
    const auto* ring = AtOffset<suede_ring>(segment, offsets.completion_ring[q]);
    if (LoadAcquire(ring->head.value) != LoadRelaxed(wait.completion[q])) {
      ready.completion_queues |= 1u << q;
    }
  }
  const uint32_t rx_vcs = LoadRelaxed(wait.rx_vcs);
  for (uint32_t left = rx_vcs & ~protocol::kWaitForEvents; left != 0; left &= left - 1) {
    const auto vc = static_cast<uint32_t>(std::countr_zero(left));
    const auto* ring = AtOffset<suede_ring>(segment, offsets.rx_ring[vc]);
    const uint8_t state = __atomic_load_n(&wait.rx_state[vc], __ATOMIC_RELAXED);
    if ((state != 0 && LoadAcquire(head->rx_state[vc].value) != state) ||
        LoadAcquire(ring->head.value) != LoadRelaxed(wait.rx[vc])) {
      ready.rx_vcs |= 1u << vc;
    }
  }
  if ((rx_vcs & protocol::kWaitForEvents) != 0 && LoadAcquire(head->event_summary) != 0) {
    ready.rx_vcs |= protocol::kWaitForEvents;
  }
  return ready;
}

}  // namespace suede

#endif  // SUEDE_SHM_WAIT_H_
