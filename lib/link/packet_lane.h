// SPDX-License-Identifier: Apache-2.0
// The management packets of one port, between the control thread and the lcore that serves the port
// (docs/management-packets.md): a ring of frames for each direction, its rate, and its counters.
#ifndef SUEDE_LINK_PACKET_LANE_H_
#define SUEDE_LINK_PACKET_LANE_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "base/frame_ring.h"
#include "base/token_bucket.h"
#include "port/frame.h"
#include "stats/counters.h"
#include "wire/encap.h"

namespace suede {

inline constexpr uint32_t kPacketsPerSecond = 10'000;  // each direction (SUE framework §3.1)
inline constexpr uint32_t kLanePackets = 256;          // max waiting, each direction

// Both threads read the clock of the endpoint.
class PacketLane {
 public:
  // `rules` are the port's, `frame_bytes` its longest frame. Allocates all memory.
  PacketLane(const FrameRules& rules, uint32_t frame_bytes, uint32_t burst);

  uint32_t frame_bytes() const { return down_.frame_bytes(); }

  // ---- The control thread.

  // Queues a frame, or drops and counts it. Returns whether it was queued.
  bool Send(std::span<const uint8_t> frame, Time now);
  // Sets whether received frames that are not SUE frames are passed up.
  void SetReceiving(bool receiving) { receiving_.store(receiving, std::memory_order_relaxed); }
  // The oldest frame passed up, valid until PopReceived; empty: none.
  std::span<const uint8_t> Received() {
    return up_.empty() ? std::span<const uint8_t>() : up_.Front();
  }
  void PopReceived() { up_.Pop(); }
  // The control thread's counters of this port.
  CounterBlock& control_counters() { return control_counters_; }
  const CounterBlock& control_counters() const { return control_counters_; }

  // ---- The lcore.

  bool receiving() const { return receiving_.load(std::memory_order_relaxed); }
  // Takes a copy of a received frame, or drops and counts it.
  void OfferUp(const Frame& frame, Time now, CounterBlock& counters);
  bool HasPacket() const { return !down_.empty(); }
  // Copies the oldest frame to send into an empty frame of the port. HasPacket must be true.
  void TakePacket(Frame& frame);

 private:
  // Why a frame must not be sent; kCount: it may be sent.
  Counter Refusal(std::span<const uint8_t> frame) const;

  const FrameRules rules_;
  TokenBucket down_bucket_;  // the control thread's
  FrameRing down_;
  CounterBlock control_counters_;
  std::atomic<bool> receiving_{false};
  alignas(64) TokenBucket up_bucket_;  // the lcore's
  FrameRing up_;
};

}  // namespace suede

#endif  // SUEDE_LINK_PACKET_LANE_H_
