// SPDX-License-Identifier: Apache-2.0
// The client's half of a receive ring. Header only, like client_queue.h.
//
// One thread per ClientReceiver.
#ifndef SUEDE_CLIENT_CLIENT_RECEIVER_H_
#define SUEDE_CLIENT_CLIENT_RECEIVER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "client/segment.h"

namespace suede {

struct ReceivedCommand {
  const uint8_t* control = nullptr;
  const uint8_t* data = nullptr;  // nullptr for a command without data
  uint16_t control_bytes = 0;
  uint16_t data_bytes = 0;
  uint16_t source_xpuid = 0;
  uint16_t own_xpuid = 0;
  uint8_t instance = 0;
  uint8_t vc = 0;
};

// Successive records of one shape from one source: the fields describe the first; the others differ
// only in the content of control and data.
struct ReceivedSpan {
  const uint8_t* control = nullptr;
  const uint8_t* data = nullptr;  // nullptr for commands without data
  uint32_t stride = 0;            // bytes from one command's control, or data, to the next
  uint32_t count = 0;
  uint16_t control_bytes = 0;
  uint16_t data_bytes = 0;
  uint16_t source_xpuid = 0;
  uint16_t own_xpuid = 0;
  uint8_t instance = 0;
  uint8_t vc = 0;

  ReceivedCommand At(uint32_t i) const {
    const size_t offset = size_t{i} * stride;
    return {.control = control + offset,
            .data = data != nullptr ? data + offset : nullptr,
            .control_bytes = control_bytes,
            .data_bytes = data_bytes,
            .source_xpuid = source_xpuid,
            .own_xpuid = own_xpuid,
            .instance = instance,
            .vc = vc};
  }
};

class ClientReceiver {
 public:
  ClientReceiver(void* segment, uint32_t vc)
      : ring_(AtOffset<suede_ring>(segment, static_cast<suede_segment*>(segment)->rx_ring[vc])),
        lines_(reinterpret_cast<uint8_t*>(ring_ + 1)),
        line_count_(static_cast<suede_segment*>(segment)->rx_lines),
        vc_(static_cast<uint8_t>(vc)) {}

  // Returns up to `max` commands, which stay valid until Release.
  uint32_t Poll(ReceivedCommand* out, uint32_t max) {
    uint32_t available = head_ - taken_;
    if (available < max) {
      head_ = LoadAcquire(ring_->head.value);
      available = head_ - taken_;
    }
    uint32_t count = 0;
    while (count < max && available != 0) {
      const uint32_t index = taken_ & (line_count_ - 1);
      const uint8_t* line = lines_ + size_t{index} * SUEDE_LINE_BYTES;
      if (available > kPrefetchLines) {
        __builtin_prefetch(lines_ + size_t{(taken_ + kPrefetchLines) & (line_count_ - 1)} *
                                        SUEDE_LINE_BYTES);
      }
      uint32_t lines = line_count_ - index;
      if (line[0] != SUEDE_KIND_NONE) lines = Read(line, &out[count++]);
      taken_ += lines;
      available -= lines;
    }
    return count;
  }

  // Returns the next command and later commands of its shape, source, own XPU and instance, up to
  // `max` and to the ring's end, which stay valid until Release. Returns their number.
  uint32_t PollRun(ReceivedSpan* out, uint32_t max) {
    out->count = 0;
    uint32_t available = head_ - taken_;
    if (available < max) {
      head_ = LoadAcquire(ring_->head.value);
      available = head_ - taken_;
    }
    if (max == 0 || available == 0) return 0;
    uint32_t index = taken_ & (line_count_ - 1);
    const uint8_t* line = lines_ + size_t{index} * SUEDE_LINE_BYTES;
    if (line[0] == SUEDE_KIND_NONE) [[unlikely]] {  // the next record is on the ring's first line
      taken_ += line_count_ - index;
      available -= line_count_ - index;
      index = 0;
      line = lines_;
      if (available == 0) return 0;
    }
    ReceivedCommand first;
    const uint32_t lines = Read(line, &first);
    out->control = first.control;
    out->data = first.data;
    out->stride = lines * SUEDE_LINE_BYTES;
    out->control_bytes = first.control_bytes;
    out->data_bytes = first.data_bytes;
    out->source_xpuid = first.source_xpuid;
    out->own_xpuid = first.own_xpuid;
    out->instance = first.instance;
    out->vc = vc_;
    out->count = CountAlike(
        line, {.lines = lines, .room = std::min(available, line_count_ - index), .max = max});
    taken_ += out->count * lines;
    return out->count;
  }

  // Returns the credit of all commands polled so far.
  void Release() {
    if (taken_ != released_) StoreRelease(ring_->tail.value, released_ = taken_);
  }

  bool HasWork() const { return LoadAcquire(ring_->head.value) != taken_; }
  // Position of the next record to poll.
  uint32_t position() const { return taken_; }

 private:
  static constexpr uint32_t kPrefetchLines = 6;

  // Bounds of a run of records.
  struct RunBounds {
    uint32_t lines;  // of each record
    uint32_t room;   // lines up to the end of the ring, or of what is published
    uint32_t max;    // records
  };
  // Counts the records that are like the first, up to a record that differs: 1 to bounds.max.
  [[gnu::always_inline]] static uint32_t CountAlike(const uint8_t* line, RunBounds bounds) {
    const uint32_t stride = bounds.lines * SUEDE_LINE_BYTES;
    const uint64_t word0 = LoadRecordWord(line);
    const uint64_t word1 = LoadRecordWord(line + 8);
    // The bits of lengths in the second word, in the control's first two bytes.
    const uint64_t lengths = ((word1 >> 52 & 1) != 0 ? 0xff1full : 0x001full) << 48;
    // Lines not published yet stay in the daemon's cache.
    const uint8_t* const last = line + size_t{bounds.room - 1} * SUEDE_LINE_BYTES;
    uint32_t count = 1;
    for (uint32_t end = 2 * bounds.lines; end <= bounds.room && count < bounds.max;
         end += bounds.lines) {
      line += stride;
      __builtin_prefetch(std::min(line + kPrefetchLines * SUEDE_LINE_BYTES, last));
      if (((LoadRecordWord(line) ^ word0) | ((LoadRecordWord(line + 8) ^ word1) & lengths)) != 0) {
        break;
      }
      ++count;
    }
    return count;
  }

  uint32_t Read(const uint8_t* line, ReceivedCommand* out) const {
    const uint8_t* control = line + SUEDE_RECORD_CONTROL;
    const uint32_t control_bytes = (control[0] & 0x0fu) * 2;
    const uint32_t data_bytes = (control[0] & 0x10) != 0 ? control[1] + 1u : 0;
    out->control = control;
    out->data = data_bytes != 0 ? control + control_bytes : nullptr;
    out->control_bytes = static_cast<uint16_t>(control_bytes);
    out->data_bytes = static_cast<uint16_t>(data_bytes);
    std::memcpy(&out->source_xpuid, line + offsetof(suede_record, xpuid), 2);
    std::memcpy(&out->own_xpuid, line + offsetof(suede_record, tag), 2);
    out->instance = line[offsetof(suede_record, tag) + 2];
    out->vc = vc_;
    return (SUEDE_RECORD_CONTROL + control_bytes + data_bytes + SUEDE_LINE_BYTES - 1) /
           SUEDE_LINE_BYTES;
  }

  suede_ring* ring_;
  uint8_t* lines_;
  uint32_t line_count_;
  uint8_t vc_;
  uint32_t head_ = 0;
  uint32_t taken_ = 0;
  uint32_t released_ = 0;
};

}  // namespace suede

#endif  // SUEDE_CLIENT_CLIENT_RECEIVER_H_
