// SPDX-License-Identifier: Apache-2.0
// The receiver's side of RCCC: credit for all senders of one queue pair, so that together they send
// no more than the port can receive (docs/congestion.md).
//
// Takes requests, arrivals and the time, returns grants and a deadline; sends nothing, reads no
// clock, allocates only in Resize. Owned by the lcore of the queue pair. Octets are those of whole
// frames on the wire, as in CongestionContext.
#ifndef SUEDE_CONGESTION_TARGET_H_
#define SUEDE_CONGESTION_TARGET_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "congestion/credit.h"
#include "congestion/grant_pacer.h"
#include "congestion/params.h"

namespace suede {

class CreditTarget {
 public:
  explicit CreditTarget(const TargetParams& params);

  // Senders have the numbers 0 to `senders` - 1, max 65,535 senders; initially all are unknown.
  // Allocates: only for set-up.
  void Resize(uint32_t senders);

  // ---- Facts. A fact of a sender whose number is out of range is ignored.

  void OnRequest(uint32_t sender, const CreditRequest& request, Time now);
  // Frames without a grant, such as the requests themselves, use part of the rate as well.
  void OnUngranted(uint32_t octets) { pacer_.Charge(octets); }
  // Frames with sequenced PDUs of the sender have arrived, of `octets` in total, including
  // duplicate and dropped PDUs.
  void OnArrived(uint32_t sender, uint32_t octets) {
    if (sender >= senders_.size()) [[unlikely]]
      return;
    Sender& from = senders_[sender];
    from.has_arrived = true;
    from.arrived += octets;
    const uint32_t closed = std::min(octets, from.open);
    from.open -= closed;
    outstanding_ -= closed;
    if (from.place >= Place::kHeld) [[unlikely]]
      Release(sender);
  }
  // The sender's association has ended; the next starts without history.
  void Forget(uint32_t sender);
  // The port receives at another rate from now on; the other parameters are unchanged. Visits all
  // senders.
  void SetRate(const TargetParams& params);
  // Several queue pairs of one port share its rate by their claims; `claims`: of the others.
  // Divides, so not for each PDU.
  void SetOthers(uint32_t claims) {
    shares_ = claims != 0;
    const uint32_t own = active() - stalled_count_;
    pacer_.SetShare(own, own + claims);
  }
  // Number of senders by which this queue pair claims part of the port's rate: all that request
  // credit, except stalled senders. 0 while no sender can be granted credit, for whatever reason,
  // and the time of the granted octets is over: the others have the rate meanwhile.
  uint32_t claims() const { return waits_ ? 0 : active() - stalled_count_; }

  // ---- Grants.

  struct Grant {
    uint32_t sender = 0;
    Credit24 limit;  // cumulative, so that the next grant repairs a lost one
  };
  // The grant that is due now, if any; to be called until none is. `room_octets`: room of the
  // receive rings, in octets of frames. With a new grant, outstanding credit does not exceed it,
  // not counting credit that was unused for four base RTTs.
  std::optional<Grant> Poll(Time now, uint64_t room_octets);
  // The grant could not be sent. Poll returns it again at once, so the caller polls only when it
  // has room.
  void Requeue(const Grant& grant);
  // When Poll is due; kNever: not before the next fact. If only room is lacking, Poll is due
  // already.
  Time deadline() const;

  // ---- For gauges.

  // Whether no grant is due, now or later, without another fact.
  bool idle() const { return ready_count_ == 0 && scheduled_count_ == 0; }
  // Senders that request more than they were granted.
  uint32_t active() const { return ready_count_ + held_count_ + stalled_count_; }
  // The part of the port's rate that senders are granted.
  uint64_t rate_bps() const { return pacer_.rate_bps(); }
  // Octets that were granted for a backlog and have not arrived. The reserves of idle sources do
  // not count.
  uint64_t outstanding() const { return static_cast<uint64_t>(outstanding_); }

  // Aborts if the state contradicts itself; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  static constexpr uint16_t kNone = 0xFFFF;

  // kReady: in the round of senders that are granted credit. kHeld: requests more, but gets no
  // credit until some of its outstanding octets arrive. kStalled: held for long.
  enum class Place : uint8_t { kNowhere, kReady, kHeld, kStalled };

  // A cache line. Octets are cumulative since the association began, as the source counts them,
  // unless stated otherwise.
  struct alignas(64) Sender {
    int64_t granted = 0;        // the sender's limit
    int64_t arrived = 0;        // octets that have arrived, or are known to be lost
    int64_t sent = 0;           // octets sent, by its last request,
    Time marked_at{};           // and octets sent by this time:
    uint32_t since_mark = 0;    //   sent - since_mark
    uint32_t want = 0;          // beyond `granted`: its requested octets, and its reserve
    uint32_t uncharged = 0;     // the last octets of `granted`, not charged to the pacer
    uint32_t open = 0;          // charged octets that have not arrived, and will
    Time granted_at{};          // the last grant, new or repeated
    uint16_t next = kNone;      // in the round,
    uint16_t previous = kNone;  // both ways
    uint16_t next_scheduled = kNone;
    Place place : 2 = Place::kNowhere;
    uint8_t stragglers : 2 = 0;    // requests in a row that seemed overtaken
    bool known : 1 = false;        // has requested credit since it was forgotten
    bool has_arrived : 1 = false;  // since the last sweep
    bool is_due : 1 = false;       // the current limit is to be sent again
    bool starts : 1 = false;       // has had no turn since it entered the round
    uint8_t rest = 0;              // credit too small for a PDU, in units of credit
  };
  static_assert(sizeof(Sender) == 64);

  void TakeRate(const TargetParams& params);

  // ---- Requests.
  void Learn(Sender& from, const CreditRequest& request, Time now);
  // Returns false if the request is older than another, or inconsistent.
  bool Follow(Sender& from, const CreditRequest& request, Time now);
  // Settles losses: PDUs that were sent before the mark have arrived by now, or are lost. `sent`:
  // by now.
  void SettleLosses(Sender& from, int64_t sent, Time now);
  bool IsGrantDue(const Sender& from, const CreditRequest& request, uint32_t want, int64_t sent,
                  Time now) const;
  void Activate(uint32_t sender, Time now);
  // The limit that the source's backlog needs, without its reserve and the unit of its rounding up.
  int64_t NeedOf(const Sender& from) const {
    return from.granted + from.want - reserve_ - kCreditUnitOctets;
  }
  // Charges the pacer with granted octets that will be sent, except a rest too small for a PDU.
  void Charge(Sender& from);

  // ---- Grants.
  Grant GrantScheduled(Time now);
  std::optional<Grant> GrantTurn(Time now, uint64_t room_octets);
  std::nullopt_t NoRoom(Time now);
  uint32_t TurnOf(uint32_t sender) const;
  bool GoesFirst(const Sender& from, Time now) const;
  void ScheduleGrant(uint32_t sender);
  void Release(uint32_t sender);
  void Sweep(Time now);
  void WriteOff(uint32_t sender);
  // Marks senders that do not use their granted credit as stalled.
  void DetectStall(Sender& from, Time now);

  // ---- The round: a circular list of ready senders, and the sender whose turn it is.
  void Enter(uint32_t sender);
  void Leave(uint32_t sender);
  void Deactivate(uint32_t sender);
  void LeaveHeld(Sender& held);
  void SetOpen(Sender& from, int64_t octets);

  std::vector<Sender> senders_;
  GrantPacer pacer_;
  int64_t outstanding_ = 0;  // the sum of `open`
  int64_t stuck_ = 0;        // the part of outstanding_ that is not used
  int64_t blocked_at_ = -1;  // outstanding_ when room was lacking,
  Time blocked_since_{};     // and since when it has not changed
  uint32_t ready_count_ = 0;
  uint32_t held_count_ = 0;
  uint32_t stalled_count_ = 0;
  bool waits_ = false;   // no sender could be granted credit at the last poll
  bool shares_ = false;  // others claim part of the rate
  Duration unused_{};    // part of the claimed time, when waits_ began
  uint32_t scheduled_count_ = 0;
  uint16_t turn_ = kNone;
  uint16_t went_first_ = kNone;  // went before others, none of which has had a turn since
  uint16_t scheduled_head_ = kNone;
  uint16_t scheduled_tail_ = kNone;
  uint32_t slice_;    // octets of a turn
  uint32_t hold_;     // max outstanding octets of a sender
  uint32_t reserve_;  // of an idle source
  uint32_t largest_;
  Duration base_rtt_;
  Duration late_;  // a target that is polled later than this loses turns
  Duration age_;
  Duration sweep_every_{};
  Time sweep_due_{};
  uint32_t sweep_next_ = 0;
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_TARGET_H_
