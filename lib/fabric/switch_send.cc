// SPDX-License-Identifier: Apache-2.0
// The frames that leave a switch.
#include <algorithm>

#include "fabric/switch.h"

namespace suede::fabric {

Frame* Switch::PfcFrameOf(uint32_t number, Time now) {
  SwitchPort& port = *ports_[number];
  if (!params_.ports[number].pfc.on) return nullptr;
  if (spares_.empty()) [[unlikely]] {
    if (buffer_.paused(number) != 0) port.counters_.Add(SwitchPortCounter::kTxPfcNoFrame);
    return nullptr;
  }
  const auto pfc = port.pfc_.Poll(buffer_.paused(number), now);
  if (!pfc) [[likely]]
    return nullptr;
  Frame* const frame = spares_.back();
  spares_.pop_back();
  frame->data = frame->buffer;
  frame->length = PfcFrame::kBytes;
  EncodePfc(*pfc, params_.ports[number].mac, frame->data);
  NewNote(frame).traffic_class = kClasses - 1;
  port.counters_.Add(SwitchPortCounter::kTxPfc);
  return frame;
}

// Sends a frame over an impaired cable.
void Switch::SendOn(SwitchPort& port, Frame* frame, Time now) {
  switch (port.out_.Send(frame, now)) {
    case Impairment::Fate::kLost:
      End(frame);
      break;
    case Impairment::Fate::kDuplicate:
      if (Frame* const copy = CopyOf(frame); copy != nullptr) port.out_.Duplicate(copy);
      break;
    case Impairment::Fate::kTaken:
      break;
  }
}

// Returns the next frame that the link itself sends, or has held; null: none.
[[gnu::noinline]] Frame* Switch::NextOfLink(SwitchPort& port, Time now) {
  while (!spares_.empty()) {
    const LinkPort::Next next = port.link_->Take(spares_.back(), now);
    if (next.used_spare) spares_.pop_back();
    if (next.frame != nullptr || !next.used_spare) return next.frame;
  }
  return nullptr;
}

// Returns the next frame that leaves by the port; null: none. `asks`: whether the link may have
// frames of its own.
Frame* Switch::Next(SwitchPort& port, bool& asks, Time now) {
  LinkPort* const link = port.link_.get();
  if (asks) {
    asks = link->HasOwn(now);
    if (asks) [[unlikely]] {
      Frame* const own = NextOfLink(port, now);
      if (own != nullptr || link->HasOwn(now)) return own;
    }
  }
  Frame* const frame = port.output_.Pop(now);
  if (link == nullptr || frame == nullptr || link->Ignores(*frame)) [[likely]]
    return frame;
  link->Hold(frame);
  asks = true;
  return NextOfLink(port, now);
}

uint32_t Switch::Transmit(uint32_t number, Frame** frames, uint32_t max, Time now) {
  return IsQuiet(number, now) ? 0 : Send(number, frames, max, now);
}

[[gnu::noinline]] uint32_t Switch::Send(uint32_t number, Frame** frames, uint32_t max, Time now) {
  SwitchPort& port = *ports_[number];
  uint64_t bytes = 0;
  uint32_t count = 0;
  const auto add = [&](Frame* frame) {
    bytes += frame->length;
    frames[count++] = frame;
  };
  const bool clean = port.out_.is_clean();
  if (!port.down_) {
    if (port.link_ != nullptr) {
      port.link_->Poll(now);
      if (!port.link_->ended().empty()) EndHeld(port);
    }
    port.output_.Update(now);
    while (Frame* const frame = port.output_.PopStormy()) {
      port.CopyDropped(SwitchClassCounter::kStormDrop, *frame);
      End(frame);
    }
    while (Frame* const frame = port.output_.PopOld(now)) {
      port.CopyDropped(SwitchClassCounter::kAgeDrop, *frame);
      End(frame);
    }
    if (Frame* const pfc = PfcFrameOf(number, now); pfc != nullptr) {
      clean&& max != 0 ? add(pfc) : SendOn(port, pfc, now);
    }
    bool asks = port.link_ != nullptr;
    while (count < max && (clean || port.out_.free_at() <= now)) {
      Frame* const frame = Next(port, asks, now);
      if (frame == nullptr) break;
      if (clean) [[likely]] {
        add(frame);
      } else {
        SendOn(port, frame, now);
      }
    }
  }
  while (count < max && !clean) {
    Frame* const frame = port.out_.Arrived(now);
    if (frame == nullptr) break;
    add(frame);
  }
  port.counters_.Add(SwitchPortCounter::kTxFrames, count);
  port.counters_.Add(SwitchPortCounter::kTxFrameBytes, bytes);
  return count;
}

Time Switch::deadline(uint32_t number, Time now) const {
  const SwitchPort& port = *ports_[number];
  Time next = std::min(port.in_.deadline(), port.out_.deadline());
  if (port.down_) return next;
  Time sends = port.output_.deadline(now);
  if (port.link_ != nullptr) {
    if (port.link_->is_full()) sends = kNever;
    sends = std::min(sends, port.link_->deadline(now));
  }
  if (sends != kNever && !port.out_.is_clean()) sends = std::max(sends, port.out_.free_at());
  next = std::min(next, sends);
  return params_.ports[number].pfc.on ? std::min(next, port.pfc_.deadline()) : next;
}

Time Switch::deadline(Time now) const {
  Time next = kNever;
  for (uint32_t i = 0; i < ports_.size(); ++i) next = std::min(next, deadline(i, now));
  return next;
}

}  // namespace suede::fabric
