// SPDX-License-Identifier: Apache-2.0
#include "receive/foreign_frames.h"

namespace suede {

[[gnu::noinline]] void ForeignFrames::HandOver(PortContext& port) {
  Handover& handover = port.link.handover();
  for (uint32_t i = 0; i < count_; ++i) {
    Frame* const frame = frames_[i].frame;
    const auto* parsed = std::launder(reinterpret_cast<const ParsedFrame*>(frame->notes));
    RestoreFrame(port.params.rules, frame->data, *parsed);
    if (!Count(handover.Push(frames_[i].neighbour, frame))) port.link.frames().Release(frame);
  }
  count_ = 0;
  handover.Publish();
}

}  // namespace suede
