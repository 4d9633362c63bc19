// SPDX-License-Identifier: Apache-2.0
// LLDP frames that a port of a switch receives, for the control thread (docs/lldp.md): bounded
// copies, at a bounded rate.
#ifndef SUEDE_FABRIC_LLDP_TAP_H_
#define SUEDE_FABRIC_LLDP_TAP_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "base/big_endian.h"
#include "base/frame_ring.h"
#include "base/time.h"
#include "base/token_bucket.h"

namespace suede::fabric {

inline constexpr uint16_t kTypeLldp = 0x88cc;

class LldpTap {
 public:
  static constexpr uint32_t kWaiting = 16;          // frames
  static constexpr uint32_t kFramesPerSecond = 20;  // and as many at once
  static constexpr uint32_t kFrameBytes = 1536;     // longer frames are not taken

  // ---- The lcore of the port.

  // Whether the frame is LLDP's to the nearest bridge. `frame`: to a link-local group.
  static bool IsLldp(std::span<const uint8_t> frame) {
    return frame[5] == 0x0e && LoadBe16(&frame[12]) == kTypeLldp;
  }
  // Copies a frame. Counts it instead if it comes too soon, is too long or finds no room.
  void Offer(std::span<const uint8_t> frame, Time now) {
    if (bucket_.Take(now) && frame.size() <= kFrameBytes && ring_.Push(frame)) return;
    dropped_.store(dropped() + 1, std::memory_order_relaxed);
  }

  // ---- The control thread.

  // Returns the oldest frame, which stays valid until Pop; empty: none.
  std::span<const uint8_t> Front() {
    return ring_.empty() ? std::span<const uint8_t>() : ring_.Front();
  }
  void Pop() { ring_.Pop(); }

  // Returns the number of frames that were not copied. Any thread.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  TokenBucket bucket_{kFramesPerSecond, kFramesPerSecond};
  FrameRing ring_{kWaiting, kFrameBytes};
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_LLDP_TAP_H_
