// SPDX-License-Identifier: Apache-2.0
// One output of a switch: a queue for each class, with levels for each level of it, ECN, the peer's
// PFC, the rate. Owned by the lcore of the port.
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

  // Takes a frame that the buffer has admitted for the queue; its note has its bytes in the buffer.
  void Push(Frame* frame, const FrameView& view);
  // Whether the rate permits another frame now.
  bool MaySend(Time now) const { return rate_bps_ == 0 || free_at_ <= now; }
  // Updates the queues that are held up. To be called each time before frames are taken.
  void Update(Time now) {
    now_ = now;
    held_ = pauses_.Paused(static_cast<ClassMask>(waiting_), now);
    if (credit_ != nullptr) [[unlikely]] {
      lacked_credit_ = without_credit_;
      CheckCredit();
    }
  }
  // Takes the next frame from its queue and the buffer; null: no waiting frame may leave.
  Frame* Pop(Time now);
  // Takes a frame of a queue in a storm, to be dropped; null: none.
  Frame* PopStormy() {
    const QueueMask lost = stormy() & waiting_;
    return lost == 0 ? nullptr : TakeStormy(lost);
  }
  // Takes a frame that has waited too long, to be dropped; null: none.
  Frame* PopOld(Time now) {
    const QueueMask left = waiting_ & aging_;
    return left == 0 ? nullptr : TakeOld(left, now);
  }
  const DropNote& too_old() const { return too_old_; }
  // Takes any frame, whatever holds it up; null: none.
  Frame* PopAny();

  void OnPfc(const PfcFrame& pfc, Time now) { pauses_.OnFrame(pfc, now); }
  // When a frame may leave, or a pause or storm changes; kNever: never. As of the last Update.
  Time deadline(Time now) const;

  uint32_t queued_frames(uint32_t queue) const { return queues_[queue].size(); }
  uint32_t max_queued_bytes(uint32_t queue) const { return max_queued_[queue]; }
  // Resets the high-water marks to the present values.
  void ResetMax() {
    for (uint32_t queue = 0; queue < params_.queue_count(); ++queue) {
      max_queued_[queue] = buffer_.queued(port_, queue);
    }
  }
  QueueMask waiting() const { return waiting_; }
  // Whether Update would do nothing, without PFC, and Pop return no frame.
  bool is_empty() const { return (waiting_ | without_credit_ | starved_) == 0; }
  const PfcReceiver& pauses() const { return pauses_; }
  // Queues whose first frame waits for credit, as of the last Update.
  QueueMask without_credit() const { return without_credit_; }
  // Queues in a storm, by pauses or for want of credit: their frames are to be dropped. As of the
  // last Update.
  QueueMask stormy() const { return pauses_.stormy() | starved_; }

 private:
  static constexpr int64_t kPatience = 4096;

  WaitCause CauseOf(uint32_t queue) const;
  void Mark(Frame* frame, const FrameView& view, uint32_t depth);
  Frame* Take(uint32_t queue);
  Frame* TakeStormy(QueueMask lost);
  Frame* TakeOld(QueueMask left, Time now);
  void CheckCredit();
  void CheckFirst(uint32_t queue);
  void NoteWithoutCredit(uint32_t queue);
  void Spend(uint32_t queue, Time now);

  const SwitchParams& params_;
  const uint32_t port_;
  const uint64_t rate_bps_;
  const bool levels_;
  SharedBuffer& buffer_;
  ClassCounters& counters_;
  QueueMask waiting_ = 0;
  QueueMask held_ = 0;  // by the peer
  QueueMask without_credit_ = 0;
  QueueMask lacked_credit_ = 0;     // in front of the last Update
  QueueMask starved_ = 0;           // without credit for too long: in a storm
  CreditSender* credit_ = nullptr;  // null: the port has no credit-based flow control
  LinkCounters* link_counters_ = nullptr;  // null if credit_ is
  // The credit that the first frame of a queue needs, as of the last check; or that the last frame
  // dropped in a storm needed.
  struct Need {
    uint8_t link_vc = 0;  // with levels the queue
    uint32_t credits = 0;
    Time since = kNever;  // since when the frame has no credit; kNever: it has credit
  };
  Time storm_due_ = kNever;  // of the first queue without credit
  std::span<CreditReceiver* const> inputs_;
  Time now_{};           // of the last Update
  QueueMask aging_ = 0;  // queues whose frames may become too old
  // Part of the max wait after which frames are dropped, of kPatience. Ports of devices differ:
  // those whose queues wait for each other in a circle would drop all frames of it at once, and
  // again when these were sent again at once.
  int64_t patience_ = kPatience;
  DropNote too_old_;
  ClassScheduler scheduler_;
  PfcReceiver pauses_;
  Random random_;
  Time free_at_{};     // when the last frame has left
  Time held_until_{};  // the last time at which frames waited and none was permitted to leave
  std::array<FrameFifo, kMaxQueues> queues_;
  std::array<uint32_t, kMaxQueues> max_queued_{};
  std::array<Need, kMaxQueues> needs_{};
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_OUTPUT_H_
