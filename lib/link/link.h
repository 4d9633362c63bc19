// SPDX-License-Identifier: Apache-2.0
// A queue pair of a port as a pipeline uses it: frames to fill, the burst being staged, frames to
// give back, frames that other lcores of the port have received, whether frames leave.
//
// The layers below (link_layer.h) are a template parameter. Owned by the lcore of the queue pair.
#ifndef SUEDE_LINK_LINK_H_
#define SUEDE_LINK_LINK_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/time.h"
#include "link/credit_gate.h"
#include "link/credit_layer.h"
#include "link/departures.h"
#include "link/handover.h"
#include "link/link_layer.h"
#include "link/packet_lane.h"
#include "link/pauses.h"
#include "link/pdu_frame.h"
#include "link/retry_layer.h"
#include "link/staged_burst.h"
#include "stats/counters.h"

namespace suede {

template <LinkLayer Layer>
class BasicLink {
 public:
  // `packets`: the port's management packets, where this lcore serves them.
  explicit BasicLink(Layer layer, PacketLane* packets = nullptr)
      : layer_(std::move(layer)), packets_(packets) {}
  BasicLink(const BasicLink&) = delete;
  BasicLink& operator=(const BasicLink&) = delete;

  // ---- Frames.

  // Whether `count` frames are at hand (at most kBurst); asks the pool where they are not.
  bool HasFrames(uint32_t count) {
    if (spare_count_ >= count) return true;
    spare_count_ += layer_.Allocate(spare_.data() + spare_count_, kBurst);
    return spare_count_ >= count;
  }
  // An empty frame. HasFrames(1) must hold.
  Frame* NewFrame() { return spare_[--spare_count_]; }
  // An empty frame with a fresh descriptor. HasFrames(1) must hold.
  Pdu* NewPdu() {
    Frame* frame = NewFrame();
    Pdu* pdu = new (frame->notes) Pdu;
    pdu->commands = frame->buffer + Frame::kCommandOffset;
    return pdu;
  }
  void Release(Frame* frame) {
    released_[released_count_++] = frame;
    if (released_count_ == released_.size()) FlushReleased();
  }
  void FlushReleased() {
    if (released_count_ == 0) return;
    layer_.Release(released_.data(), released_count_);
    released_count_ = 0;
  }
  // A PDU has ended: its frame goes back at once, or is one-shot from now on where it is staged.
  void ReleasePdu(Pdu* pdu) {
    if (pdu->note.staged()) {
      pdu->note.kind = TxKind::kOneShot;
    } else if (!pdu->held) {
      ReleaseKept(pdu);
    }
  }
  // Releases the PDU's frame, and its sealed frame where it has one.
  void ReleaseKept(Pdu* pdu) {
    if (pdu->sealed) [[unlikely]]
      DropSealed(pdu);
    Release(FrameOf(pdu));
  }
  // The PDU leaves in the frame `sealed` from now on, which is released with the PDU's own and is
  // of the same pool.
  void SetSealed(Pdu* pdu, Frame* sealed) {
    if (pdu->sealed) DropSealed(pdu);
    FrameOf(pdu)->sealed = sealed;
    FrameOf(pdu)->length = sealed->length;
    pdu->sealed = true;
  }
  // The PDU leaves unsealed from now on.
  void DropSealed(Pdu* pdu) {
    Release(std::exchange(FrameOf(pdu)->sealed, nullptr));
    pdu->sealed = false;
  }
  // Frames of an instance that seals will be staged.
  void ExpectSealed() { seals_ = true; }
  // Whether the frame, or the sealed one that leaves in its place, may still be read on its way
  // out.
  bool IsBusy(const Frame* frame) const {
    return layer_.IsBusy(&LeavingFrame(*frame));
  }

  // ---- The burst being staged.

  // Acknowledgements and control PDUs have places of their own, in front of data.
  bool HasFrontRoom() const { return burst_.HasFrontRoom() && IsOpen(kVcCount); }
  // HasFrontRoom must hold. The frame is one-shot and carries no Pdu.
  void StageFront(Frame* frame, uint8_t vc = TxNote::kNoVc) {
    new (frame->notes) TxNote(TxNote::OneShot(vc));
    burst_.AddFront(frame);
    CheckCredit();
  }
  // The VCs of which a frame of data may be staged.
  VcMask room() const {
    return burst_.data_count() < kBurst ? static_cast<VcMask>(layer_.room() & open_ & kEveryVc)
                                        : VcMask{0};
  }
  bool HasRoom(uint32_t vc) const { return (room() >> vc & 1) != 0; }
  // How many frames of data of the VC may be staged.
  uint32_t RoomOf(uint32_t vc) const {
    if (!HasRoom(vc)) return 0;
    return LimitsByCredit() ? 1 : kBurst - burst_.data_count();
  }
  // Room for the PDU's VC must be there. The PDU is in flight, and stays so.
  void Stage(Pdu* pdu) {
    pdu->note = TxNote::Kept(pdu->vc);
    burst_.Add(FrameOf(pdu));
    CheckCredit();
  }
  // Stages a PDU whose frame is busy: the frame goes out once more unchanged.
  void StageBusy(Pdu* pdu) {
    Stage(pdu);
    pdu->note.busy = true;
  }
  // Stages one management packet at most, in front of the turn's data, so that it is not starved
  // and delays data by no more than a frame. Returns whether it did.
  bool StagePacket(CounterBlock& counters);
  // How many frames of data may be staged at the end of retransmissions: all places (`all`), or
  // half of the places that are left; every other turn the larger half of an odd number.
  uint32_t ShareOfRetransmissions(bool all) {
    if (all) return kBurst;
    const uint32_t left = kBurst - burst_.data_count();
    const uint32_t others = (left + (resends_odd_ ? 0 : 1)) / 2;
    resends_odd_ = !resends_odd_;
    return kBurst - others;
  }
  bool HasRoomBelow(uint32_t end) const { return burst_.data_count() < end && room() != 0; }
  // The frames of data that are staged, of which some are one-shot.
  std::span<Frame* const> staged() const { return burst_.data(); }
  // A PDU that is staged must not leave: RemoveWithdrawn takes out all withdrawn PDUs.
  static void Withdraw(Pdu* pdu) { pdu->note.kind = TxKind::kWithdrawn; }
  void RemoveWithdrawn() {
    burst_.RemoveWithdrawn();
    CheckCredit();
  }
  // Whether nothing is staged.
  bool empty() const { return burst_.empty(); }

  // ---- Each turn.

  // Takes at most kBurst frames from the layers, and as many from other lcores of the port. Returns
  // how many; `frames` has room for both.
  uint32_t Receive(Frame** frames, Time now) {
    uint32_t count = layer_.Receive(frames, kBurst, now);
    if (handover_.is_shared()) [[unlikely]]
      count += handover_.Take(frames + count, kBurst);
    return count;
  }
  // Lets the layers send their own frames, then hands the staged frames over; frames that are not
  // taken stay staged, in order.
  void Transmit(CounterBlock& counters, Time now);

  Handover& handover() { return handover_; }
  // Null where this lcore does not serve the port's management packets.
  PacketLane* packets() const { return packets_; }

  // ---- The port.

  // Whether an operator has taken the port down: nothing is staged, and staged frames wait.
  bool down() const { return down_; }
  void set_down(bool down) {
    down_ = down;
    SetOpen();
  }
  LinkState state() const { return layer_.link(); }
  uint32_t max_frame_bytes() const { return layer_.max_frame_bytes(); }
  bool Offers(TxOffload offload) const { return layer_.Offers(offload); }

  // ---- Flow control by class (pauses.h), where it is on: else null, and none of the rest is
  // called.

  void SetPauses(PortPauses* port, bool sends) {
    pauses_ = std::make_unique<LinkPauses>(port, sends);
  }
  LinkPauses* pauses() const { return pauses_.get(); }
  // A PFC frame of the neighbour's has come.
  void OnPfc(const PfcFrame& pfc, Time now) {
    pauses_->OnFrame(pfc, layer_.link().speed_bps, now);
    CheckPauses(now);
  }
  // To be called once in a turn.
  void CheckPauses(Time now) {
    if (pauses_->Refresh(now)) SetOpen();
  }
  // Whether no pause holds up the VC's frames, or those of kAckBit's bit number, and they have
  // credit.
  bool IsOpen(uint32_t flow) const { return ((layer_.room() & open_) >> flow & 1) != 0; }
  // Sends the PFC frame that is due, if any, at once: in front of all staged frames.
  void SendPfc(const std::array<uint8_t, 6>& mac, CounterBlock& counters, Time now);

  // ---- Flow control by credit (credit_gate.h), where it is on: else null.

  CreditGate* credit() { return layer_.gate(); }
  const CreditGate* credit() const { return layer_.gate(); }
  // Whether the neighbour holds the flow up, by a pause or without credit, and since when.
  bool IsHeld(uint32_t flow) const { return HeldFlowSince(flow) != kNever; }
  Time HeldFlowSince(uint32_t flow) const;

  // PDUs of these flows wait for room: the watchdogs of pauses and credit count.
  void NoteWaiting(VcMask flows, Time now) {
    if (pauses_ != nullptr) pauses_->NoteWaiting(flows, now);
    if (LimitsByCredit()) layer_.gate()->NoteWaiting(flows, now);
  }

  // ---- Whether frames leave (departures.h).

  Departures& departures() { return departures_; }
  // An acknowledged frame shows whether the device tells which frames have left it.
  void SampleDeparture(const Pdu& acknowledged, Time now);
  // Since when nothing leaves, as the caller that waits for an answer to `oldest` sees it; null:
  // the caller waits for no kept PDU.
  Time HeldSince(const Pdu* oldest, Duration min, Time now);

  // For tests: frames that are kept for later turns.
  uint32_t frames_kept() const {
    const Frame* marker = departures_.marker();
    return layer_.frames_kept() + spare_count_ +
           (marker != nullptr && !layer_.IsBusy(marker) ? 1 : 0);
  }
  // For tests, and for a layer's own requests.
  Layer& layer() { return layer_; }
  const Layer& layer() const { return layer_; }

 private:
  Layer layer_;
  PacketLane* const packets_;
  StagedBurst burst_;
  VcMask open_ = kEveryFlow;  // flows that are not paused; none where it is down
  bool down_ = false;
  bool seals_ = false;        // some frames may have a sealed one beside them
  bool resends_odd_ = false;  // retransmissions get one more of an odd number of places
  std::array<Frame*, 2 * kBurst> spare_{};
  uint32_t spare_count_ = 0;
  std::array<Frame*, 2 * kBurst> released_{};
  uint32_t released_count_ = 0;
  Departures departures_;
  Handover handover_;
  std::unique_ptr<LinkPauses> pauses_;

  uint32_t TransmitSealed(const StagedBurst::Offer& offer, Time now);
  bool LimitsByCredit() const { return layer_.gate() != nullptr; }
  void CheckCredit() {
    if (LimitsByCredit()) [[unlikely]]
      layer_.gate()->CountStaged(burst_.data(), burst_.front());
  }
  void SetOpen() {
    const VcMask paused = pauses_ != nullptr ? pauses_->paused() : VcMask{0};
    open_ = down_ ? VcMask{0} : static_cast<VcMask>(kEveryFlow & ~paused);
  }
};

template <LinkLayer Layer>
void BasicLink<Layer>::SendPfc(const std::array<uint8_t, 6>& mac, CounterBlock& counters,
                               Time now) {
  if (down_) return;
  const std::optional<PfcFrame> pfc = pauses_->Poll(layer_.link().speed_bps, now);
  if (!pfc) [[likely]]
    return;
  if (!HasFrames(1)) return pauses_->Unsent(*pfc);
  Frame* frame = NewFrame();
  frame->data = frame->buffer + Frame::kCommandOffset;
  frame->length = PfcFrame::kBytes;
  frame->tx_offload = TxOffload::kNone;
  EncodePfc(*pfc, mac, frame->data);
  new (frame->notes) TxNote(TxNote::OneShot(TxNote::kNoVc));
  const bool sent = layer_.Transmit(&frame, 1, now) == 1;
  NoteOf(frame) = TxNote();
  if (sent) {
    counters.Add(Counter::kTxPfc);
    counters.Add(Counter::kTxFrames);
    counters.Add(Counter::kTxFrameBytes, PfcFrame::kBytes);
  } else {
    pauses_->Unsent(*pfc);
  }
  Release(frame);
}

template <LinkLayer Layer>
Time BasicLink<Layer>::HeldFlowSince(uint32_t flow) const {
  Time since = kNever;
  if (pauses_ != nullptr && (pauses_->paused() >> flow & 1) != 0) since = pauses_->since(flow);
  const CreditGate* const gate = layer_.gate();
  if (gate != nullptr && (gate->held() >> flow & 1) != 0) {
    since = std::min(since, gate->since(flow));
  }
  return since;
}

template <LinkLayer Layer>
void BasicLink<Layer>::Transmit(CounterBlock& counters, Time now) {
  layer_.Flush(now);
  if (burst_.empty() || down_) return;
  const StagedBurst::Offer offer = burst_.Begin();
  const uint32_t sent =
      !seals_ ? layer_.Transmit(offer.first, offer.count, now) : TransmitSealed(offer, now);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < sent; ++i) {
    Frame* frame = offer.first[i];
    bytes += frame->length;
    const bool one_shot = std::exchange(NoteOf(frame), TxNote()).kind == TxKind::kOneShot;
    if (!one_shot) continue;
    if (frame->sealed != nullptr) [[unlikely]]
      Release(std::exchange(frame->sealed, nullptr));
    if (!departures_.Keep(frame, now)) Release(frame);
  }
  departures_.OnTransmit(sent != 0, now);
  counters.Add(Counter::kTxFrames, sent);
  counters.Add(Counter::kTxFrameBytes, bytes);
  if (sent != offer.count) counters.Add(Counter::kTxPortFull);
  burst_.End(offer, sent);
  CheckCredit();
}

// Offers the layers the sealed frame of each frame that has one. A kept PDU's sealed frame that the
// device has already read is released: the next PDU then gets a frame that is still in the nearest
// cache.
template <LinkLayer Layer>
[[gnu::noinline]] uint32_t BasicLink<Layer>::TransmitSealed(const StagedBurst::Offer& offer,
                                                            Time now) {
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
    if (i < sent && is_kept && !layer_.IsBusy(frame->sealed)) DropSealed(PduOf(frame));
  }
  return sent;
}

template <LinkLayer Layer>
bool BasicLink<Layer>::StagePacket(CounterBlock& counters) {
  if (packets_ == nullptr || !packets_->HasPacket()) return false;
  if (burst_.data_count() == kBurst || down_ || !HasFrames(1)) return false;
  if (layer_.gate() != nullptr && layer_.gate()->waiting() >= kBurst) return false;
  Frame* frame = NewFrame();
  packets_->TakePacket(*frame);
  new (frame->notes) TxNote(TxNote::OneShot(TxNote::kNoVc));
  burst_.Add(frame);
  CheckCredit();
  counters.Add(Counter::kMgmtTxPackets);
  return true;
}

template <LinkLayer Layer>
void BasicLink<Layer>::SampleDeparture(const Pdu& acknowledged, Time now) {
  layer_.Reclaim();
  departures_.OnSample(IsBusy(FrameOf(&acknowledged)), acknowledged.sent_at,
                       !acknowledged.retransmitted, now);
}

template <LinkLayer Layer>
Time BasicLink<Layer>::HeldSince(const Pdu* oldest, Duration min, Time now) {
  if (burst_.data_count() == 0) departures_.OnTransmit(true, now);  // the device is given nothing
  Departures::Device device{.up = layer_.link().up, .reclaims = layer_.Reclaim()};
  const Frame* marker = departures_.marker();
  device.marker_busy = marker != nullptr && layer_.IsBusy(marker);
  Departures::Waiting waiting;
  if (oldest != nullptr) {
    waiting = {.exists = true,
               .staged = oldest->note.staged(),
               .busy = IsBusy(FrameOf(oldest)),
               .sent_at = oldest->sent_at};
  }
  Frame* unused = nullptr;
  const Time since = departures_.HeldSince(device, waiting, min, now, unused);
  if (unused != nullptr) Release(unused);
  return since;
}

// The stack that the pipeline has, from the port up: a layer that is off costs a branch a burst.
using LinkStack = CreditLayer<RetryLayer<PortLayer>>;
using Link = BasicLink<LinkStack>;
extern template class BasicLink<LinkStack>;

inline LinkStack StackOver(Port* port, const LinkParams& params = {}) {
  return LinkStack(RetryLayer<PortLayer>(PortLayer(port), params), params);
}

}  // namespace suede

#endif  // SUEDE_LINK_LINK_H_
