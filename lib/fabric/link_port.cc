// SPDX-License-Identifier: Apache-2.0
#include "fabric/link_port.h"

#include "fabric/frame_note.h"
#include "fabric/params.h"

namespace suede::fabric {
namespace {

// Time after which a CC_Update is retried that found no room in the window of link-level retry.
constexpr Duration kUpdateRetry = std::chrono::microseconds(5);

}  // namespace

bool LinkPort::Copy(const Frame& from, Frame* to) {
  if (!CopyFrame(from, to)) return false;
  NewNote(to) = NoteOfFrame(&from);
  return true;
}

bool LinkPort::OnReceive(Frame& frame, Time now) {
  const bool passes = end_.OnFrame(frame, now) == LinkEnd::Fate::kUp;
  stale_ |= !passes || end_.params().retry.on;
  if (!passes) return false;
  if (credit_ == nullptr) return true;
  bool opened = false;
  return !credit_->TakeUpdate(end_, frame, opened, now);
}

void LinkPort::PollEnd(Time now) {
  end_.Poll(now);
  end_.Show();
  stale_ = end_.sender().state() == RetrySender::State::kFlush;  // the next Poll begins anew
  if (credit_ != nullptr) credit_->Follow(end_, now);
}

// Takes a due update. A CF_Update leaves unnumbered; a CC_Update takes its place among the numbered
// frames, behind the frame that waits for room, which it counts.
LinkPort::Next LinkPort::TakeUpdate(Frame* spare, Time now) {
  spare->data = spare->buffer + kLinkShimBytes;
  NewNote(spare).traffic_class = kClasses - 1;
  spare->length = credit_->NextFreed(end_, spare->data, now);
  if (spare->length != 0) return {.frame = spare, .used_spare = true};
  if (waiting_ != nullptr) return {};
  spare->length = credit_->NextConsumed(end_, spare->data, now);
  if (spare->length == 0) return {};
  end_.BeginBurst();
  switch (end_.Pass(*spare, false, UINT32_MAX)) {
    case LinkEnd::Passage::kFull:
      credit_->UnsentConsumed(now + kUpdateRetry);
      return {};
    case LinkEnd::Passage::kNumbered:
      return {.used_spare = true};
    default:
      return {.frame = spare, .used_spare = true};
  }
}

LinkPort::Next LinkPort::Take(Frame* spare, Time now) {
  if (end_.HasNext(now)) {
    stale_ = true;
    spare->data = spare->buffer;
    spare->length = end_.Next(spare->data, now);
    NewNote(spare).traffic_class = kClasses - 1;
    return {.frame = spare, .used_spare = true};
  }
  if (credit_ != nullptr && credit_->HasUpdate(now)) {
    const Next update = TakeUpdate(spare, now);
    if (update.used_spare) return update;
  }
  if (end_.ToSend(0) == nullptr) {
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
  stale_ = true;
  if (!Copy(*end_.ToSend(0), spare)) return {};
  end_.OnSent(1, now);
  return {.frame = spare, .used_spare = true};
}

}  // namespace suede::fabric
