// SPDX-License-Identifier: Apache-2.0
// Shares the queue pair of a memif among several lcores: the first lcore owns it, and sends the
// frames that the others queue for it. Received frames for the others are handed over by the data
// path (lib/link/handover.h). Nothing here includes a DPDK header.
#ifndef SUEDE_DPDK_RELAYED_PAIR_H_
#define SUEDE_DPDK_RELAYED_PAIR_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/burst_ring.h"
#include "dpdk/queue_pair.h"

namespace suede {

// Carries frames from one lcore to the first. The relay has a reference to each frame in it: the
// frame is busy.
struct Relay {
  static constexpr uint32_t kFrames = 512;
  static constexpr uint32_t kTaken = 64;
  BurstRing<Frame*, kFrames> ring;
  // Frames that the first lcore has dequeued and the memif has not taken yet: [next, count).
  std::array<Frame*, kTaken> taken{};
  uint32_t next = 0;
  uint32_t count = 0;
};

// The queue pair of the first lcore.
class RelayingPair final : public QueuePair {
 public:
  using QueuePair::QueuePair;
  // To be called before the first burst. The relay must outlive the pair.
  void AddRelay(Relay* relay) { relays_.push_back(relay); }

  // Sends the frames that the other lcores have queued.
  void Flush() override;

 private:
  void Send(Relay& relay);
  std::vector<Relay*> relays_;
};

// The queue pair of another lcore.
class RelayedPair final : public QueuePair {
 public:
  using QueuePair::QueuePair;
  Relay* relay() { return &relay_; }

  uint32_t Receive(Frame** /*frames*/, uint32_t /*max*/) override { return 0; }
  uint32_t Transmit(Frame* const* frames, uint32_t count) override;
  // Returns false: the device belongs to the first lcore.
  bool Reclaim() override { return false; }

 private:
  Relay relay_;
};

}  // namespace suede

#endif  // SUEDE_DPDK_RELAYED_PAIR_H_
