// SPDX-License-Identifier: Apache-2.0
// The layer of a link that exchanges link frames with the neighbour at the far end of the cable,
// and repeats frames that the cable loses (docs/link.md). A layer that is off costs a branch a
// burst.
//
// The layer holds a reference of its own to each numbered frame until the neighbour has it, and
// gives the device few frames at a time: all frames in the device behind a lost one are in vain.
// Frames for a layer above, of credit-based flow control, pass through both ways.
#ifndef SUEDE_LINK_RETRY_LAYER_H_
#define SUEDE_LINK_RETRY_LAYER_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "link/device_queue.h"
#include "link/link_end.h"
#include "link/link_layer.h"
#include "link/pdu_frame.h"

namespace suede {

template <LinkLayer Below>
class RetryLayer : public LayerOver<Below> {
 public:
  RetryLayer(Below below, const LinkParams& params)
      : LayerOver<Below>(std::move(below)),
        end_(params.on() ? std::make_unique<LinkEnd>(params) : nullptr) {}

  uint32_t Receive(Frame** frames, uint32_t max, Time now) {
    const uint32_t count = Over::Receive(frames, max, now);
    if (end_ == nullptr) [[likely]]
      return count;
    return OnReceive(frames, count, now);
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count, Time now) {
    if (end_ == nullptr) [[likely]]
      return Over::Transmit(frames, count, now);
    return Send(frames, count, now);
  }
  void Flush(Time now) {
    Over::Flush(now);
    if (end_ != nullptr) [[unlikely]]
      Serve(now);
  }
  // A device knows nothing of the shim.
  bool Offers(TxOffload offload) const {
    return Over::Offers(offload) && (!numbers() || offload == TxOffload::kNone);
  }
  uint32_t max_frame_bytes() const {
    return Over::max_frame_bytes() - (numbers() ? kLinkShimBytes : 0);
  }
  uint32_t frames_kept() const { return Over::frames_kept() + (own_ != nullptr ? 1 : 0); }

  // This end of the link; null: all layers of the link are off.
  LinkEnd* end() { return end_.get(); }
  const LinkEnd* end() const { return end_.get(); }

 private:
  using Over = LayerOver<Below>;
  static constexpr uint32_t kAtOnce = 32;  // frames

  bool numbers() const { return end_ != nullptr && end_->params().retry.on; }
  uint32_t OnReceive(Frame** frames, uint32_t count, Time now);
  uint32_t Send(Frame* const* frames, uint32_t count, Time now);
  bool AllPass(Frame* const* frames, uint32_t count) const;
  bool Take(Frame* frame, LinkEnd::Passage passage, int64_t* room, Time now);
  Frame* CopyOf(const Frame& stale);
  void Serve(Time now);
  void SendHeld(Time now);
  void SendOwn(Time now);
  void ReleaseEnded();

  std::unique_ptr<LinkEnd> end_;
  DeviceQueue device_;
  Frame* own_ = nullptr;  // a link frame that the port has not taken yet
};

template <LinkLayer Below>
[[gnu::noinline]] uint32_t RetryLayer<Below>::OnReceive(Frame** frames, uint32_t count, Time now) {
  uint32_t passed = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Frame* const frame = frames[i];
    if (end_->OnFrame(*frame, now) == LinkEnd::Fate::kUp) {
      frames[passed++] = frame;
    } else {
      Over::Release(&frame, 1);
    }
  }
  ReleaseEnded();
  return passed;
}

// Whether all frames bypass the link's numbers. While frames are not numbered, only a busy frame
// may still have a number of a former session.
template <LinkLayer Below>
bool RetryLayer<Below>::AllPass(Frame* const* frames, uint32_t count) const {
  if (end_->numbers()) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (NoteOf(frames[i]).busy) return false;
  }
  return true;
}

template <LinkLayer Below>
[[gnu::noinline]] uint32_t RetryLayer<Below>::Send(Frame* const* frames, uint32_t count, Time now) {
  if (AllPass(frames, count)) return Over::Transmit(frames, count, now);
  SendHeld(now);
  end_->BeginBurst();
  int64_t room = device_.Room(now);
  uint32_t taken = 0;
  for (; taken < count; ++taken) {
    Frame* const frame = frames[taken];
    if (room <= 0) end_->EndBurst();
    const LinkEnd::Passage passage =
        end_->Pass(*frame, NoteOf(frame).busy, Over::max_frame_bytes());
    Frame* const copy = passage == LinkEnd::Passage::kStale ? CopyOf(*frame) : nullptr;
    if (copy == nullptr) [[likely]] {
      if (!Take(frame, passage, &room, now)) break;
      continue;
    }
    const bool is_taken = Take(copy, end_->Pass(*copy, false, Over::max_frame_bytes()), &room, now);
    Over::Release(&copy, 1);
    if (!is_taken) break;
  }
  SendHeld(now);
  return taken;
}

// Returns whether the frame is over for its owner: held, sent or dropped.
template <LinkLayer Below>
bool RetryLayer<Below>::Take(Frame* frame, LinkEnd::Passage passage, int64_t* room, Time now) {
  if (passage == LinkEnd::Passage::kFull) return false;
  if (passage == LinkEnd::Passage::kNumbered) {
    Over::Hold(&frame, 1);
    *room -= DeviceQueue::CostOf(frame->length);
  }
  if (passage != LinkEnd::Passage::kBypass && passage != LinkEnd::Passage::kPlain) return true;
  SendHeld(now);
  if (Over::Transmit(&frame, 1, now) == 0) return false;
  if (passage == LinkEnd::Passage::kPlain) end_->OnPlainSent();
  return true;
}

// Returns the frame without its shim, in other memory, where it ends at the same place of its
// buffer. A device may keep frames until it needs their places in its ring, and a PDU that the far
// endpoint has refused does not wait for that. Null: there is no frame.
template <LinkLayer Below>
[[gnu::cold]] Frame* RetryLayer<Below>::CopyOf(const Frame& stale) {
  Frame* copy = nullptr;
  if (Over::Allocate(&copy, 1) == 0) {
    end_->counters().Add(LinkCounter::kLlrTxStale);
    return nullptr;
  }
  copy->data = copy->buffer + (stale.data - stale.buffer) + kLinkShimBytes;
  copy->tx_offload = TxOffload::kNone;
  copy->length = stale.length - kLinkShimBytes;
  std::memcpy(copy->data, stale.data, kLinkTypeAt);
  std::memcpy(copy->data + kLinkTypeAt, stale.data + kLinkTypeAt + kLinkShimBytes,
              copy->length - kLinkTypeAt);
  new (copy->notes) TxNote(TxNote::OneShot(TxNote::kNoVc));
  return copy;
}

// Sends held frames. Frames that the device has no room for, or that the port does not take, stay
// for the next turn.
template <LinkLayer Below>
void RetryLayer<Below>::SendHeld(Time now) {
  Frame* frames[kAtOnce];
  for (uint32_t sent = kAtOnce; sent == kAtOnce;) {
    uint32_t count = 0;
    for (int64_t room = device_.Room(now); room > 0 && count < kAtOnce; ++count) {
      if ((frames[count] = end_->ToSend(count)) == nullptr) break;
      room -= DeviceQueue::CostOf(frames[count]->length);
    }
    if (count == 0) return;
    sent = Over::Transmit(frames, count, now);
    int64_t cost = 0;
    for (uint32_t i = 0; i < sent; ++i) cost += DeviceQueue::CostOf(frames[i]->length);
    device_.Give(cost, now);
    end_->OnSent(sent, now);
  }
}

template <LinkLayer Below>
void RetryLayer<Below>::SendOwn(Time now) {
  for (;;) {
    if (own_ == nullptr) {
      if (!end_->HasNext(now) || Over::Allocate(&own_, 1) == 0) return;
      own_->data = own_->buffer + Frame::kCommandOffset;
      own_->tx_offload = TxOffload::kNone;
      own_->length = end_->Next(own_->data, now);
    }
    if (Over::Transmit(&own_, 1, now) == 0) return;
    device_.Give(DeviceQueue::CostOf(own_->length), now);
    Over::Release(&own_, 1);
    own_ = nullptr;
  }
}

template <LinkLayer Below>
[[gnu::noinline]] void RetryLayer<Below>::Serve(Time now) {
  device_.OnTurn(Over::link().speed_bps, now);
  end_->Poll(now);
  ReleaseEnded();
  SendOwn(now);
  SendHeld(now);
  end_->Show();
}

template <LinkLayer Below>
void RetryLayer<Below>::ReleaseEnded() {
  const std::span<Frame* const> ended = end_->ended();
  if (ended.empty()) return;
  Over::Release(ended.data(), static_cast<uint32_t>(ended.size()));
  end_->ClearEnded();
}

}  // namespace suede

#endif  // SUEDE_LINK_RETRY_LAYER_H_
