// SPDX-License-Identifier: Apache-2.0
// Ports that several lcores share: what one of them receives for another.
#include <new>

#include "pipeline/pipeline.h"

namespace suede {

void Pipeline::SharePort(uint32_t number, const PortNeighbour& neighbour) {
  for (const auto& owned : ports_) {
    PortContext& port = *owned;
    if (port.first_pair != number) continue;
    const uint32_t index = port.link.handover().Add(neighbour);
    for (const NetAddress& address : neighbour.addresses) {
      port.place_by_address[address] = {.instance = PortContext::Place::kElsewhere, .plane = index};
    }
  }
}

// Counts whether a frame was handed over. Returns the same: then it is the other lcore's.
bool Pipeline::CountHandedOver(bool handed) {
  lcore_counters_.Add(handed ? Counter::kRxHandedOver : Counter::kRxHandoverFull);
  return handed;
}

// Hands over what OnFrame has set aside, and shows the others what was handed to them.
[[gnu::noinline]] void Pipeline::HandOver(PortContext& port) {
  Handover& handover = port.link.handover();
  for (uint32_t i = 0; i < foreign_count_; ++i) {
    Frame* const frame = foreign_[i].frame;
    const auto* parsed = std::launder(reinterpret_cast<const ParsedFrame*>(frame->notes));
    RestoreFrame(port.params.rules, frame->data, *parsed);
    if (!CountHandedOver(handover.Push(foreign_[i].neighbour, frame))) port.link.Release(frame);
  }
  foreign_count_ = 0;
  handover.Publish();
}

}  // namespace suede
