// SPDX-License-Identifier: Apache-2.0
// Several lcores on a device that has one queue pair for all of them, as a memif has: the first one
// owns it, and sends the frames that the others leave with it. The data path hands over frames that
// it receives for them (lib/link/handover.h). Nothing here includes a DPDK header.
#ifndef SUEDE_DPDK_RELAYED_PAIR_H_
#define SUEDE_DPDK_RELAYED_PAIR_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/burst_ring.h"
#include "dpdk/queue_pair.h"

namespace suede {

// Frames from one lcore to the first. A frame on its way is one that the device has: it is busy.
struct Relay {
  static constexpr uint32_t kFrames = 512;
  static constexpr uint32_t kTaken = 64;
  BurstRing<rte_mbuf*, kFrames> ring;
  // Frames that the first lcore has taken out of the ring and the device has not taken yet: in
  // [next, count).
  std::array<rte_mbuf*, kTaken> taken{};
  uint32_t next = 0;
  uint32_t count = 0;
};

// The pair of the first lcore.
class RelayingPair final : public QueuePair {
 public:
  using QueuePair::QueuePair;
  // Before its first burst. The relay outlives it.
  void AddRelay(Relay* relay) { relays_.push_back(relay); }

  // Sends the frames that the other lcores have left with it.
  void Flush() override;

 private:
  void Send(Relay& relay);
  std::vector<Relay*> relays_;
};

// The pair of another lcore.
class RelayedPair final : public QueuePair {
 public:
  using QueuePair::QueuePair;
  Relay* relay() { return &relay_; }

  uint32_t Receive(Frame** /*frames*/, uint32_t /*max*/) override { return 0; }
  uint32_t Transmit(Frame* const* frames, uint32_t count) override;
  // The device is the first lcore's.
  bool Reclaim() override { return false; }

 private:
  Relay relay_;
};

}  // namespace suede

#endif  // SUEDE_DPDK_RELAYED_PAIR_H_
