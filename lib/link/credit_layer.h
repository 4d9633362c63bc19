// SPDX-License-Identifier: Apache-2.0
// The layer of a link that sends on the credit of the neighbour at the far end of the cable, and
// grants it credit (docs/link.md, "Credit-based flow control"). A layer that is off costs a branch
// for each burst.
//
// Received frames are in the buffer from when the layer passes them up until the end of the turn:
// by then the pipeline has released them, or keeps them and the device has others instead. The
// credit of staged frames counts as used (`Look`), so that staged frames can leave. Frames that
// find no credit nevertheless wait here, in order, and hold up no other link VC: frames staged
// before the credit began anew, and management packets, for whose class no credit was checked.
#ifndef SUEDE_LINK_CREDIT_LAYER_H_
#define SUEDE_LINK_CREDIT_LAYER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "link/credit_gate.h"
#include "link/link_layer.h"
#include "link/pdu_frame.h"

namespace suede {

template <LinkLayer Below>
class CreditLayer : public LayerOver<Below> {
 public:
  CreditLayer(Below below, const LinkParams& params) : LayerOver<Below>(std::move(below)) {
    if (!params.credit.cbfc) return;
    gate_ = std::make_unique<CreditGate>(params, Over::max_frame_bytes());
    open_ = &gate_->open();
  }

  uint32_t Receive(Frame** frames, uint32_t max, Time now) {
    const uint32_t count = Over::Receive(frames, max, now);
    if (gate_ == nullptr) [[likely]]
      return count;
    return OnReceive(frames, count, now);
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count, Time now) {
    if (gate_ == nullptr || !(gate_->is_on() || gate_->waiting() != 0)) [[likely]]
      return Over::Transmit(frames, count, now);
    return Send(frames, count, now);
  }
  void Flush(Time now) {
    Over::Flush(now);
    if (gate_ != nullptr) [[unlikely]]
      Serve(now);
  }
  VcMask room() const { return static_cast<VcMask>(Over::room() & *open_); }

  LinkEnd* end() { return Over::below().end(); }
  const LinkEnd* end() const { return Over::below().end(); }
  // The gate of this end of the link; null: frames use no credit.
  CreditGate* gate() { return gate_.get(); }
  const CreditGate* gate() const { return gate_.get(); }

 private:
  using Over = LayerOver<Below>;

  uint32_t OnReceive(Frame** frames, uint32_t count, Time now);
  uint32_t Send(Frame* const* frames, uint32_t count, Time now);
  uint32_t SendRun(Frame* const* frames, uint32_t count, Time now);
  void SendWaiting(Time now);
  void SendUpdates(Time now);
  template <typename Next>
  bool SendUpdate(Next next, Time now);
  void Serve(Time now);

  static constexpr VcMask kOpen = kEveryFlow;

  std::unique_ptr<CreditGate> gate_;
  const VcMask* open_ = &kOpen;  // the gate's, where there is one
};

template <LinkLayer Below>
[[gnu::noinline]] uint32_t CreditLayer<Below>::OnReceive(Frame** frames, uint32_t count, Time now) {
  LinkEnd& link = *end();
  gate_->Follow(link, now);
  uint32_t passed = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Frame* const frame = frames[i];
    if (gate_->OnFrame(link, *frame, now)) {
      Over::Release(&frame, 1);
    } else {
      frames[passed++] = frame;
    }
  }
  return passed;
}

// The first `count` frames have credit, or use none. Returns how many were taken.
template <LinkLayer Below>
uint32_t CreditLayer<Below>::SendRun(Frame* const* frames, uint32_t count, Time now) {
  if (count == 0) return 0;
  const uint32_t taken = Over::Transmit(frames, count, now);
  gate_->OnSent(taken, now);
  return taken;
}

template <LinkLayer Below>
[[gnu::noinline]] uint32_t CreditLayer<Below>::Send(Frame* const* frames, uint32_t count,
                                                    Time now) {
  uint32_t first = 0;  // of the run
  gate_->BeginRun();
  for (uint32_t i = 0; i < count; ++i) {
    if (gate_->MayJoin(*frames[i])) continue;  // a frame that waits never may
    const uint32_t taken = SendRun(frames + first, i - first, now);
    if (first + taken != i) return first + taken;
    Frame* const frame = frames[i];
    if (!NoteOf(frame).busy || !gate_->Waits(frame)) {
      if (!gate_->HasRoom()) return i;
      Over::Hold(&frame, 1);
      gate_->Wait(frame, end()->counters());
    }
    first = i + 1;
    gate_->BeginRun();
  }
  return first + SendRun(frames + first, count - first, now);
}

// Sends frames that have waited as soon as they may go, in order within each link VC.
template <LinkLayer Below>
void CreditLayer<Below>::SendWaiting(Time now) {
  for (CreditGate::Pick pick = gate_->PickWaiting(0); pick.frame != nullptr;
       pick = gate_->PickWaiting(pick.place)) {
    // The frame's owner may have given it another note since.
    const bool busy = NoteOf(pick.frame).busy;
    NoteOf(pick.frame).busy = pick.busy;
    const bool sent = Over::Transmit(&pick.frame, 1, now) == 1;
    NoteOf(pick.frame).busy = busy;
    if (!sent) return;
    gate_->OnWaitingSent(pick.place, pick.credits, now);
    Over::Release(&pick.frame, 1);
  }
}

// `next` writes a link frame and returns its length; 0: none is due.
template <LinkLayer Below>
template <typename Next>
bool CreditLayer<Below>::SendUpdate(Next next, Time now) {
  Frame* frame = nullptr;
  if (Over::Allocate(&frame, 1) == 0) return false;
  frame->data = frame->buffer + Frame::kCommandOffset;
  frame->tx_offload = TxOffload::kNone;
  frame->length = next(frame->data);
  new (frame->notes) TxNote(TxNote::OneShot(TxNote::kNoVc));
  const bool sent = frame->length == 0 || Over::Transmit(&frame, 1, now) == 1;
  Over::Release(&frame, 1);
  return sent;
}

template <LinkLayer Below>
void CreditLayer<Below>::SendUpdates(Time now) {
  LinkEnd& link = *end();
  CreditEnd& credit = gate_->end();
  const auto freed = [&](uint8_t* at) { return credit.NextFreed(link, at, now); };
  const auto consumed = [&](uint8_t* at) { return credit.NextConsumed(link, at, now); };
  if (now >= credit.receiver().deadline() && !SendUpdate(freed, now)) credit.UnsentFreed(now);
  if (now >= credit.sender().deadline() && !SendUpdate(consumed, now)) credit.UnsentConsumed(now);
}

template <LinkLayer Below>
[[gnu::noinline]] void CreditLayer<Below>::Serve(Time now) {
  LinkEnd& link = *end();
  gate_->Follow(link, now);
  gate_->EndTurn(now);
  gate_->DetectStorms(link.counters(), now);
  SendWaiting(now);
  if (gate_->end().HasUpdate(now)) SendUpdates(now);
  gate_->end().Show(link.counters());
}

}  // namespace suede

#endif  // SUEDE_LINK_CREDIT_LAYER_H_
