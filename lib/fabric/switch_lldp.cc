// SPDX-License-Identifier: Apache-2.0
// LLDP frames between the ports of a switch and its control thread (docs/lldp.md).
#include <cstring>

#include "fabric/switch.h"

namespace suede::fabric {

// Copies an LLDP frame to the port's tap, and ends it. Returns false if it is another frame.
[[gnu::noinline]] bool Switch::TakeLldp(SwitchPort& port, Frame* frame, Time now) {
  const std::span<const uint8_t> bytes(frame->data, frame->length);
  if (!LldpTap::IsLldp(bytes)) return false;
  port.lldp_->Offer(bytes, now);
  End(frame);
  return true;
}

bool Switch::SendOwn(uint32_t number, std::span<const uint8_t> bytes, Time now) {
  if (ports_[number]->down_ || spares_.empty()) return false;
  Frame* const frame = spares_.back();
  if (Frame::kCommandOffset + bytes.size() > frame->capacity) return false;
  spares_.pop_back();
  frame->data = frame->buffer + Frame::kCommandOffset;
  frame->length = static_cast<uint32_t>(bytes.size());
  std::memcpy(frame->data, bytes.data(), bytes.size());
  const FrameView view;
  FrameNote& note = NewNote(frame);
  note.at = now;
  note.in = static_cast<uint16_t>(number);
  note.queue = note.traffic_class = static_cast<uint8_t>(ClassOf(frame, view));
  note.charge = buffer_.Charge(frame->length);
  if (buffer_.Admit(PortIndex(number), PortIndex(number), note.queue, note.charge)) {
    Queue(*ports_[number], number, frame, view);
    return true;
  }
  End(frame);
  return false;
}

}  // namespace suede::fabric
