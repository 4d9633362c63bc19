// SPDX-License-Identifier: Apache-2.0
#include "path/peer_paths.h"

#include <bit>
#include <cmath>

namespace suede {
namespace {

// Pseudo-random, above 0 and below 1.
double Lot(uint32_t key, PlaneIndex plane) {
  uint64_t x = (uint64_t{key} << 8 | plane) + 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return (static_cast<double>(x >> 11) + 0.5) / 9007199254740992.0;  // 2^53
}

}  // namespace

void PlaneShares::Begin(const std::array<uint32_t, kMaxPlanes>& usual) {
  usual_ = usual;
  share_ = usual;
  SetCosts();
}

void PlaneShares::OnUneven(bool uneven) {
  uneven_ += uneven ? 1 : ~0u;
  if (uneven_ == 0) Begin(usual_);
}

void PlaneShares::SetCosts() {
  until_costs_ = kTurnsOfCosts;
  for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) {
    const uint32_t share = std::max(share_[plane], kOne >> kCostBits);
    cost_[plane] = static_cast<uint32_t>((uint64_t{kOne} << kCostBits) / share);
  }
}

void PeerPaths::SetWeight(PlaneIndex plane, uint32_t value) {
  weight[plane] = static_cast<uint16_t>(value);
  SetCosts();
}

void PeerPaths::SetPart(PlaneIndex plane, uint32_t value) {
  part[plane] = static_cast<uint16_t>(value);
  SetCosts();
}

// Small weights cannot be divided into parts: weights are then shifted, as far as the sum of four
// leaves `cost_of_sum` exact enough.
void PeerPaths::SetCosts() {
  constexpr int kBitsOfParts = 13;
  any_part =
      std::any_of(part.begin(), part.end(), [](uint16_t one) { return one != PathRate::kWhole; });
  const uint32_t max = *std::max_element(weight.begin(), weight.end());
  weight_shift =
      static_cast<uint8_t>(std::max(0, kBitsOfParts - static_cast<int>(std::bit_width(max))));
  for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) {
    if (weight[plane] != 0) cost[plane] = kWeightOne / MeasuredWeight(plane);
  }
  SetShares();
}

void PeerPaths::SetUsable(PlaneMask planes) {
  usable = planes;
  SetShares();
}

void PeerPaths::PublishShares(PlaneShares& shares) {
  const bool now_uneven = usable != 0 && share != shares.usual();
  if (now_uneven != uneven) shares.OnUneven(now_uneven);
  uneven = now_uneven;
}

void PeerPaths::SetShares() {
  uint32_t sum = 0;
  for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) {
    if ((usable & 1u << plane) != 0) sum += MeasuredWeight(plane);
  }
  cost_of_sum = kWeightOne / std::max(sum, 1u);
  carried_limit = kCarriedBase + (cost_of_sum * (kBytesOfBase >> kCarriedBits));
  for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) {
    const bool has = (usable & 1u << plane) != 0;
    share[plane] = has ? MeasuredWeight(plane) * cost_of_sum : 0;
  }
}

void PeerPaths::Join(PlaneIndex plane) {
  uint32_t max = carried[plane];
  for (uint32_t left = usable; left != 0; left &= left - 1) {
    const auto other = Lowest<PlaneIndex>(left);
    max = std::max(max, carried[other]);
  }
  carried[plane] = max;
}

void PeerPaths::Rebase(uint32_t bytes) {
  const uint32_t max = *std::max_element(carried.begin(), carried.end());
  for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) {
    // The plane that is next in turn has a deficit of a PDU.
    const uint32_t deficit = max - carried[plane];
    const uint32_t of_turn = flows ? deficit : std::min(deficit, StepOf(plane, bytes));
    carried[plane] =
        kCarriedBase - std::min(of_turn + (deficit - of_turn) / 2, StepOf(plane, kMaxDeficit));
  }
}

PlaneIndex PeerPaths::Draw(PlaneMask mask, uint32_t key) const {
  PlaneIndex best = kNoPlane;
  double min = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto plane = Lowest<PlaneIndex>(left);
    // Exponential with the weight as its rate: a plane has the least score in proportion to it.
    const double score = -std::log(Lot(key, plane)) / MeasuredWeight(plane);
    if (best != kNoPlane && score >= min) continue;
    best = plane;
    min = score;
  }
  return best;
}

}  // namespace suede
