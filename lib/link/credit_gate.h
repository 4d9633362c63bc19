// SPDX-License-Identifier: Apache-2.0
// The credit of an endpoint's link beyond CreditEnd: flows that may be staged, received frames of
// the present poll iteration, and frames that wait for credit although they were staged. Plain
// state below CreditLayer, which calls other layers. Owned by the lcore.
#ifndef SUEDE_LINK_CREDIT_GATE_H_
#define SUEDE_LINK_CREDIT_GATE_H_

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "base/time.h"
#include "link/credit_end.h"
#include "link/hold_watch.h"
#include "link/link_flows.h"
#include "link/staged_burst.h"
#include "port/frame.h"

namespace suede {

class CreditGate {
 public:
  // Max waiting frames: the frames of one burst, and some packets.
  static constexpr uint32_t kMaxWaiting = 2 * (kBurst + kFront);

  CreditGate(const LinkParams& params, uint32_t largest_octets);

  // The class of each flow: of the VCs, and of PDUs without commands.
  void SetClasses(const std::array<uint8_t, kLinkFlows>& classes);

  bool is_on() const { return end_.is_on(); }
  CreditEnd& end() { return end_; }
  const CreditEnd& end() const { return end_; }
  void Follow(LinkEnd& link, Time now) {
    if (end_.Follow(link, now)) [[unlikely]]
      OnChange(now);
  }

  // ---- Frames to stage.

  // Flows of which a frame of any length may be staged in addition to the staged frames.
  const VcMask& open() const { return open_; }
  // Counts the credit of the staged frames.
  void CountStaged(std::span<Frame* const> data, std::span<Frame* const> front);
  // Flows that lack credit for a frame even if none is staged, and since when.
  VcMask held() const { return held_; }
  Time since(uint32_t flow) const { return since_[flow]; }
  // PDUs of these flows wait. Ignores flows that are not held.
  void NoteWaiting(VcMask flows, Time now) {
    watch_.NoteWaiting(static_cast<VcMask>(flows & held_), now);
  }
  // Counts storms: the neighbour returns no credit while PDUs wait for it.
  void DetectStorms(LinkCounters& counters, Time now) {
    if (watch_.TakeStorms(now) != 0) [[unlikely]]
      counters.Add(LinkCounter::kCreditStorms);
  }
  // Whether a flow was opened since the last call.
  bool TakeOpened() { return std::exchange(opened_, false); }

  // ---- Received frames.

  // Returns whether the frame was an update, which is consumed; counts other frames until EndTurn.
  bool OnFrame(LinkEnd& link, const Frame& frame, Time now);
  // The poll iteration's frames were released, or are kept.
  void EndTurn(Time now);

  // ---- Frames to send.

  // A run is a series of frames that are sent together: BeginRun, then MayJoin for each frame, then
  // OnSent.
  void BeginRun() { run_ = 0; }
  bool MayJoin(const Frame& frame);
  // The first `count` frames of the run have left.
  void OnSent(uint32_t count, Time now);

  // Reads the link VC of a frame from its bytes; TxNote::kNoCredit: the frame is of the link or of
  // MAC control.
  uint8_t LinkVcOf(const Frame& frame) const;

  // Whether another frame may wait.
  bool HasRoom() const { return waiting_count_ < kMaxWaiting; }
  // Whether the frame waits already: the transport has retransmitted it.
  bool Waits(const Frame* frame) const;
  // Adds a frame that may not join to the waiting frames. The caller has taken a reference.
  void Wait(Frame* frame, LinkCounters& counters);
  struct Pick {
    Frame* frame = nullptr;  // null: no frame may be sent
    uint32_t place = 0;
    uint32_t credits = 0;
    bool busy = false;  // TxNote::busy when the frame began to wait
  };
  // The first waiting frame at `place` or behind it that may be sent.
  Pick PickWaiting(uint32_t place) const;
  // The frame at `place` has left; the frames behind it move up.
  void OnWaitingSent(uint32_t place, uint32_t credits, Time now);
  uint32_t waiting() const { return waiting_count_; }

 private:
  struct Charge {
    uint8_t vc = 0;
    uint16_t credits = 0;  // 0: the frame uses none
  };
  // The credits of a frame to be sent, and their link VC.
  Charge ChargeOf(const Frame& frame, TxNote note) const;
  bool WaitsBefore(uint32_t vc, uint32_t place) const;
  void OnChange(Time now);
  VcMask FlowsWith(const std::array<uint32_t, kLinkVcs>& staged) const;
  void SetOpen();
  void SetHeld(Time now);

  CreditEnd end_;
  const FrameClassRule class_rule_;
  const uint16_t ether_type_;
  const uint32_t largest_octets_;
  std::array<uint8_t, kLinkFlows> link_vc_of_{};
  VcMask open_ = kEveryFlow;
  VcMask held_ = 0;
  bool opened_ = false;
  HoldWatch watch_;
  std::array<Time, kLinkFlows> since_{};
  std::array<uint32_t, kLinkVcs> staged_{};   // credits of staged frames
  std::array<uint32_t, kLinkVcs> arrived_{};  // credits of frames received in this poll iteration
  LinkVcMask arrived_vcs_ = 0;
  std::array<Charge, kBurst + kFront> run_charges_{};
  std::array<uint32_t, kLinkVcs> run_credits_{};
  uint32_t run_ = 0;
  struct Waiting {
    Frame* frame;
    TxNote note;  // when the frame began to wait
    uint8_t vc;
  };
  std::array<Waiting, kMaxWaiting> waiting_{};
  uint32_t waiting_count_ = 0;
};

}  // namespace suede

#endif  // SUEDE_LINK_CREDIT_GATE_H_
