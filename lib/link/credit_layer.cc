// SPDX-License-Identifier: Apache-2.0
#include "link/credit_layer.h"

#include "link/pdu_frame.h"

namespace suede {

[[gnu::noinline]] uint32_t CreditLayer::OnReceive(Frame** frames, uint32_t count, Time now) {
  LinkEnd& link = *end();
  gate_->Follow(link, now);
  uint32_t passed = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Frame* const frame = frames[i];
    if (gate_->OnFrame(link, *frame, now)) {
      port_->Release(&frame, 1);
    } else {
      frames[passed++] = frame;
    }
  }
  return passed;
}

// Sends the first `count` frames, which have credit or use none. Returns how many were taken.
uint32_t CreditLayer::SendRun(Frame* const* frames, uint32_t count, Time now) {
  if (count == 0) return 0;
  const uint32_t taken = below_.Transmit(frames, count, now);
  gate_->OnSent(taken, now);
  return taken;
}

[[gnu::noinline]] uint32_t CreditLayer::Send(Frame* const* frames, uint32_t count, Time now) {
  uint32_t first = 0;  // of the run
  gate_->BeginRun();
  for (uint32_t i = 0; i < count; ++i) {
    if (gate_->MayJoin(*frames[i])) continue;  // a waiting frame never may join
    const uint32_t taken = SendRun(frames + first, i - first, now);
    if (first + taken != i) return first + taken;
    Frame* const frame = frames[i];
    if (!NoteOf(frame).busy || !gate_->Waits(frame)) {
      if (!gate_->HasRoom()) return i;
      port_->Hold(&frame, 1);
      gate_->Wait(frame, end()->counters());
    }
    first = i + 1;
    gate_->BeginRun();
  }
  return first + SendRun(frames + first, count - first, now);
}

// Sends waiting frames as soon as they have credit, in order within each link VC.
void CreditLayer::SendWaiting(Time now) {
  for (CreditGate::Pick pick = gate_->PickWaiting(0); pick.frame != nullptr;
       pick = gate_->PickWaiting(pick.place)) {
    // The frame's owner may have given it another note since.
    const bool busy = NoteOf(pick.frame).busy;
    NoteOf(pick.frame).busy = pick.busy;
    const bool sent = below_.Transmit(&pick.frame, 1, now) == 1;
    NoteOf(pick.frame).busy = busy;
    if (!sent) return;
    gate_->OnWaitingSent(pick.place, pick.credits, now);
    port_->Release(&pick.frame, 1);
  }
}

// Sends an update. `next` writes a link frame and returns its length; 0: none is due.
template <typename Next>
bool CreditLayer::SendUpdate(Next next, Time now) {
  Frame* frame = nullptr;
  if (port_->Allocate(&frame, 1) == 0) return false;
  BeginOwnFrame(frame);
  frame->length = next(frame->data);
  new (frame->notes) TxNote(TxNote::OneShot(TxNote::kNoCredit));
  const bool sent = frame->length == 0 || below_.Transmit(&frame, 1, now) == 1;
  port_->Release(&frame, 1);
  return sent;
}

void CreditLayer::SendUpdates(Time now) {
  LinkEnd& link = *end();
  CreditEnd& credit = gate_->end();
  const auto freed = [&](uint8_t* at) { return credit.NextFreed(link, at, now); };
  const auto consumed = [&](uint8_t* at) { return credit.NextConsumed(link, at, now); };
  if (now >= credit.receiver().deadline() && !SendUpdate(freed, now)) credit.UnsentFreed(now);
  if (now >= credit.sender().deadline() && !SendUpdate(consumed, now)) credit.UnsentConsumed(now);
}

[[gnu::noinline]] void CreditLayer::Serve(Time now) {
  LinkEnd& link = *end();
  gate_->Follow(link, now);
  gate_->EndTurn(now);
  gate_->DetectStorms(link.counters(), now);
  SendWaiting(now);
  if (gate_->end().HasUpdate(now)) SendUpdates(now);
  gate_->end().Show(link.counters());
}

}  // namespace suede
