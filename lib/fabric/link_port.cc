// SPDX-License-Identifier: Apache-2.0
#include "fabric/link_port.h"

#include <cstring>

#include "fabric/frame_note.h"
#include "fabric/params.h"

namespace suede::fabric {

bool LinkPort::Copy(const Frame& from, Frame* to) {
  const auto offset = static_cast<size_t>(from.data - from.buffer);
  if (to->capacity < offset + from.length) return false;
  to->data = to->buffer + offset;
  to->length = from.length;
  std::memcpy(to->data, from.data, from.length);
  NewNote(to) = NoteOfFrame(&from);
  return true;
}

LinkPort::Next LinkPort::Take(Output& output, Frame* spare, Time now) {
  if (end_.HasNext(now)) {
    spare->data = spare->buffer;
    spare->length = end_.Next(spare->data, now);
    NewNote(spare).traffic_class = kClasses - 1;
    return {.frame = spare, .used_spare = true};
  }
  if (end_.ToSend(0) == nullptr) {
    if (waiting_ == nullptr) waiting_ = output.Pop(now);
    if (waiting_ == nullptr) return {};
    end_.BeginBurst();
    const LinkEnd::Passage passage = end_.Pass(*waiting_, false, UINT32_MAX);
    if (passage == LinkEnd::Passage::kFull) return {};
    Frame* const frame = std::exchange(waiting_, nullptr);
    if (passage != LinkEnd::Passage::kNumbered) {
      if (passage == LinkEnd::Passage::kPlain) end_.OnPlainSent();
      return {.frame = frame};
    }
  }
  if (!Copy(*end_.ToSend(0), spare)) return {};
  end_.OnSent(1, now);
  return {.frame = spare, .used_spare = true};
}

}  // namespace suede::fabric
