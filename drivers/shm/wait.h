// SPDX-License-Identifier: Apache-2.0
// When a client's wait is over. The daemon's control thread asks, and so does the client itself
// before it goes to sleep.
#ifndef SUEDE_SHM_WAIT_H_
#define SUEDE_SHM_WAIT_H_

#include "client/segment.h"
#include "shm/protocol.h"

namespace suede {

// Leaves in `wait` the masks of ready queues and VCs, and says whether anything is ready. All masks
// must lie within the segment's queues and VCs. The values read are only a hint: nothing is done
// with them.
inline bool FindReady(void* segment, const SegmentOffsets& offsets, protocol::Wait* wait) {
  const auto* head = static_cast<const suede_segment*>(segment);
  for (uint32_t q = 0; q < SUEDE_MAX_QUEUES; ++q) {
    const uint32_t bit = 1u << q;
    if ((wait->credit_queues & bit) != 0) {
      const auto* credits = AtOffset<suede_credits>(segment, offsets.credits[q]);
      const auto* ring = AtOffset<suede_ring>(segment, offsets.tx_ring[q]);
      if (LoadAcquire(credits->aggregate_returned) == wait->returned[q] &&
          LoadAcquire(ring->tail.value) == wait->tail[q] &&
          LoadAcquire(head->queue_state[q].value) == wait->state[q]) {
        wait->credit_queues &= ~bit;
      }
    }
    if ((wait->completion_queues & bit) != 0 &&
        LoadAcquire(AtOffset<suede_ring>(segment, offsets.completion_ring[q])->head.value) ==
            wait->completion[q]) {
      wait->completion_queues &= ~bit;
    }
  }
  for (uint32_t vc = 0; vc < SUEDE_VCS; ++vc) {
    if ((wait->rx_vcs & 1u << vc) == 0) continue;
    const bool is_same = wait->rx_state[vc] == 0 ||
                         LoadAcquire(head->rx_state[vc].value) == wait->rx_state[vc];
    if (is_same && LoadAcquire(AtOffset<suede_ring>(segment, offsets.rx_ring[vc])->head.value) ==
                       wait->rx[vc]) {
      wait->rx_vcs &= ~(1u << vc);
    }
  }
  if (LoadAcquire(head->event_summary) == 0) wait->rx_vcs &= ~protocol::kWaitForEvents;
  return (wait->credit_queues | wait->completion_queues | wait->rx_vcs) != 0;
}

}  // namespace suede

#endif  // SUEDE_SHM_WAIT_H_
