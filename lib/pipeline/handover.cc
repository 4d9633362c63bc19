// SPDX-License-Identifier: Apache-2.0
// Ports that several lcores share: what one of them receives for another.
#include <new>

#include "pipeline/pipeline.h"

namespace suede {

void Pipeline::SharePort(uint32_t number, const PortNeighbour& neighbour) {
  for (const auto& owned : ports_) {
    PortContext& port = *owned;
    if (port.first_pair != number) continue;
    const auto index = static_cast<uint32_t>(port.neighbours.size());
    port.neighbours.push_back({.from = neighbour.from, .to = neighbour.to});
    for (const NetAddress& address : neighbour.addresses) {
      port.place_by_address[address] = {.instance = PortContext::Place::kElsewhere, .plane = index};
    }
    if (neighbour.packets != nullptr) {
      port.packets_elsewhere = neighbour.packets;
      port.packets_at = neighbour.to;
    }
  }
}

// Returns whether the frame is kept: it is the other lcore's then.
bool Pipeline::HandOver(HandoverRing& ring, Frame* frame) {
  const bool handed = ring.Push(frame);
  lcore_counters_.Add(handed ? Counter::kRxHandedOver : Counter::kRxHandoverFull);
  return handed;
}

// Adds frames that others have received for us, at most kBurst, to those that we have received.
[[gnu::noinline]] uint32_t Pipeline::TakeHandedOver(PortContext& port, Frame** frames) {
  uint32_t count = 0;
  const size_t neighbours = port.neighbours.size();
  for (size_t i = 0, at = port.next_neighbour; i < neighbours; ++i, ++at) {
    if (at == neighbours) at = 0;
    count += port.neighbours[at].from->Pop(frames + count, kBurst - count);
  }
  // Another one comes first in the next turn, so that none is kept waiting by the others.
  port.next_neighbour = port.next_neighbour + 1 < neighbours ? port.next_neighbour + 1 : 0;
  port.handed_frames = count;
  port.handed_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) port.handed_bytes += frames[i]->length;
  return count;
}

// Hands over what OnFrame has set aside, and shows the others what was handed to them.
[[gnu::noinline]] void Pipeline::HandOver(PortContext& port) {
  for (uint32_t i = 0; i < foreign_count_; ++i) {
    Frame* const frame = foreign_[i].frame;
    const auto* parsed = std::launder(reinterpret_cast<const ParsedFrame*>(frame->notes));
    RestoreFrame(port.params.rules, frame->data, *parsed);
    if (!HandOver(*port.neighbours[foreign_[i].neighbour].to, frame)) port.Release(frame);
  }
  foreign_count_ = 0;
  for (const PortContext::Neighbour& neighbour : port.neighbours) neighbour.to->Publish();
}

}  // namespace suede
