// SPDX-License-Identifier: Apache-2.0
#include "fabric/group_spread.h"

#include <algorithm>
#include <bit>

namespace suede::fabric {
namespace {

// Whether a / weight_a < b / weight_b; with weight 0 a quotient is infinite.
bool IsLess(uint32_t a, uint32_t weight_a, uint32_t b, uint32_t weight_b) {
  return uint64_t{a} * weight_b < uint64_t{b} * weight_a;
}

}  // namespace

GroupSpread::GroupSpread(const PortGroup& group) : group_(group), frames_(group.ports.size()) {
  for (uint32_t member = 0; member < group.ports.size(); ++member) {
    weights_[member] = group.WeightOf(member);
    const uint32_t share = ShareOf(weights_, member);
    Fill(homes_, weights_, member, share, share);
  }
  owners_ = homes_;
}

void GroupSpread::SetDown(uint16_t port, bool down) {
  const auto at = std::ranges::find(group_.ports, port);
  if (at == group_.ports.end()) return;
  const uint64_t bit = uint64_t{1} << (at - group_.ports.begin());
  down_ = down ? down_ | bit : down_ & ~bit;
  changed_ |= bit;
}

void GroupSpread::SetWeight(uint32_t member, uint8_t weight) {
  weights_[member] = weight;
  changed_ |= uint64_t{1} << member;
  const uint32_t share = ShareOf(weights_, member);
  Fill(homes_, weights_, member, share, share);
}

// Returns the number of buckets by weight; at least one, except with weight 0.
uint32_t GroupSpread::ShareOf(const Weights& weights, uint32_t member) {
  uint32_t sum = 0;
  for (const uint8_t weight : weights) sum += weight;
  if (sum == 0 || weights[member] == 0) return 0;
  return std::max(1u, (kBuckets * weights[member] + sum / 2) / sum);
}

// Returns a bucket of a member that has one: if possible one that is not at home.
uint32_t GroupSpread::BucketOf(const Owners& owners, uint32_t member) const {
  uint32_t found = kNone;
  for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (owners[bucket] != member) continue;
    if (homes_[bucket] != member) return bucket;
    found = std::min(found, bucket);
  }
  return found;
}

// Moves buckets from or to the member, until it has `min` to `max`: from the others with the most
// buckets by weight, or to those with the fewest. Takes buckets of others with weight 0 up to
// `max`.
void GroupSpread::Fill(Owners& owners, const Weights& weights, uint32_t member, uint32_t min,
                       uint32_t max) const {
  std::array<uint32_t, kMaxGroupPorts> counts{};
  uint32_t orphans = 0;
  for (const uint8_t owner : owners) {
    ++counts[owner];
    if (owner != member && weights[owner] == 0) ++orphans;
  }
  while (counts[member] < min || counts[member] > max || (orphans != 0 && counts[member] < max)) {
    const bool takes = counts[member] < max;
    uint32_t other = kNone;
    for (uint32_t i = 0; i < kMaxGroupPorts; ++i) {
      const bool spares = counts[i] > (weights[i] != 0 ? 1 : 0);
      if (i == member || (takes ? !spares : weights[i] == 0)) continue;
      if (other != kNone &&
          !(takes ? IsLess(counts[other], weights[other], counts[i], weights[i])
                  : IsLess(counts[i] + 1, weights[i], counts[other] + 1, weights[other]))) {
        continue;
      }
      other = i;
    }
    if (other == kNone) return;
    const uint32_t from = takes ? other : member;
    const uint32_t to = takes ? member : other;
    owners[BucketOf(owners, from)] = static_cast<uint8_t>(to);
    --counts[from];
    ++counts[to];
    if (takes && weights[from] == 0) --orphans;
  }
}

// Moves buckets of a member home: those that it has too many of, and its own.
void GroupSpread::Restore(const Weights& weights, uint32_t member) {
  const uint32_t share = ShareOf(weights, member);
  auto count = static_cast<uint32_t>(std::ranges::count(owners_, member));
  for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    const uint8_t home = homes_[bucket];
    if (weights[home] == 0 || owners_[bucket] == home) continue;
    if (home == member) {
      ++count;
    } else if (owners_[bucket] == member && count > share) {
      --count;
    } else {
      continue;
    }
    owners_[bucket] = home;
  }
  const uint32_t slack = share != 0 ? 1 : 0;  // of rounding: buckets at home stay
  Fill(owners_, weights, member, std::max(share - slack, slack), share + slack);
}

[[gnu::noinline]] void GroupSpread::Update() {
  Weights weights{};
  for (uint32_t member = 0; member < group_.ports.size(); ++member) {
    weights[member] = static_cast<uint8_t>(WeightOf(member));
  }
  // Members that may not send leave their buckets to all that may.
  for (const bool sends : {false, true}) {
    for (uint64_t left = changed_; left != 0; left &= left - 1) {
      const auto member = static_cast<uint32_t>(std::countr_zero(left));
      if ((weights[member] != 0) == sends) Restore(weights, member);
    }
  }
  changed_ = 0;
}

}  // namespace suede::fabric
