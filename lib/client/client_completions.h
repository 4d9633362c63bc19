// SPDX-License-Identifier: Apache-2.0
// The client's half of a completion ring, and its count of tags. Header only, for client_queue.h.
#ifndef SUEDE_CLIENT_CLIENT_COMPLETIONS_H_
#define SUEDE_CLIENT_CLIENT_COMPLETIONS_H_

#include <algorithm>
#include <cstdint>

#include "client/segment.h"

namespace suede {

class ClientCompletions {
 public:
  ClientCompletions(suede_segment* segment, uint32_t queue)
      : ring_(AtOffset<suede_ring>(segment, segment->completion_ring[queue])),
        entries_(reinterpret_cast<suede_completion*>(ring_ + 1)),
        count_(segment->completion_count) {}

  // Takes up to `max` completions.
  uint32_t Poll(suede_completion* out, uint32_t max) {
    uint32_t available = head_ - tail_;
    if (available < max) {
      head_ = LoadAcquire(ring_->head.value);
      available = head_ - tail_;
      if (available == 0) return 0;
    }
    const uint32_t count = std::min(available, max);
    for (uint32_t i = 0; i < count; ++i) out[i] = entries_[(tail_ + i) & (count_ - 1)];
    tail_ += count;
    StoreRelease(ring_->tail.value, tail_);
    tagged_ -= std::min(count, tagged_);
    return count;
  }
  bool HasAny() const { return LoadAcquire(ring_->head.value) != tail_; }
  uint32_t position() const { return tail_; }

  // Tags that may be sent: each has room for its completion.
  uint32_t TagsFree() const { return count_ - tagged_; }
  void OnTagged(uint32_t tags) { tagged_ += tags; }
  void ForgetTags() { tagged_ = 0; }

 private:
  suede_ring* ring_;
  suede_completion* entries_;
  uint32_t count_;
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
  uint32_t tagged_ = 0;  // tags sent whose completions were not taken
};

}  // namespace suede

#endif  // SUEDE_CLIENT_CLIENT_COMPLETIONS_H_
