// SPDX-License-Identifier: Apache-2.0
// The daemon's writer of the receive side of the command interface (SUE framework §3.2.1 Table 2).
//
// One RxRingWriter per client and VC, owned by the lcore that serves the client's instances. The
// free lines of the ring are the VC's receive credit.
#ifndef SUEDE_CLIENT_RX_RING_H_
#define SUEDE_CLIENT_RX_RING_H_

#include <algorithm>
#include <cstdint>

#include "client/command_sink.h"
#include "client/segment.h"

namespace suede {

class RxRingWriter {
 public:
  RxRingWriter() = default;
  RxRingWriter(void* segment, const SegmentShape& shape, uint32_t vc);

  // Contiguous room for records of `lines` lines (1 to 5), up to the ring's end and as far as the
  // client has given credit; none if that is not enough for one record. No record is visible to the
  // client before Publish.
  RecordRoom Room(uint32_t lines) {
    uint32_t index = head_ & (line_count_ - 1);
    uint32_t to_end = line_count_ - index;
    if (lines > to_end) [[unlikely]] {
      if (!SkipToStart(lines)) return {};
      index = 0;
      to_end = line_count_;
    }
    if (!HasRoom(lines)) [[unlikely]]
      return {};
    return {lines_ + size_t{index} * SUEDE_LINE_BYTES,
            std::min(line_count_ - (head_ - tail_), to_end)};
  }
  // Reserves that many lines of the room that Room returned.
  void Take(uint32_t lines) { head_ += lines; }
  // Reserves one record; null: there is no room.
  uint8_t* Reserve(uint32_t lines) {
    uint8_t* record = Room(lines).first;
    if (record != nullptr) Take(lines);
    return record;
  }
  void Publish() {
    if (head_ != published_) StoreRelease(ring_->head.value, published_ = head_);
  }
  // Discards the reservations since the last Publish.
  void Rollback() { head_ = published_; }
  // RollbackTo discards reservations since Mark().
  uint32_t Mark() const { return head_; }
  void RollbackTo(uint32_t mark) { head_ = mark; }

  // Whether the client has read the lines up to a Mark() that was published.
  bool HasRead(uint32_t mark) {
    FreeLines();
    return static_cast<int32_t>(tail_ - mark) >= 0;
  }

  // Whether the client has given credit for that many lines.
  bool HasRoom(uint32_t lines) {
    return line_count_ - (head_ - tail_) >= lines || FreeLines() >= lines;
  }
  // The lines for which the client has given credit, as last published by it.
  uint32_t FreeLines();
  uint32_t line_count() const { return line_count_; }

 private:
  // Skips the lines up to the ring's end, if there is room for a record of `lines` behind them.
  bool SkipToStart(uint32_t lines);

  suede_ring* ring_ = nullptr;
  uint8_t* lines_ = nullptr;
  uint32_t line_count_ = 0;
  uint32_t head_ = 0;
  uint32_t published_ = 0;
  uint32_t tail_ = 0;  // the last value read that was possible
};

static_assert(CommandSink<RxRingWriter>);

}  // namespace suede

#endif  // SUEDE_CLIENT_RX_RING_H_
