// SPDX-License-Identifier: Apache-2.0
// Chooses one of several queues, each of another instance, for the next command (SUE framework
// §4.3). Part of the client's side, and header only like the rest.
//
// Owned by the thread that sends on the queues.
#ifndef SUEDE_CLIENT_BALANCER_H_
#define SUEDE_CLIENT_BALANCER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "client/client_load.h"
#include "client/client_queue.h"

namespace suede {

enum class BalancePolicy : uint8_t {
  kRoundRobin,
  kLeastLoaded,
  kDestinationHash,  // all commands to an XPU take the same queue
};

// A queue to choose from. Both optionals are empty while the client is unconnected.
struct BalancedQueue {
  const std::optional<ClientQueue>* ring = nullptr;
  const std::optional<LoadReader>* load = nullptr;
};

class Balancer {
 public:
  static constexpr uint32_t kMaxQueues = 64;

  Balancer(BalancePolicy policy, std::vector<BalancedQueue> queues)
      : policy_(policy), queues_(std::move(queues)), seen_(queues_.size()) {}

  // Returns the number of the queue for a command to `xpuid`. `tried`: a mask of queues to skip; at
  // least one queue must not be in it.
  uint32_t Choose(uint16_t xpuid, uint64_t tried = 0) {
    switch (policy_) {
      case BalancePolicy::kRoundRobin: return TakeTurn(tried);
      case BalancePolicy::kLeastLoaded:
        return LeastLoaded(xpuid, tried);
      case BalancePolicy::kDestinationHash: break;
    }
    return QueueOf(xpuid);
  }
  // Whether a command that the chosen queue does not take may go to another queue.
  bool MayTryOthers() const { return policy_ != BalancePolicy::kDestinationHash; }

 private:
  // Choices after each reading of the queues. Reading costs one or two cache misses for each queue,
  // and the values are some microseconds old anyway.
  static constexpr uint32_t kChoicesPerReading = 16;
  static constexpr uint32_t kFar = 1u << 31;
  // The rank of a queue: a queue of a later rank is chosen only if no other queue can be.
  enum class Rank : uint8_t { kGood, kPaused, kUnreachable, kStopped };

  struct Seen {
    uint32_t load = 0;      // of the instance, in lines
    uint32_t returned = 0;  // lines of ours that the daemon has returned
    bool down = false;
  };

  uint32_t count() const { return static_cast<uint32_t>(queues_.size()); }

  // Spreads XPU ids evenly, whatever the steps between them.
  uint32_t QueueOf(uint16_t xpuid) const {
    const uint32_t mixed = (xpuid * 0x9e3779b1u) >> 16;
    return (mixed * count()) >> 16;
  }

  uint32_t TakeTurn(uint64_t tried) {
    while ((tried >> next_ & 1) != 0) Advance();
    const uint32_t chosen = next_;
    Advance();
    return chosen;
  }
  void Advance() { next_ = next_ + 1 == count() ? 0 : next_ + 1; }

  uint32_t LeastLoaded(uint16_t xpuid, uint64_t tried) {
    if (choices_++ % kChoicesPerReading == 0) ReadLoads();
    uint64_t best = ~uint64_t{0};
    uint32_t chosen = 0;
    // Equal queues take turns: the check begins behind the last choice.
    for (uint32_t i = 0; i < count(); ++i, Advance()) {
      if ((tried >> next_ & 1) != 0) continue;
      const uint64_t measure = Measure(next_, xpuid);
      if (measure >= best) continue;
      best = measure;
      chosen = next_;
    }
    next_ = chosen;
    Advance();
    return chosen;
  }

  void ReadLoads() {
    for (uint32_t i = 0; i < count(); ++i) {
      const BalancedQueue& queue = queues_[i];
      Seen& seen = seen_[i];
      if (queue.ring->has_value()) seen.returned = (*queue.ring)->ReadReturned();
      LoadState state;
      if (!HasArea(queue) || !(*queue.load)->Read(&state)) continue;
      seen.load = state.load;
      seen.down = (state.flags & SUEDE_LOAD_DOWN) != 0;
    }
  }

  // Returns the rank, then the load before a new command: the instance's load, and the part of ours
  // that it may not include yet. If it includes our part, that counts twice, which is harmless.
  uint64_t Measure(uint32_t index, uint16_t xpuid) const {
    const Seen& seen = seen_[index];
    const BalancedQueue& queue = queues_[index];
    const uint32_t ahead = queue.ring->has_value() ? (*queue.ring)->sent() - seen.returned : 0;
    const uint32_t own = ahead < kFar ? ahead : 0;  // far: the queue was reset since the last
                                                    // reading
    return uint64_t{static_cast<uint8_t>(RankOf(index, xpuid))} << 40 | (uint64_t{seen.load} + own);
  }

  Rank RankOf(uint32_t index, uint16_t xpuid) const {
    const BalancedQueue& queue = queues_[index];
    if (!queue.ring->has_value() || (*queue.ring)->state() != SUEDE_QUEUE_READY) {
      return Rank::kStopped;
    }
    if (!HasArea(queue) || xpuid >= SUEDE_XPUS) return Rank::kGood;
    if (seen_[index].down || (*queue.load)->IsUnreachable(xpuid)) return Rank::kUnreachable;
    return (*queue.load)->IsPaused(xpuid) ? Rank::kPaused : Rank::kGood;
  }

  static bool HasArea(const BalancedQueue& queue) {
    return queue.load->has_value() && (*queue.load)->has_area();
  }

  const BalancePolicy policy_;
  const std::vector<BalancedQueue> queues_;
  std::vector<Seen> seen_;
  uint32_t next_ = 0;  // the queue whose turn it is
  uint32_t choices_ = 0;
};

}  // namespace suede

#endif  // SUEDE_CLIENT_BALANCER_H_
