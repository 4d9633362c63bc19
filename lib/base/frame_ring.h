// SPDX-License-Identifier: Apache-2.0
// A bounded lock-free queue of whole frames between two threads: one producer, one consumer. Frames
// are copied in and out; the memory is allocated once.
#ifndef SUEDE_BASE_FRAME_RING_H_
#define SUEDE_BASE_FRAME_RING_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace suede {

class FrameRing {
 public:
  // `slots`: a power of two. `frame_bytes`: maximum bytes of a frame.
  FrameRing(uint32_t slots, uint32_t frame_bytes)
      : mask_(slots - 1),
        frame_bytes_(frame_bytes),
        lengths_(slots),
        bytes_(size_t{slots} * frame_bytes) {}

  uint32_t frame_bytes() const { return frame_bytes_; }

  // ---- Producer.

  // Returns false if the ring is full. The frame must have at most frame_bytes() bytes.
  bool Push(std::span<const uint8_t> frame) {
    const uint32_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) > mask_) return false;
    std::memcpy(At(head), frame.data(), frame.size());
    lengths_[head & mask_] = static_cast<uint32_t>(frame.size());
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  // ---- Consumer.

  bool empty() const {
    return tail_.load(std::memory_order_relaxed) == head_.load(std::memory_order_acquire);
  }
  // Returns the oldest frame, which stays valid until Pop. The ring must not be empty.
  std::span<const uint8_t> Front() {
    const uint32_t tail = tail_.load(std::memory_order_relaxed);
    return {At(tail), lengths_[tail & mask_]};
  }
  void Pop() { tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  uint8_t* At(uint32_t position) { return bytes_.data() + size_t{position & mask_} * frame_bytes_; }

  const uint32_t mask_;
  const uint32_t frame_bytes_;
  std::vector<uint32_t> lengths_;
  std::vector<uint8_t> bytes_;
  alignas(64) std::atomic<uint32_t> head_{0};
  alignas(64) std::atomic<uint32_t> tail_{0};
};

}  // namespace suede

#endif  // SUEDE_BASE_FRAME_RING_H_
