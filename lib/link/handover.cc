// SPDX-License-Identifier: Apache-2.0
#include "link/handover.h"

namespace suede {

uint32_t Handover::Add(const PortNeighbour& neighbour) {
  neighbours_.push_back({.from = neighbour.from, .to = neighbour.to});
  if (neighbour.packets != nullptr) {
    lane_ = neighbour.packets;
    lane_ring_ = neighbour.to;
  }
  return static_cast<uint32_t>(neighbours_.size() - 1);
}

uint32_t Handover::Take(Frame** frames, uint32_t max) {
  uint32_t count = 0;
  const size_t neighbours = neighbours_.size();
  for (size_t i = 0, at = next_; i < neighbours; ++i, ++at) {
    if (at == neighbours) at = 0;
    count += neighbours_[at].from->Pop(frames + count, max - count);
  }
  // Another neighbour is first in the next poll iteration, so that no neighbour starves.
  next_ = next_ + 1 < neighbours ? next_ + 1 : 0;
  frames_ = count;
  bytes_ = 0;
  for (uint32_t i = 0; i < count; ++i) bytes_ += frames[i]->length;
  return count;
}

void Handover::PublishAll() {
  for (const Neighbour& neighbour : neighbours_) neighbour.to->Publish();
  pushed_ = false;
}

}  // namespace suede
