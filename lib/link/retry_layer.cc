// SPDX-License-Identifier: Apache-2.0
#include "link/retry_layer.h"

#include <cstring>
#include <span>

#include "link/pdu_frame.h"

namespace suede {

[[gnu::noinline]] uint32_t RetryLayer::OnReceive(Frame** frames, uint32_t count, Time now) {
  uint32_t passed = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Frame* const frame = frames[i];
    if (end_->OnFrame(*frame, now) == LinkEnd::Fate::kUp) {
      frames[passed++] = frame;
    } else {
      port_->Release(&frame, 1);
    }
  }
  ReleaseEnded();
  return passed;
}

// Returns whether all frames bypass the link's numbering. While frames are not numbered, only a
// busy frame may still have a number of a former session; without retry none ever has.
bool RetryLayer::AllPass(Frame* const* frames, uint32_t count) const {
  if (!numbers()) return true;
  if (end_->numbers()) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (NoteOf(frames[i]).busy) return false;
  }
  return true;
}

[[gnu::noinline]] uint32_t RetryLayer::Send(Frame* const* frames, uint32_t count, Time now) {
  if (AllPass(frames, count)) return port_->Transmit(frames, count);
  SendHeld(now);
  end_->BeginBurst();
  int64_t room = device_.Room(now);
  uint32_t taken = 0;
  for (; taken < count; ++taken) {
    Frame* const frame = frames[taken];
    if (room <= 0) end_->EndBurst();
    const LinkEnd::Passage passage =
        end_->Pass(*frame, NoteOf(frame).busy, port_->max_frame_bytes());
    Frame* const copy = passage == LinkEnd::Passage::kStale ? CopyOf(*frame) : nullptr;
    if (copy == nullptr) [[likely]] {
      if (!Take(frame, passage, &room, now)) break;
      continue;
    }
    const bool is_taken =
        Take(copy, end_->Pass(*copy, false, port_->max_frame_bytes()), &room, now);
    port_->Release(&copy, 1);
    if (!is_taken) break;
  }
  SendHeld(now);
  return taken;
}

// Returns whether the owner is done with the frame: held, sent or dropped.
bool RetryLayer::Take(Frame* frame, LinkEnd::Passage passage, int64_t* room, Time now) {
  if (passage == LinkEnd::Passage::kFull) return false;
  if (passage == LinkEnd::Passage::kNumbered) {
    port_->Hold(&frame, 1);
    NoteOf(frame).link_vc = TxNote::kNoCredit;
    *room -= DeviceQueue::CostOf(frame->length);
  }
  if (passage != LinkEnd::Passage::kBypass && passage != LinkEnd::Passage::kPlain) return true;
  SendHeld(now);
  if (port_->Transmit(&frame, 1) == 0) return false;
  if (passage == LinkEnd::Passage::kPlain) end_->OnPlainSent();
  return true;
}

// Returns a copy of the frame without its shim, which ends at the same place of its buffer; null:
// there is no frame. A device may keep frames until it needs their places in its ring, and a PDU
// that the far endpoint has refused must not wait for that.
[[gnu::cold]] Frame* RetryLayer::CopyOf(const Frame& stale) {
  Frame* copy = nullptr;
  if (port_->Allocate(&copy, 1) == 0) {
    end_->counters().Add(LinkCounter::kLlrTxStale);
    return nullptr;
  }
  copy->data = copy->buffer + (stale.data - stale.buffer) + kLinkShimBytes;
  copy->tx_offload = TxOffload::kNone;
  copy->length = stale.length - kLinkShimBytes;
  std::memcpy(copy->data, stale.data, kLinkTypeAt);
  std::memcpy(copy->data + kLinkTypeAt, stale.data + kLinkTypeAt + kLinkShimBytes,
              copy->length - kLinkTypeAt);
  new (copy->notes) TxNote(TxNote::OneShot(TxNote::kNoCredit));
  return copy;
}

// Sends held frames. Frames for which the device has no room, or that the port does not take, stay
// for the next poll iteration.
void RetryLayer::SendHeld(Time now) {
  Frame* frames[kAtOnce];
  for (uint32_t sent = kAtOnce; sent == kAtOnce;) {
    uint32_t count = 0;
    for (int64_t room = device_.Room(now); room > 0 && count < kAtOnce; ++count) {
      if ((frames[count] = end_->ToSend(count)) == nullptr) break;
      room -= DeviceQueue::CostOf(frames[count]->length);
    }
    if (count == 0) return;
    sent = port_->Transmit(frames, count);
    int64_t cost = 0;
    for (uint32_t i = 0; i < sent; ++i) cost += DeviceQueue::CostOf(frames[i]->length);
    device_.Give(cost, now);
    end_->OnSent(sent, now);
  }
}

void RetryLayer::SendOwn(Time now) {
  for (;;) {
    if (own_ == nullptr) {
      if (!end_->HasNext(now) || port_->Allocate(&own_, 1) == 0) return;
      BeginOwnFrame(own_);
      own_->length = end_->Next(own_->data, now);
    }
    if (port_->Transmit(&own_, 1) == 0) return;
    device_.Give(DeviceQueue::CostOf(own_->length), now);
    port_->Release(&own_, 1);
    own_ = nullptr;
  }
}

[[gnu::noinline]] void RetryLayer::Serve(Time now) {
  device_.OnTurn(port_->link().speed_bps, now);
  end_->Poll(now);
  ReleaseEnded();
  SendOwn(now);
  SendHeld(now);
  end_->Show();
}

void RetryLayer::ReleaseEnded() {
  const std::span<Frame* const> ended = end_->ended();
  if (ended.empty()) return;
  port_->Release(ended.data(), static_cast<uint32_t>(ended.size()));
  end_->ClearEnded();
}

}  // namespace suede
