// SPDX-License-Identifier: Apache-2.0
// The sender's side of a link's credit (docs/link.md): whether a frame may be sent, and the
// CC_Updates that repair losses. Plain state: takes facts and the time, returns updates. Owned by
// the lcore of the queue pair or of the switch.
#ifndef SUEDE_LINK_CREDIT_SENDER_H_
#define SUEDE_LINK_CREDIT_SENDER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/time.h"
#include "link/link_credit.h"

namespace suede {

class CreditSender {
 public:
  // `repeat`: between CC_Updates while credits are in use.
  explicit CreditSender(Duration repeat = std::chrono::microseconds(256)) : repeat_(repeat) {}

  // An epoch begins in which the neighbour grants `grant`, which Permits the largest frame. The
  // link VCs that use credit are closed until the neighbour's first CF_Update.
  void Start(const CreditGrant& grant, Time now);
  // Frames no longer use credit.
  void Stop();
  bool is_on() const { return is_on_; }
  const CreditRule& rule() const { return rule_; }

  // Whether a frame of `credits` credits may be sent.
  bool MaySend(uint32_t vc, uint32_t credits) const {
    return used_[vc] + credits <= limits_[vc] || (controlled_ >> vc & 1) == 0;
  }
  // A frame was sent. MaySend must have been true.
  void OnSent(uint32_t vc, uint32_t credits, Time now) {
    if ((controlled_ >> vc & 1) == 0) return;
    consumed_[vc] = consumed_[vc].Plus(static_cast<int32_t>(credits));
    used_[vc] += credits;
    changed_ |= LinkVcMask{1} << vc;
    if (due_ == kNever) [[unlikely]]
      due_ = now + repeat_;
  }

  // A CF_Update was received.
  CreditVerdict OnFreed(const CreditUpdate& update);

  // The CC_Update that is due, if any.
  std::optional<CreditUpdate> Poll(Time now) {
    if (now < due_) [[likely]]
      return std::nullopt;
    return MakeUpdate(now);
  }
  // The update could not be sent: it is due again.
  void Unsent(Time now) { due_ = now; }
  // When Poll will return an update; kNever: not without further facts.
  Time deadline() const { return due_; }

  // Returns the link VCs whose credit has changed since the last call.
  LinkVcMask TakeChanged() { return std::exchange(changed_, 0); }
  LinkVcMask controlled() const { return controlled_; }
  uint32_t limit(uint32_t vc) const { return limits_[vc]; }
  uint32_t used(uint32_t vc) const { return used_[vc]; }
  uint32_t free(uint32_t vc) const { return limits_[vc] - used_[vc]; }
  Credit20 consumed(uint32_t vc) const { return consumed_[vc]; }
  // Link VCs without a CF_Update in this epoch.
  LinkVcMask waiting() const { return waiting_; }
  // Aborts if a counter is out of its bounds.
  void CheckInvariants() const;

 private:
  std::optional<CreditUpdate> MakeUpdate(Time now);

  const Duration repeat_;
  bool is_on_ = false;
  bool has_update_ = false;   // a CF_Update of the epoch
  uint16_t serial_ = 0;       // of the last CC_Update; continues across epochs
  uint16_t last_serial_ = 0;  // of the last CF_Update
  CreditRule rule_;
  LinkVcMask controlled_ = 0;
  LinkVcMask waiting_ = 0;
  LinkVcMask changed_ = ~LinkVcMask{0};
  Time due_ = kNever;
  std::array<uint32_t, kLinkVcs> limits_{};    // S_CL
  std::array<uint32_t, kLinkVcs> used_{};      // S_CU; of a link VC that waits: all
  std::array<Credit20, kLinkVcs> consumed_{};  // S_CC
};

}  // namespace suede

#endif  // SUEDE_LINK_CREDIT_SENDER_H_
