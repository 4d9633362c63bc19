// SPDX-License-Identifier: Apache-2.0
// The receiver's side of RCCC: credit for all senders of one queue pair, so that together they send
// what the port can receive (docs/congestion.md).
//
// Takes requests, arrivals and the time, returns grants and a deadline; sends nothing, reads no
// clock, allocates in Resize alone. Owned by the lcore of the queue pair. Octets are those on the
// wire of whole frames, as in CongestionContext.
#ifndef SUEDE_CONGESTION_TARGET_H_
#define SUEDE_CONGESTION_TARGET_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "congestion/credit.h"
#include "congestion/params.h"

namespace suede {

class CreditTarget {
 public:
  explicit CreditTarget(const TargetParams& params);

  // Senders have the numbers 0 to `senders` - 1, 65,535 at most; all are unknown then. Allocates:
  // for set-up alone.
  void Resize(uint32_t senders);

  // ---- Facts. A sender whose number is out of range changes nothing.

  void OnRequest(uint32_t sender, const CreditRequest& request, Time now);
  // Frames with sequenced PDUs of the sender have arrived, of `octets` in all; new ones, duplicates
  // and those that are dropped alike.
  void OnArrived(uint32_t sender, uint32_t octets) {
    if (sender >= senders_.size()) [[unlikely]]
      return;
    Sender& from = senders_[sender];
    from.heard = true;
    if (from.charged - from.arrived < octets || from.place == Place::kHeld) [[unlikely]] {
      OnRareArrival(sender, octets);
      return;
    }
    from.arrived += octets;
    outstanding_ -= octets;
  }
  // Its association has ended; what it is granted next begins from nothing.
  void Forget(uint32_t sender);
  // Several queue pairs of one port share its rate: this one has `own_active` of `all_active`
  // senders.
  void SetShare(uint32_t own_active, uint32_t all_active);

  // ---- Grants.

  struct Grant {
    uint32_t sender = 0;
    Credit24 limit;  // cumulative: a grant that is lost is made good by the next one
  };
  // The grant that is due now, if one is; to be called until none is. `room_octets`: what the
  // receive rings can still take, in octets of frames; outstanding credit never exceeds it by a new
  // grant.
  std::optional<Grant> Poll(Time now, uint64_t room_octets);
  // The grant could not be sent: it comes again, at the next call of Poll. To be called before
  // that.
  void Requeue(const Grant& grant);
  // When Poll wants to be called; kNever: not before the next fact. Where the room alone is short,
  // the time has come already.
  Time deadline() const;

  // ---- For gauges.

  // Whether no sender waits for a grant.
  bool idle() const { return ready_count_ == 0 && owed_count_ == 0; }
  // Senders that want more than they were granted.
  uint32_t active() const { return ready_count_ + held_count_; }
  // Octets that were granted for a backlog and have not arrived; the reserves of idle sources do
  // not count.
  uint64_t outstanding() const { return static_cast<uint64_t>(outstanding_); }

  // Aborts where the state contradicts itself; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  static constexpr uint16_t kNone = 0xFFFF;

  // kReady: in the round of those that a grant is due to. kHeld: it wants more, but has so much
  // outstanding that it gets none until some of it arrives.
  enum class Place : uint8_t { kNowhere, kReady, kHeld };

  // A cache line. Octets are cumulative since the association began, as the source counts them.
  struct alignas(64) Sender {
    int64_t granted = 0;    // up to here it may send
    int64_t charged = 0;    // up to here the pacer and `outstanding_` know of it; at most granted
    int64_t arrived = 0;    // or known to be lost; at most charged
    int64_t target = 0;     // up to here it wants to send
    int64_t sent = 0;       // as it said last,
    Time marked_at{};       // and this time ago it had sent
    uint32_t mark = 0;      //   sent - mark
    uint16_t next = kNone;  // in the round, both ways,
    uint16_t previous = kNone;
    bool known = false;  // it has asked, since it was forgotten
    bool heard = false;  // since the last sweep
    bool owed = false;   // an answer that is no new grant
    Place place = Place::kNowhere;
  };

  void OnRareArrival(uint32_t sender, uint32_t octets);

  std::vector<Sender> senders_;
  int64_t outstanding_ = 0;  // sum of charged - arrived
  uint32_t ready_count_ = 0;
  uint32_t held_count_ = 0;
  uint32_t owed_count_ = 0;
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_TARGET_H_
