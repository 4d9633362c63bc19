// SPDX-License-Identifier: Apache-2.0
// One output of a switch: a queue for each class, ECN, the peer's PFC, the rate. Owned by the lcore
// of the port.
#ifndef SUEDE_FABRIC_OUTPUT_H_
#define SUEDE_FABRIC_OUTPUT_H_

#include <array>
#include <cstdint>
#include <span>

#include "base/time.h"
#include "fabric/class_scheduler.h"
#include "fabric/frame_note.h"
#include "fabric/pfc.h"
#include "fabric/random.h"
#include "fabric/shared_buffer.h"
#include "link/credit_receiver.h"
#include "link/credit_sender.h"
#include "stats/link_counters.h"
#include "stats/switch_counters.h"

namespace suede::fabric {

class Output {
 public:
  using ClassCounters = std::array<SwitchClassCounters, kClasses>;

  // All arguments outlive this object.
  Output(const SwitchParams& params, uint32_t port, SharedBuffer& buffer, ClassCounters& counters);
  // Frames leave on the credit that the neighbour grants; storms are counted. Both arguments
  // outlive this object.
  void SetCredit(CreditSender* credit, LinkCounters* counters) {
    credit_ = credit;
    link_counters_ = counters;
  }
  // The credit that ports grant, by port; null: none. Frames that leave their queue free their
  // credit.
  void SetInputs(std::span<CreditReceiver* const> inputs) { inputs_ = inputs; }

  // Takes a frame that the buffer has admitted for the class; its note has its bytes in the buffer.
  void Push(Frame* frame, const FrameView& view);
  // Whether the rate permits another frame now.
  bool MaySend(Time now) const { return rate_bps_ == 0 || free_at_ <= now; }
  // Updates the classes that are held up. To be called each time before frames are taken.
  void Update(Time now) {
    now_ = now;
    held_ = pauses_.Paused(waiting_, now);
    if (credit_ != nullptr) [[unlikely]]
      CheckCredit();
  }
  // Takes the next frame from its queue and the buffer; null: no waiting frame may leave.
  Frame* Pop(Time now);
  // Takes a frame of a class in a storm, to be dropped; null: none.
  Frame* PopStormy();
  // Takes a frame that has waited too long, to be dropped; null: none.
  Frame* PopOld(Time now);
  const DropNote& too_old() const { return too_old_; }
  // Takes any frame, whatever holds it up; null: none.
  Frame* PopAny();

  void OnPfc(const PfcFrame& pfc, Time now) { pauses_.OnFrame(pfc, now); }
  // When a frame may leave, or a pause or storm changes; kNever: never. As of the last Update.
  Time deadline(Time now) const;

  uint32_t queued_frames(uint32_t traffic_class) const { return queues_[traffic_class].size(); }
  uint32_t max_queued_bytes(uint32_t traffic_class) const { return max_queued_[traffic_class]; }
  // Resets the high-water marks to the present values.
  void ResetMax() {
    for (uint32_t c = 0; c < kClasses; ++c) max_queued_[c] = buffer_.queued(port_, c);
  }
  ClassMask waiting() const { return waiting_; }
  const PfcReceiver& pauses() const { return pauses_; }
  // Classes whose first frame waits for credit, as of the last Update.
  ClassMask without_credit() const { return without_credit_; }
  // Classes in a storm, by pauses or for want of credit: their frames are to be dropped. As of the
  // last Update.
  ClassMask stormy() const { return static_cast<ClassMask>(pauses_.stormy() | starved_); }

 private:
  WaitCause CauseOf(uint32_t traffic_class) const;
  void Mark(Frame* frame, const FrameView& view, uint32_t depth);
  Frame* Take(uint32_t traffic_class);
  void CheckCredit();
  void CheckFirst(uint32_t traffic_class);
  void NoteWithoutCredit(uint32_t traffic_class);
  void Spend(const Frame& frame, Time now);

  const SwitchParams& params_;
  const uint32_t port_;
  const uint64_t rate_bps_;
  SharedBuffer& buffer_;
  ClassCounters& counters_;
  std::array<FrameFifo, kClasses> queues_;
  ClassMask waiting_ = 0;
  ClassMask held_ = 0;  // by the peer
  ClassMask without_credit_ = 0;
  ClassMask starved_ = 0;           // without credit for too long: in a storm
  CreditSender* credit_ = nullptr;  // null: the port has no credit-based flow control
  LinkCounters* link_counters_ = nullptr;  // null if credit_ is
  // The credit that the first frame of a class needs, or that the last frame dropped in a storm
  // needed.
  struct Need {
    uint8_t link_vc = 0;
    uint32_t credits = 0;
    Time since = kNever;  // since when the frame has no credit; kNever: it has credit
  };
  std::array<Need, kClasses> needs_{};
  Time storm_due_ = kNever;  // of the first class without credit
  std::span<CreditReceiver* const> inputs_;
  Time now_{};           // of the last Update
  ClassMask aging_ = 0;  // classes whose frames may become too old
  DropNote too_old_;
  ClassScheduler scheduler_;
  PfcReceiver pauses_;
  Random random_;
  Time free_at_{};     // when the last frame has left
  Time held_until_{};  // the last time at which frames waited and none was permitted to leave
  std::array<uint32_t, kClasses> max_queued_{};
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_OUTPUT_H_
