// SPDX-License-Identifier: Apache-2.0
#include "peer/peer_paths.h"

#include <cmath>

namespace suede {
namespace {

// 0 to 1, both excluded.
double Lot(uint32_t key, uint32_t plane) {
  uint64_t x = (uint64_t{key} << 8 | plane) + 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return (static_cast<double>(x >> 11) + 0.5) / 9007199254740992.0;  // 2^53
}

}  // namespace

void PeerPaths::Join(uint32_t plane) {
  uint32_t most = carried[plane];
  for (uint32_t left = usable; left != 0; left &= left - 1) {
    const auto other = static_cast<uint32_t>(std::countr_zero(left));
    most = std::max(most, carried[other]);
  }
  carried[plane] = most;
}

void PeerPaths::Rebase() {
  const uint32_t base = *std::max_element(carried.begin(), carried.end()) - kMostOwed;
  for (uint32_t& sum : carried) sum = std::max(sum, base) - base;
}

uint32_t PeerPaths::Draw(PlaneMask mask, uint32_t key) const {
  uint32_t best = kNoPlane;
  double least = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto plane = static_cast<uint32_t>(std::countr_zero(left));
    // Exponential with the weight for its rate: the least of them is that plane's in proportion.
    const double score = -std::log(Lot(key, plane)) / weight[plane];
    if (best != kNoPlane && score >= least) continue;
    best = plane;
    least = score;
  }
  return best;
}

}  // namespace suede
