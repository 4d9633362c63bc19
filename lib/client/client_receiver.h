// SPDX-License-Identifier: Apache-2.0
// The client's half of a receive ring. Header only, as client_queue.h is.
//
// One thread per ClientReceiver.
#ifndef SUEDE_CLIENT_CLIENT_RECEIVER_H_
#define SUEDE_CLIENT_CLIENT_RECEIVER_H_

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

class ClientReceiver {
 public:
  ClientReceiver(void* segment, uint32_t vc)
      : ring_(AtOffset<suede_ring>(segment, static_cast<suede_segment*>(segment)->rx_ring[vc])),
        lines_(reinterpret_cast<uint8_t*>(ring_ + 1)),
        line_count_(static_cast<suede_segment*>(segment)->rx_lines),
        vc_(static_cast<uint8_t>(vc)) {}

  // Gives up to `max` commands; they stay valid until Release.
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

  // Returns the credit of everything polled so far.
  void Release() {
    if (taken_ != released_) StoreRelease(ring_->tail.value, released_ = taken_);
  }

  bool HasWork() const { return LoadAcquire(ring_->head.value) != taken_; }
  // Position of the next record that Poll will look at.
  uint32_t position() const { return taken_; }

 private:
  static constexpr uint32_t kPrefetchLines = 6;

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
