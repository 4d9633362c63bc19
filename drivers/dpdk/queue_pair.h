// SPDX-License-Identifier: Apache-2.0
// A queue pair of a DPDK device or of a memif, for the lcore that owns it.
//
// A Frame is the private area of an mbuf, so that conversion between them is arithmetic. A frame's
// references are the mbuf's refcnt: the caller's, and one for each transmission that the device has
// not finished. A device that copies gets frames on loan instead, for the duration of the burst
// (lending.h); a memif copies without any (memif/queue.h). Nothing here includes a DPDK header.
#ifndef SUEDE_DPDK_QUEUE_PAIR_H_
#define SUEDE_DPDK_QUEUE_PAIR_H_

#include <cstdint>

#include "base/tally.h"
#include "port/burst_gate.h"
#include "port/frame_tap.h"
#include "port/port.h"

struct rte_mempool;
struct rte_mempool_cache;
struct rte_mbuf;

namespace suede {

class DpdkPort;
namespace memif {
class Queue;
}

// Constant once the device is open. All pairs of a device have the same values, except `queue`.
struct QueuePairParams {
  const DpdkPort* device = nullptr;
  uint16_t id = 0;         // the device's port id in DPDK
  uint16_t queue = 0;      // in both directions
  uint32_t offered = 1;    // a bit for each TxOffload
  uint32_t frame_bytes = 0;
  rte_mempool* pool = nullptr;
  memif::Queue* memif = nullptr;  // used in place of the device's queue
  // LendingPool() if the driver copies each frame in its transmit burst. Null: the driver may keep
  // frames.
  rte_mempool* lending = nullptr;
};

class QueuePair : public Port {
 public:
  explicit QueuePair(const QueuePairParams& params)
      : id_(params.id),
        queue_(params.queue),
        offered_(params.offered),
        frame_bytes_(params.frame_bytes),
        pool_(params.pool),
        memif_(params.memif),
        lending_(params.lending),
        device_(params.device) {}
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  // For the lcore that owns the pair.
  uint32_t Receive(Frame** frames, uint32_t max) override;
  uint32_t Transmit(Frame* const* frames, uint32_t count) override;
  uint32_t Give(Frame* const* frames, uint32_t count) override;
  bool IsBusy(const Frame* frame) const override;
  bool Reclaim() override;
  uint32_t Allocate(Frame** frames, uint32_t count) override;
  void Release(Frame* const* frames, uint32_t count) override;
  void Hold(Frame* const* frames, uint32_t count) override;
  uint32_t max_frame_bytes() const override { return frame_bytes_; }
  bool Offers(TxOffload offload) const override {
    return (offered_ & 1u << static_cast<uint32_t>(offload)) != 0;
  }
  // Any thread.
  LinkState link() const override;

  // Gate by which other threads keep the lcore out of the device.
  BurstGate& gate() { return gate_; }
  // See TappedPort. To be called while the gate is closed.
  void SetTap(FrameTap* tap) { tap_ = tap; }
  // Drops and copies of the queue pair; any thread.
  uint64_t oversize() const { return oversize_.Get(); }
  uint64_t copied() const { return copied_.Get(); }
  uint64_t no_copy() const { return no_copy_.Get(); }
  // Frames that the device kept although its driver copies; any thread.
  uint64_t kept() const { return kept_.Get(); }

 protected:
  // Sends frames that another lcore has queued, and releases those that were taken. Returns their
  // number.
  uint32_t SendQueued(Frame* const* frames, uint32_t count);

 private:
  uint32_t ReceiveFromDevice(Frame** frames, uint32_t max);
  uint32_t TransmitToDevice(Frame* const* frames, uint32_t count);
  uint32_t TransmitLent(Frame* const* frames, uint32_t count, rte_mempool_cache* returned);
  uint32_t GiveToDevice(Frame* const* frames, uint32_t count);
  Frame* Accept(rte_mbuf* mbuf);
  Frame* CopyForeign(rte_mbuf* mbuf);

  const uint16_t id_;
  const uint16_t queue_;
  const uint32_t offered_;
  const uint32_t frame_bytes_;
  rte_mempool* const pool_;
  memif::Queue* const memif_;
  rte_mempool* lending_;  // null after the device kept a frame
  const DpdkPort* const device_;
  FrameTap* tap_ = nullptr;
  BurstGate gate_;
  Tally oversize_, copied_, no_copy_, kept_;
};

}  // namespace suede

#endif  // SUEDE_DPDK_QUEUE_PAIR_H_
