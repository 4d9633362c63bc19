// SPDX-License-Identifier: Apache-2.0
// The receiver's side of a link's credit (docs/link.md): counts frames in and out of its buffer,
// and sends freed credit in CF_Updates. Plain state: takes facts and the time, returns updates.
// Owned by the lcore of the queue pair or of the switch.
#ifndef SUEDE_LINK_CREDIT_RECEIVER_H_
#define SUEDE_LINK_CREDIT_RECEIVER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/time.h"
#include "link/link_credit.h"

namespace suede {

class CreditReceiver {
 public:
  // `grant`: the credit that the buffer has room for.
  CreditReceiver(const CreditGrant& grant, const CreditTimes& times);

  // An epoch begins. Frames that are held stay counted.
  void Start();
  // The neighbour's frames no longer use credit.
  void Stop();
  bool is_on() const { return is_on_; }
  const CreditGrant& grant() const { return grant_; }

  // Counts a received frame, and returns its credits; 0: the frame uses none, as it was sent before
  // its sender had begun to count, and OnDrained must not be called for it.
  uint32_t OnFrame(uint32_t vc, uint32_t octets) {
    if ((started_ >> vc & 1) == 0) return 0;
    const uint32_t credits = grant_.rule.CreditsOf(octets);
    counted_[vc] = counted_[vc].Plus(static_cast<int32_t>(credits));
    held_[vc] += credits;
    changed_ |= LinkVcMask{1} << vc;
    return credits;
  }
  // Whether the sender has kept to its credit: the held credits are within the limit.
  bool IsWithin(uint32_t vc) const { return held_[vc] <= grant_.limits[vc]; }
  // Frames for which OnFrame has returned `credits` in total have left the buffer.
  void OnDrained(uint32_t vc, uint32_t credits, Time now) {
    held_[vc] -= credits;
    changed_ |= LinkVcMask{1} << vc;
    if ((started_ >> vc & 1) != 0) ScheduleUpdate(vc, now);
  }

  // A CC_Update was received.
  CreditVerdict OnConsumed(const CreditUpdate& update, Time now);

  // The CF_Update that is due, if any.
  std::optional<CreditUpdate> Poll(Time now) {
    if (now < due_) [[likely]]
      return std::nullopt;
    return MakeUpdate();
  }
  // The update could not be sent: it is due again.
  void Unsent(const CreditUpdate& update, Time now) {
    forced_ |= update.vcs & started_;
    if (forced_ != 0) due_ = now;
  }
  // When Poll will return an update; kNever: not without further facts.
  Time deadline() const { return due_; }

  uint32_t held(uint32_t vc) const { return held_[vc]; }
  Credit20 counted(uint32_t vc) const { return counted_[vc]; }
  // R_CF.
  Credit20 freed(uint32_t vc) const { return counted_[vc].Plus(-static_cast<int32_t>(held_[vc])); }
  // Free credits that no CF_Update has announced.
  uint32_t unannounced(uint32_t vc) const {
    return static_cast<uint32_t>(freed(vc).DistanceFrom(announced_[vc]));
  }
  // Returns the link VCs whose held credit has changed since the last call.
  LinkVcMask TakeChanged() { return std::exchange(changed_, 0); }
  // Link VCs whose sender has begun to count.
  LinkVcMask started() const { return started_; }
  // Aborts if a counter is out of its bounds.
  void CheckInvariants() const;

 private:
  void ScheduleUpdate(uint32_t vc, Time now);
  bool Take(uint32_t vc, Credit20 consumed, bool starts, CreditVerdict& verdict);
  std::optional<CreditUpdate> MakeUpdate();

  const CreditGrant grant_;
  const Duration max_wait_;
  const LinkVcMask granted_;  // link VCs that use credit during an epoch
  bool is_on_ = false;
  bool has_update_ = false;   // a CC_Update of the epoch
  uint16_t serial_ = 0;       // of the last CF_Update; continues across epochs
  uint16_t last_serial_ = 0;  // of the last CC_Update
  LinkVcMask controlled_ = 0;
  LinkVcMask started_ = 0;
  LinkVcMask forced_ = 0;  // link VCs to announce, whatever was announced before
  LinkVcMask stale_ = 0;   // link VCs with more free credit than was announced
  LinkVcMask changed_ = ~LinkVcMask{0};
  Time due_ = kNever;
  std::array<Credit20, kLinkVcs> counted_{};    // R_CC
  std::array<uint32_t, kLinkVcs> held_{};       // R_CC - R_CF
  std::array<Credit20, kLinkVcs> announced_{};  // R_CF of the last CF_Update
  std::array<uint32_t, kLinkVcs> spacings_{};   // credits that make a CF_Update due at once
  std::array<uint8_t, kLinkVcs> refused_{};     // implausible CC_Updates in a row
};

}  // namespace suede

#endif  // SUEDE_LINK_CREDIT_RECEIVER_H_
