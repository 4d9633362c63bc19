// SPDX-License-Identifier: Apache-2.0
#include "client/segment.h"

namespace suede {
namespace {

constexpr uint32_t kMinRing = 64;
constexpr uint32_t kMaxRing = 1u << 20;

bool IsRingSize(uint32_t n) { return n >= kMinRing && n <= kMaxRing && (n & (n - 1)) == 0; }

uint64_t RoundUp(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

bool SegmentShape::IsValid() const {
  return queue_count >= 1 && queue_count <= SUEDE_MAX_QUEUES && IsRingSize(tx_lines) &&
         IsRingSize(rx_lines) && IsRingSize(completion_count) &&
         credit_lines >= SUEDE_MAX_RECORD_LINES && credit_lines <= kMaxRing &&
         aggregate_lines >= SUEDE_MAX_RECORD_LINES && aggregate_lines <= kMaxRing;
}

SegmentOffsets::SegmentOffsets(const SegmentShape& shape) {
  uint64_t at = RoundUp(sizeof(suede_segment), 4096);
  // Two neighbouring lines are one unit for the prefetcher: parts start on even lines.
  const auto place = [&at](uint64_t size) {
    const uint64_t offset = at;
    at = RoundUp(at + size, 2 * SUEDE_LINE_BYTES);
    return offset;
  };
  for (uint32_t q = 0; q < shape.queue_count; ++q) {
    tx_ring[q] = place(sizeof(suede_ring) + uint64_t{shape.tx_lines} * SUEDE_LINE_BYTES);
    completion_ring[q] =
        place(sizeof(suede_ring) + uint64_t{shape.completion_count} * sizeof(suede_completion));
    credits[q] = place(sizeof(suede_credits));
  }
  for (uint64_t& ring : rx_ring) {
    ring = place(sizeof(suede_ring) + uint64_t{shape.rx_lines} * SUEDE_LINE_BYTES);
  }
  load = place(uint64_t{shape.queue_count} * sizeof(suede_load_area));
  bytes = RoundUp(at, 4096);
}

void FormatSegment(void* base, const SegmentShape& shape) {
  const SegmentOffsets offsets(shape);
  auto* segment = static_cast<suede_segment*>(base);
  segment->magic = SUEDE_LAYOUT_MAGIC;
  segment->version = SUEDE_LAYOUT_VERSION;
  segment->size = offsets.bytes;
  segment->queue_count = shape.queue_count;
  segment->tx_lines = shape.tx_lines;
  segment->rx_lines = shape.rx_lines;
  segment->completion_count = shape.completion_count;
  segment->credit_lines = shape.credit_lines;
  segment->aggregate_lines = shape.aggregate_lines;
  segment->load = offsets.load;
  for (uint32_t q = 0; q < shape.queue_count; ++q) {
    segment->tx_ring[q] = offsets.tx_ring[q];
    segment->completion_ring[q] = offsets.completion_ring[q];
    segment->credits[q] = offsets.credits[q];
    SetQueueState(base, q, SUEDE_QUEUE_READY);
  }
  for (uint32_t vc = 0; vc < SUEDE_VCS; ++vc) {
    segment->rx_ring[vc] = offsets.rx_ring[vc];
    SetReceiveState(base, vc, SUEDE_QUEUE_READY);
  }
}

void SetQueueState(void* segment, uint32_t queue, uint32_t state) {
  StoreRelease(static_cast<suede_segment*>(segment)->queue_state[queue].value, state);
}

void SetReceiveState(void* segment, uint32_t vc, uint32_t state) {
  StoreRelease(static_cast<suede_segment*>(segment)->rx_state[vc].value, state);
}

}  // namespace suede
