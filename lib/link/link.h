// SPDX-License-Identifier: Apache-2.0
// A pipeline's access to a queue pair of a port: frames to fill, the burst being staged, frames to
// release, frames that other lcores of the port have received, whether frames leave.
//
// The layers below are credit-based flow control and, under it, link-level retry: one branch for
// each burst where a layer is off. Owned by the lcore of the queue pair.
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
#include "link/frame_cache.h"
#include "link/handover.h"
#include "link/link_flows.h"
#include "link/packet_lane.h"
#include "link/pauses.h"
#include "link/pdu_frame.h"
#include "link/staged_burst.h"
#include "stats/counters.h"

namespace suede {

class Link {
 public:
  // `packets`: the port's management packets if this lcore serves them. `port` outlives this
  // object.
  explicit Link(Port* port, const LinkParams& params = {}, PacketLane* packets = nullptr)
      : port_(port), layer_(port, params), packets_(packets), frames_(port) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // ---- Frames.

  FrameCache& frames() { return frames_; }
  // Frames of an instance that seals will be staged.
  void ExpectSealed() { seals_ = true; }
  // Whether the frame, or the sealed frame that leaves in its place, may still be read for sending.
  bool IsBusy(const Frame* frame) const { return port_->IsBusy(&LeavingFrame(*frame)); }

  // ---- The burst being staged.

  // Acknowledgements and control PDUs have places of their own, in front of data.
  bool HasFrontRoom() const { return HasFrontRoom(kVcCount); }
  // The same for a PDU in the class of a VC.
  bool HasFrontRoom(uint32_t flow) const { return burst_.HasFrontRoom() && IsOpen(flow); }
  // Whether there is no room in front, and will be some in the next poll iteration: the port takes
  // frames, and neither a pause nor missing credit holds them up.
  bool IsFrontUsedUp() const { return burst_.IsFrontUsedUp() && IsOpen(kVcCount); }
  // HasFrontRoom must be true. The frame is one-shot and carries no Pdu. `link_vc`:
  // TxNote::link_vc.
  void StageFront(Frame* frame, uint8_t link_vc) {
    new (frame->notes) TxNote(TxNote::OneShot(link_vc));
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
  // There must be room for the PDU's VC. The PDU is in flight, and stays so.
  void Stage(Pdu* pdu, uint8_t link_vc) {
    pdu->note = TxNote::Kept(link_vc);
    burst_.Add(FrameOf(pdu));
    CheckCredit();
  }
  // Stages a PDU whose frame is busy: the frame is sent again unchanged.
  void StageBusy(Pdu* pdu) {
    const uint8_t link_vc = pdu->note.link_vc;
    Stage(pdu, link_vc);
    pdu->note.busy = true;
  }
  // Stages max one management packet, before the poll iteration's data, so that packets do not
  // starve and delay data by no more than a frame. Returns whether it did.
  bool StagePacket(CounterBlock& counters);
  // The number of staged data frames up to which retransmissions may be staged: all places (`all`),
  // or half of the places left; every other call the larger half of an odd number.
  uint32_t ShareOfRetransmissions(bool all) {
    if (all) return kBurst;
    const uint32_t left = kBurst - burst_.data_count();
    const uint32_t others = (left + (resends_odd_ ? 0 : 1)) / 2;
    resends_odd_ = !resends_odd_;
    return kBurst - others;
  }
  bool HasRoomBelow(uint32_t end) const { return burst_.data_count() < end && room() != 0; }
  // The staged frames of data, some of which are one-shot.
  std::span<Frame* const> staged() const { return burst_.data(); }
  // Marks a staged PDU, which must not leave; RemoveWithdrawn removes all marked PDUs from the
  // burst.
  static void Withdraw(Pdu* pdu) { pdu->note.kind = TxKind::kWithdrawn; }
  void RemoveWithdrawn() {
    burst_.RemoveWithdrawn();
    CheckCredit();
  }
  // Whether nothing is staged.
  bool empty() const { return burst_.empty(); }

  // ---- In each poll iteration.

  // Takes up to kBurst frames from the layers, and as many from other lcores of the port. Returns
  // their number; `frames` has room for both.
  uint32_t Receive(Frame** frames, Time now) {
    uint32_t count = layer_.Receive(frames, kBurst, now);
    if (handover_.is_shared()) [[unlikely]]
      count += handover_.Take(frames + count, kBurst);
    return count;
  }
  // Lets the layers send their own frames, then passes the staged frames to them; frames that are
  // not taken stay staged, in order.
  void Transmit(CounterBlock& counters, Time now);

  Handover& handover() { return handover_; }
  // Null if this lcore does not serve the port's management packets.
  PacketLane* packets() const { return packets_; }

  // ---- The port.

  // Whether an operator has taken the port down: no frame is staged, and staged frames wait.
  bool down() const { return down_; }
  void set_down(bool down) {
    down_ = down;
    SetOpen();
  }
  LinkState state() const { return port_->link(); }
  uint32_t max_frame_bytes() const { return layer_.max_frame_bytes(); }
  bool Offers(TxOffload offload) const { return layer_.Offers(offload); }

  // ---- Priority-based flow control (pauses.h). Off: pauses() is null, and the rest is not called.

  void SetPauses(PortPauses* port, bool sends) {
    pauses_ = std::make_unique<LinkPauses>(port, sends);
  }
  LinkPauses* pauses() const { return pauses_.get(); }
  // A PFC frame of the neighbour was received.
  void OnPfc(const PfcFrame& pfc, Time now) {
    pauses_->OnFrame(pfc, port_->link().speed_bps, now);
    CheckPauses(now);
  }
  // Called once in a poll iteration.
  void CheckPauses(Time now) {
    if (pauses_->Refresh(now)) SetOpen();
  }
  // Whether no pause holds up the frames of the VC, or of kVcCount (PDUs without commands), and
  // they have credit.
  bool IsOpen(uint32_t flow) const { return ((layer_.room() & open_) >> flow & 1) != 0; }
  // Sends the PFC frame that is due, if any, at once: before all staged frames. Returns whether it
  // did.
  bool SendPfc(const std::array<uint8_t, 6>& mac, CounterBlock& counters, Time now);

  // ---- Credit-based flow control (credit_gate.h). Off: null.

  CreditGate* credit() { return layer_.gate(); }
  const CreditGate* credit() const { return layer_.gate(); }
  // Whether the neighbour holds the flow up, by a pause or for lack of credit, and since when.
  bool IsHeld(uint32_t flow) const { return HeldFlowSince(flow) != kNever; }
  Time HeldFlowSince(uint32_t flow) const;

  // PDUs of these flows wait for room: the watchdogs of pauses and credit count.
  void NoteWaiting(VcMask flows, Time now) {
    if (pauses_ != nullptr) pauses_->NoteWaiting(flows, now);
    if (LimitsByCredit()) layer_.gate()->NoteWaiting(flows, now);
  }

  // ---- Whether frames leave (departures.h).

  Departures& departures() { return departures_; }
  // Samples an acknowledged frame: whether the device reports which frames have left it.
  void SampleDeparture(const Pdu& acknowledged, Time now);
  // Since when no frame leaves, for a caller that waits for an answer to `oldest`; null: the caller
  // waits for no kept PDU.
  Time HeldSince(const Pdu* oldest, Duration min, Time now);

  // For tests: frames that are kept for later poll iterations.
  uint32_t frames_kept() const {
    const Frame* marker = departures_.marker();
    return layer_.frames_kept() + frames_.spare() +
           (marker != nullptr && !port_->IsBusy(marker) ? 1 : 0);
  }
  // This end of the link's cable (link_end.h); null: no protocol of the link is on.
  LinkEnd* end() { return layer_.end(); }
  const LinkEnd* end() const { return layer_.end(); }

 private:
  Port* const port_;
  CreditLayer layer_;
  PacketLane* const packets_;
  StagedBurst burst_;
  VcMask open_ = kEveryFlow;  // flows that are not paused; none if the port is down
  bool down_ = false;
  bool seals_ = false;        // some frames may have a sealed frame
  bool resends_odd_ = false;  // retransmissions get the larger half of an odd number of places
  FrameCache frames_;
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

}  // namespace suede

#endif  // SUEDE_LINK_LINK_H_
