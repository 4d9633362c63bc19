// SPDX-License-Identifier: Apache-2.0
// Copies of a port's frames, on their way from its lcores to the control thread. Private to
// drivers/dpdk.
#ifndef SUEDE_DPDK_CAPTURE_RING_H_
#define SUEDE_DPDK_CAPTURE_RING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "port/frame_tap.h"

struct rte_mempool;
struct rte_ring;
struct rte_mbuf;

namespace suede::internal {

// A frame that was copied, as it lies in front of its bytes.
struct CapturedFrame {
  uint64_t time_ns = 0;     // since 1970
  uint32_t length = 0;      // of the frame
  uint32_t kept_bytes = 0;  // of these
  FrameDirection direction = FrameDirection::kIn;
  std::string_view drop;  // name of the counter of a dropped frame; empty: not dropped
};

class CaptureRing final : public FrameTap {
 public:
  // `frames`: max frames that wait. `one_lcore`: only one lcore adds. Null: no memory.
  static std::unique_ptr<CaptureRing> Create(uint32_t frames, uint32_t snap_bytes, bool one_lcore);
  ~CaptureRing() override;
  CaptureRing(const CaptureRing&) = delete;
  CaptureRing& operator=(const CaptureRing&) = delete;

  // For lcores.
  void Add(Frame* const* frames, uint32_t count, FrameDirection direction) override;
  void AddDropped(const Frame& frame, FrameDirection direction, std::string_view counter) override;

  // Control thread. Calls `take(captured, bytes)` for up to `max` frames, and up to one batch.
  // Returns their number.
  template <typename Take>
  uint32_t Drain(uint32_t max, Take&& take) {
    rte_mbuf* copies[kBatch];
    const uint32_t count = Pop(copies, max);
    for (uint32_t i = 0; i < count; ++i) {
      const CapturedFrame* const captured = Describe(copies[i]);
      take(*captured,
           std::span(reinterpret_cast<const uint8_t*>(captured + 1), captured->kept_bytes));
    }
    Free(copies, count);
    return count;
  }
  static constexpr uint32_t kBatch = 64;
  // Frames that wait, and the max number of these.
  uint32_t waiting() const;
  uint32_t capacity() const { return capacity_; }
  // Frames that were not copied: ring or pool exhausted. Any thread.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  CaptureRing(rte_ring* ring, rte_mempool* pool, uint32_t snap_bytes, uint32_t capacity)
      : ring_(ring), pool_(pool), snap_bytes_(snap_bytes), capacity_(capacity) {}
  uint32_t Pop(rte_mbuf** copies, uint32_t max);
  static const CapturedFrame* Describe(const rte_mbuf* copy);
  static void Free(rte_mbuf** copies, uint32_t count);
  bool Copy(const Frame& frame, FrameDirection direction, std::string_view drop, uint64_t now_ns);

  rte_ring* const ring_;
  rte_mempool* const pool_;
  const uint32_t snap_bytes_;
  const uint32_t capacity_;
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace suede::internal

#endif  // SUEDE_DPDK_CAPTURE_RING_H_
