// SPDX-License-Identifier: Apache-2.0
#include "link/link.h"

#include <algorithm>
#include <optional>

namespace suede {

bool Link::SendPfc(const std::array<uint8_t, 6>& mac, CounterBlock& counters, Time now) {
  if (down_) return false;
  const std::optional<PfcFrame> pfc = pauses_->Poll(port_->link().speed_bps, now);
  if (!pfc) [[likely]]
    return false;
  if (!frames_.Has(1)) {
    pauses_->Unsent(*pfc);
    return false;
  }
  Frame* frame = frames_.New();
  BeginOwnFrame(frame);
  frame->length = PfcFrame::kBytes;
  EncodePfc(*pfc, mac, frame->data);
  new (frame->notes) TxNote(TxNote::OneShot(TxNote::kNoCredit));
  const bool sent = layer_.Transmit(&frame, 1, now) == 1;
  NoteOf(frame) = TxNote();
  if (sent) {
    counters.Add(Counter::kTxPfc);
    counters.Add(Counter::kTxFrames);
    counters.Add(Counter::kTxFrameBytes, PfcFrame::kBytes);
  } else {
    pauses_->Unsent(*pfc);
  }
  frames_.Release(frame);
  return sent;
}

Time Link::HeldFlowSince(uint32_t flow) const {
  Time since = kNever;
  if (pauses_ != nullptr && (pauses_->paused() >> flow & 1) != 0) since = pauses_->since(flow);
  const CreditGate* const gate = layer_.gate();
  if (gate != nullptr && (gate->held() >> flow & 1) != 0) {
    since = std::min(since, gate->since(flow));
  }
  return since;
}

void Link::Transmit(CounterBlock& counters, Time now) {
  layer_.Flush(now);
  if (burst_.empty() || down_) return;
  const StagedBurst::Offer offer = burst_.Begin();
  const uint32_t sent =
      !seals_ ? layer_.Transmit(offer.first, offer.count, now) : TransmitSealed(offer, now);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < sent; ++i) {
    Frame* frame = offer.first[i];
    bytes += frame->length;
    const bool one_shot = NoteOf(frame).Unstage() == TxKind::kOneShot;
    if (!one_shot) continue;
    if (frame->sealed != nullptr) [[unlikely]]
      frames_.Release(std::exchange(frame->sealed, nullptr));
    if (!departures_.Keep(frame, now)) frames_.Release(frame);
  }
  departures_.OnTransmit(sent != 0, now);
  counters.Add(Counter::kTxFrames, sent);
  counters.Add(Counter::kTxFrameBytes, bytes);
  if (sent != offer.count) counters.Add(Counter::kTxPortFull);
  burst_.End(offer, sent);
  CheckCredit();
}

// Passes the sealed frame of each frame that has one to the layers. Releases a kept PDU's sealed
// frame that the device has already read: the next PDU then gets a frame that is still in the L1
// cache.
[[gnu::noinline]] uint32_t Link::TransmitSealed(const StagedBurst::Offer& offer, Time now) {
  std::array<Frame*, kFront + kBurst> leaving;
  for (uint32_t i = 0; i < offer.count; ++i) {
    Frame* const frame = offer.first[i];
    leaving[i] = frame;
    if (frame->sealed == nullptr) continue;
    leaving[i] = frame->sealed;
    new (frame->sealed->notes) TxNote(NoteOf(frame));
  }
  const uint32_t sent = layer_.Transmit(leaving.data(), offer.count, now);
  for (uint32_t i = 0; i < offer.count; ++i) {
    Frame* const frame = offer.first[i];
    if (frame->sealed == nullptr) continue;
    NoteOf(frame->sealed) = TxNote();
    const bool is_kept = NoteOf(frame).kind != TxKind::kOneShot;
    if (i < sent && is_kept && !port_->IsBusy(frame->sealed)) frames_.DropSealed(PduOf(frame));
  }
  return sent;
}

bool Link::StagePacket(CounterBlock& counters) {
  if (packets_ == nullptr || !packets_->HasPacket()) return false;
  if (burst_.data_count() == kBurst || down_ || !frames_.Has(1)) return false;
  const CreditGate* const gate = layer_.gate();
  if (gate != nullptr && gate->waiting() >= kBurst) return false;
  Frame* frame = frames_.New();
  packets_->TakePacket(*frame);
  // (Only here does a frame leave whose headers this endpoint has not written.)
  const uint8_t link_vc = gate != nullptr ? gate->LinkVcOf(*frame) : TxNote::kNoCredit;
  new (frame->notes) TxNote(TxNote::OneShot(link_vc));
  burst_.Add(frame);
  CheckCredit();
  counters.Add(Counter::kMgmtTxPackets);
  return true;
}

void Link::SampleDeparture(const Pdu& acknowledged, Time now) {
  port_->Reclaim();
  departures_.OnSample(IsBusy(FrameOf(&acknowledged)), acknowledged.sent_at,
                       !acknowledged.retransmitted, now);
}

Time Link::HeldSince(const Pdu* oldest, Duration min, Time now) {
  if (burst_.data_count() == 0)
    departures_.OnTransmit(true, now);  // no frame is offered to the
                                        // device
  Departures::Device device{.up = port_->link().up, .reclaims = port_->Reclaim()};
  const Frame* marker = departures_.marker();
  device.marker_busy = marker != nullptr && port_->IsBusy(marker);
  Departures::Waiting waiting;
  if (oldest != nullptr) {
    waiting = {.exists = true,
               .staged = oldest->note.staged(),
               .busy = IsBusy(FrameOf(oldest)),
               .sent_at = oldest->sent_at};
  }
  Frame* unused = nullptr;
  const Time since = departures_.HeldSince(device, waiting, min, now, unused);
  if (unused != nullptr) frames_.Release(unused);
  return since;
}

}  // namespace suede
