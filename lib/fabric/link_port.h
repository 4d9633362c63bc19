// SPDX-License-Identifier: Apache-2.0
// The switch's end of a link with its neighbour (docs/link.md): the frames that leave a port, and
// their order. The switch keeps a numbered frame until the neighbour has received it; copies of it
// leave.
#ifndef SUEDE_FABRIC_LINK_PORT_H_
#define SUEDE_FABRIC_LINK_PORT_H_

#include <cstdint>
#include <memory>

#include "base/time.h"
#include "fabric/output.h"
#include "link/credit_end.h"
#include "link/link_end.h"
#include "port/frame.h"

namespace suede::fabric {

class LinkPort {
 public:
  // `largest_octets`: of frames that leave.
  LinkPort(const LinkParams& params, uint32_t largest_octets) : end_(params) {
    if (params.credit.cbfc) credit_ = std::make_unique<CreditEnd>(params, largest_octets);
  }

  // Whether the link has no part in the frame, received or to be sent.
  bool Ignores(const Frame& frame) const { return end_.Ignores(frame); }
  // Takes a received frame that the link does not ignore. Returns false if the frame was the
  // link's, or is dropped: it ends.
  bool OnReceive(Frame& frame, Time now);
  // Handles expired timers. To be called before frames leave.
  void Poll(Time now) {
    if (stale_ || now >= end_.deadline()) [[unlikely]]
      PollEnd(now);
  }
  // Whether Poll would do nothing, and no frame of the link leaves.
  bool IsQuiet(Time now) const { return !stale_ && !is_full() && now < deadline(now); }
  // Publishes the gauges of credit.
  void ShowCredit() {
    if (credit_ != nullptr) credit_->Show(end_.counters());
  }
  // Whether Take may return a frame, or the output's next frame has to wait.
  bool HasOwn(Time now) const {
    return end_.HasNext(now) || (credit_ != nullptr && credit_->HasUpdate(now)) ||
           end_.ToSend(0) != nullptr || waiting_ != nullptr;
  }
  // Takes the output's next frame, which the link does not ignore: Take will return it. HasOwn must
  // be false.
  void Hold(Frame* frame) { waiting_ = frame; }
  // The frame that leaves next: a frame of the link, or a held frame. `spare`: an empty frame, for
  // the first and for a numbered frame. If `spare` was used and no frame leaves, the caller calls
  // again.
  struct Next {
    Frame* frame = nullptr;  // null: no frame leaves now
    bool used_spare = false;
  };
  Next Take(Frame* spare, Time now);
  // The output is emptied: returns the frame that waits outside it, which ends, too; null: none.
  Frame* TakeWaiting() { return std::exchange(waiting_, nullptr); }

  // Frames that the neighbour has received, which end. The caller then calls ClearEnded.
  std::span<Frame* const> ended() const { return end_.ended(); }
  void ClearEnded() { end_.ClearEnded(); }

  // When the port has a frame to send or an expired timer, if it may send; kNever: never.
  Time deadline(Time now) const {
    return end_.ToSend(0) != nullptr ? now : std::min(end_.deadline(), credit_deadline());
  }
  // Whether the output's next frame has to wait for the neighbour.
  bool is_full() const { return waiting_ != nullptr; }
  // Frames inside.
  uint32_t frames() const { return end_.sender().held() + (waiting_ != nullptr ? 1 : 0); }

  LinkEnd& end() { return end_; }
  const LinkEnd& end() const { return end_; }
  // Null: frames use no credit.
  CreditEnd* credit() { return credit_.get(); }
  const CreditEnd* credit() const { return credit_.get(); }

 private:
  // When an update may be due; a CC_Update is not due while a frame waits.
  Time credit_deadline() const {
    if (credit_ == nullptr) return kNever;
    return is_full() ? credit_->receiver().deadline() : credit_->deadline();
  }
  void PollEnd(Time now);
  Next TakeUpdate(Frame* spare, Time now);
  static bool Copy(const Frame& from, Frame* to);

  LinkEnd end_;
  std::unique_ptr<CreditEnd> credit_;
  Frame* waiting_ = nullptr;  // removed from its queue, and not taken yet
  // A link frame or a numbered frame has passed since the last PollEnd: the session and the gauges
  // may have changed.
  bool stale_ = true;
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_LINK_PORT_H_
