// SPDX-License-Identifier: Apache-2.0
// The shape of a client's shared segment, and the daemon's views into it.
//
// No word in a segment is trusted: every word that the client can write is read once, checked and
// then used. If the daemon needs a number again, it keeps its own copy outside the segment.
#ifndef SUEDE_CLIENT_SEGMENT_H_
#define SUEDE_CLIENT_SEGMENT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "suede/layout.h"

namespace suede {

struct SegmentShape {
  uint32_t queue_count = 1;          // 1 to SUEDE_MAX_QUEUES
  uint32_t tx_lines = 4096;          // power of two, 64 to 2^20
  uint32_t rx_lines = 8192;          // power of two, 64 to 2^20; holds a PDU in the worst case
  uint32_t completion_count = 4096;  // power of two, 64 to 2^20
  uint32_t credit_lines = 1024;      // per {destination, VC}, per queue; min 5
  uint32_t aggregate_lines = 4096;   // per queue; min 5

  // Whether all numbers are in their ranges.
  bool IsValid() const;
};

// Offsets of the parts of a segment of this shape. Computed, never read from the segment.
struct SegmentOffsets {
  explicit SegmentOffsets(const SegmentShape& shape);
  uint64_t tx_ring[SUEDE_MAX_QUEUES] = {};
  uint64_t completion_ring[SUEDE_MAX_QUEUES] = {};
  uint64_t credits[SUEDE_MAX_QUEUES] = {};
  uint64_t rx_ring[SUEDE_VCS] = {};
  uint64_t load = 0;   // of queue 0; behind all parts that older daemons have
  uint64_t bytes = 0;  // of the whole segment, a multiple of 4096
};

// Writes the head of a segment into zeroed memory of SegmentOffsets(shape).bytes.
void FormatSegment(void* base, const SegmentShape& shape);

// Publishes the state (SUEDE_QUEUE_…) of a queue, or of a VC's receive ring, to the client.
void SetQueueState(void* segment, uint32_t queue, uint32_t state);
void SetReceiveState(void* segment, uint32_t vc, uint32_t state);

// Loads and stores of the words that both sides use.
inline uint32_t LoadAcquire(const uint32_t& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}
inline uint32_t LoadRelaxed(const uint32_t& word) {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}
inline void StoreRelease(uint32_t& word, uint32_t value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}

// Eight bytes of a record at once, of any type.
using RecordWord __attribute__((may_alias)) = uint64_t;
inline uint64_t LoadRecordWord(const uint8_t* p) {
  return __atomic_load_n(reinterpret_cast<const RecordWord*>(p), __ATOMIC_RELAXED);
}

// Copies 1 to 256 bytes, in words that may overlap but never leave either range.
inline void CopyBytes(uint8_t* to, const uint8_t* from, size_t n) {
  if (n >= 16) {
    size_t at = 0;
    for (; at + 16 < n; at += 16) std::memcpy(to + at, from + at, 16);
    std::memcpy(to + n - 16, from + n - 16, 16);
  } else if (n >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + n - 8, from + n - 8, 8);
  } else if (n >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + n - 4, from + n - 4, 4);
  } else {
    for (size_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

// The object at an offset of the segment.
template <typename T>
T* AtOffset(void* segment, uint64_t offset) {
  return reinterpret_cast<T*>(static_cast<uint8_t*>(segment) + offset);
}

}  // namespace suede

#endif  // SUEDE_CLIENT_SEGMENT_H_
