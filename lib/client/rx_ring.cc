// SPDX-License-Identifier: Apache-2.0
#include "client/rx_ring.h"

namespace suede {

RxRingWriter::RxRingWriter(void* segment, const SegmentShape& shape, uint32_t vc)
    : line_count_(shape.rx_lines) {
  const uint64_t offset = SegmentOffsets(shape).rx_ring[vc];
  ring_ = AtOffset<suede_ring>(segment, offset);
  lines_ = AtOffset<uint8_t>(segment, offset + sizeof(suede_ring));
}

uint32_t RxRingWriter::FreeLines() {
  const uint32_t tail = LoadAcquire(ring_->tail.value);
  // The tail moves forward, and never past the published head: other values give no credit.
  if (tail - tail_ <= published_ - tail_) tail_ = tail;
  return line_count_ - (head_ - tail_);
}

bool RxRingWriter::SkipToStart(uint32_t lines) {
  const uint32_t index = head_ & (line_count_ - 1);
  const uint32_t to_end = line_count_ - index;
  if (!HasRoom(to_end + lines)) return false;
  lines_[size_t{index} * SUEDE_LINE_BYTES + offsetof(suede_record, kind)] = SUEDE_KIND_NONE;
  head_ += to_end;
  return true;
}

}  // namespace suede
