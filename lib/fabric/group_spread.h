// SPDX-License-Identifier: Apache-2.0
// The choice of the port of a group by which a frame leaves (docs/switch.md, "Groups"): by a table
// of buckets for flows, or by weighted turns. Allocates once. Owned by one lcore.
#ifndef SUEDE_FABRIC_GROUP_SPREAD_H_
#define SUEDE_FABRIC_GROUP_SPREAD_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/params.h"

namespace suede::fabric {

class GroupSpread {
 public:
  static constexpr uint32_t kBuckets = 256;
  static constexpr uint32_t kNone = UINT32_MAX;

  // `group`: valid, and outlives this object. Its members, which are numbered in its order, are up.
  explicit GroupSpread(const PortGroup& group);

  // A member is up if its port is. No frame leaves by a member that is down, or has the weight 0.
  void SetDown(uint16_t port, bool down);
  // `weight`: 0 to kMaxGroupWeight.
  void SetWeight(uint32_t member, uint8_t weight);

  // Returns the member of a flow; kNone: no member may send. Buckets move only to and from members
  // that went down or up, or have another weight.
  uint32_t OfFlow(uint32_t hash) {
    if (changed_ != 0) [[unlikely]]
      Update();
    const uint32_t member = owners_[hash >> 24];
    return WeightOf(member) != 0 ? member : kNone;
  }
  // Returns the member of the least load by weight, and of equal ones the next in turn; kNone: no
  // member may send. `load_of(port)` returns up to 2^32 - 1.
  template <class LoadOf>
  uint32_t Next(LoadOf load_of) {
    uint32_t best = kNone;
    std::pair<uint64_t, uint64_t> least;
    for (uint32_t member = 0; member < group_.ports.size(); ++member) {
      if (WeightOf(member) == 0) continue;
      const std::pair<uint64_t, uint64_t> load{load_of(group_.ports[member]) * StrideOf(member),
                                               turns_[member]};
      if (best != kNone && load >= least) continue;
      best = member;
      least = load;
    }
    if (best == kNone) return kNone;
    // A member that had no turn for long does not catch up.
    turn_ = std::max(turn_, turns_[best]);
    turns_[best] = turn_ + StrideOf(best);
    return best;
  }

  // The port of a member; its frame is counted.
  uint16_t Take(uint32_t member) {
    std::atomic<uint64_t>& count = frames_[member];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return group_.ports[member];
  }
  // Frames of a member. Any thread may read.
  const std::atomic<uint64_t>& frames(uint32_t member) const { return frames_[member]; }
  uint8_t weight(uint32_t member) const { return weights_[member]; }

 private:
  using Owners = std::array<uint8_t, kBuckets>;  // member, by bucket
  using Weights = std::array<uint8_t, kMaxGroupPorts>;

  uint64_t StrideOf(uint32_t member) const { return (uint64_t{1} << 20) / weights_[member]; }
  // The weight, 0 of a member that is down.
  uint32_t WeightOf(uint32_t member) const {
    return (down_ >> member & 1) != 0 ? 0 : weights_[member];
  }
  static uint32_t ShareOf(const Weights& weights, uint32_t member);
  uint32_t BucketOf(const Owners& owners, uint32_t member) const;
  void Fill(Owners& owners, const Weights& weights, uint32_t member, uint32_t min,
            uint32_t max) const;
  void Restore(const Weights& weights, uint32_t member);
  void Update();

  const PortGroup& group_;
  Weights weights_{};
  uint64_t down_ = 0;     // a bit for each member
  uint64_t changed_ = 0;  // members whose buckets are not up to date
  Owners homes_{};        // with all members up
  Owners owners_{};
  uint64_t turn_ = 0;  // of the last member; in strides, as the next turns of members
  std::array<uint64_t, kMaxGroupPorts> turns_{};
  std::vector<std::atomic<uint64_t>> frames_;
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_GROUP_SPREAD_H_
