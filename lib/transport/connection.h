// SPDX-License-Identifier: Apache-2.0
// One connection's sequencing in both directions: PSNs, ACK and NACK, go-back-N, timers (SUE
// framework §4.2 steps 4 and 8, wire profile §6).
//
// Takes facts and the time, returns verdicts and a deadline; sends nothing, frees nothing, reads no
// clock. Owned by one lcore. A connection owns its PDUs until it returns them.
#ifndef SUEDE_TRANSPORT_CONNECTION_H_
#define SUEDE_TRANSPORT_CONNECTION_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/psn.h"
#include "base/time.h"
#include "pdu/pdu_list.h"
#include "transport/params.h"
#include "wire/rh.h"

namespace suede {

// The meaning of a received rpsn.
enum class RpsnVerdict : uint8_t {
  kNothingNew,   // no new information
  kProgress,     // PDUs were acknowledged
  kResumed,      // the connection had been lost and is in step again
  kOutOfWindow,  // names a PSN that was never sent: changes no state
};

// The verdict on a received sequenced PDU.
enum class PsnVerdict : uint8_t { kExpected, kBehind, kAhead };

// The request of the retransmission timer.
enum class TimerVerdict : uint8_t {
  kNothing,
  kRetransmit,   // PDUs are to be retransmitted now
  kUnreachable,  // the configured tries have failed: call GiveUp and notify the clients
  kProbe,        // the connection is lost: probe the far side for its expected PSN
};

// The op and rpsn of an outgoing RH.
struct RpsnField {
  RhOp op = RhOp::kNothing;
  Psn rpsn;
};

// Returns the round trip measured by an acknowledgement of `newest` and the PDUs before it;
// nullopt: `newest` was sent twice (Karn).
inline std::optional<Duration> RttSample(const Pdu& newest, Time now) {
  return newest.retransmitted ? std::nullopt : std::optional<Duration>(now - newest.sent_at);
}

// The time from a go-back until all PDUs then in flight are acknowledged. Another go-back in that
// time belongs to the same recovery.
struct Recovery {
  uint32_t pdus = 0;  // sent again
  Duration took{};
};

class alignas(64) Connection {
 public:
  // ---- Sending new PDUs.

  // Whether a new PDU of `bytes` of commands may be sent now.
  bool CanSend(uint32_t bytes, const TransportParams& params) const {
    return unacked_count_ < params.window_pdus &&
           (unacked_bytes_ + bytes <= params.window_bytes || unacked_count_ == 0) &&
           retransmit_next_ == nullptr && (paused_ | lost_ | frozen_) == 0;
  }
  // Max new PDUs that the window in PDUs permits if CanSend is true for the first.
  uint32_t WindowLeft(const TransportParams& params) const {
    return params.window_pdus - unacked_count_;
  }
  // Whether a PDU of `bytes` may be sent behind PDUs of `ahead` bytes that are about to be sent.
  bool HasBytesFor(uint32_t ahead, uint32_t bytes, const TransportParams& params) const {
    return unacked_bytes_ + ahead + bytes <= params.window_bytes;
  }
  // Sequences the PDU: assigns the next PSN, and keeps the PDU until it is acknowledged.
  void OnSend(Pdu* pdu, Time now, const TransportParams& params);
  // Sequences `count` PDUs in a row, with `bytes` bytes of commands in total. Empties the list.
  void OnSend(PduList& pdus, uint32_t count, uint32_t bytes, Time now,
              const TransportParams& params);
  // The PSN of the next new PDU; also the psn of an unsequenced PDU.
  Psn next_psn() const { return next_psn_; }

  // ---- Going back.

  bool HasRetransmission() const { return retransmit_next_ != nullptr; }
  const Pdu* next_retransmission() const { return retransmit_next_; }
  // The connection's frames take another path from now on, with another round trip. If the
  // connection has timed out on the former path, goes back at once and resets the tries. Returns
  // whether it does.
  bool OnNewPath(Time now, const TransportParams& params);
  // Whether PDUs that left on the former path are unacknowledged. To be called about once in a
  // round trip.
  bool UpdateFormerPath() {
    if (has_former_path_ && !former_path_end_.IsAfter(oldest_unacked())) has_former_path_ = false;
    return has_former_path_;
  }
  // Whether the connection has gone back since the last call: all PDUs in flight are retransmitted.
  bool TakeGoBack() { return std::exchange(went_back_, false); }
  // The next PDU to retransmit, in order; it stays on the connection.
  Pdu* TakeRetransmission(Time now, const TransportParams& params);
  // To be called whenever PDUs were acknowledged; returns each recovery once. A recovery that ends
  // with GiveUp is not returned.
  std::optional<Recovery> TakeRecovery(Time now) {
    if (!recovering_) [[likely]]
      return std::nullopt;
    return EndRecovery(now);
  }

  // ---- Answers of the far side to our PDUs. Acknowledged PDUs are moved to `acked`.

  // Whether the far side may have sent a PDU with this PSN. The answer in an implausible PDU is
  // ignored, so a blind sender has to guess the PSN, too. The PSN of a probe is one ahead of all
  // others.
  bool IsPlausible(Psn psn, const TransportParams& params) const {
    const int told = peer_window_ != 0 ? peer_window_ : int{kMaxWindowPdus};
    const int span = std::max(told, static_cast<int>(params.window_pdus)) + 1;
    return receive_closed_ || std::abs(psn.DistanceFrom(expected_)) <= span;
  }
  // The far side has announced its window; before that, and if it announces none, the largest
  // window counts. The widest announced window counts until Reset: PDUs in flight may exceed a
  // window that was reduced.
  void SetPeerWindow(uint32_t pdus) {
    const uint32_t told = pdus == 0 ? kMaxWindowPdus : std::min<uint32_t>(pdus, kMaxWindowPdus);
    peer_window_ = static_cast<uint16_t>(std::max<uint32_t>(peer_window_, told));
    ack_at_ = prompt_acks_ ? 1 : static_cast<uint16_t>(std::max<uint32_t>(1, told / 4));
  }
  // The far side's congestion control uses round trips: no acknowledgement waits.
  void SetPromptAcks(bool prompt) {
    if (prompt_acks_ == prompt) return;
    prompt_acks_ = prompt;
    ack_at_ = prompt ? 1 : static_cast<uint16_t>(std::max(1, peer_window_ / 4));
  }
  // Congestion control of either side counts the PDUs that arrive.
  void SetCounted(bool counted) { Watch(kCounted, counted); }
  bool counted() const { return (watched_ & kCounted) != 0; }
  // A PDU with an implausible PSN has arrived.
  void OnImplausible() { out_of_step_ = true; }
  // Whether the far side has named PSNs that were never sent, or sent implausible PSNs, since its
  // last acknowledgement. If the tries are used up as well, both sides are out of step.
  bool desynchronized() const { return out_of_step_; }

  RpsnVerdict OnAck(Psn rpsn, Time now, const TransportParams& params, PduList& acked);
  // A NACK inside the window starts a retransmission, once per round trip for the same rpsn, and
  // before a round trip was measured once per retransmission timeout.
  RpsnVerdict OnNack(Psn rpsn, Time now, const TransportParams& params, PduList& acked);
  // The far side had no room for PSN `psn`: pauses for `wait`, which is not counted as a try. A
  // wait that has begun does not change. `wait` 0: not specified.
  RpsnVerdict OnNotReady(Psn psn, Duration wait, Time now, const TransportParams& params,
                         PduList& acked);
  // The far side has room again: PDUs that were not accepted are retransmitted at once.
  void OnReady(Psn psn, Time now);

  // ---- Receiving.

  PsnVerdict Classify(Psn psn) const {
    const int distance = psn.DistanceFrom(expected_);
    return distance == 0  ? PsnVerdict::kExpected
           : distance > 0 ? PsnVerdict::kAhead
                          : PsnVerdict::kBehind;
  }
  Psn expected() const { return expected_; }
  // The expected PDU was delivered.
  void Accept() {
    expected_ = expected_.Next();
    ++rx_pdus_;
    ++ack_owed_;
    accepted_any_ = true;
    nack_sent_ = nack_pending_;  // a pending NACK will name the new expected PSN
    not_ready_ = false;
  }
  // A PDU ahead of the expected PDU was dropped: requests a NACK, unless one was sent.
  void OnGap(Time now, const TransportParams& params) {
    if (not_ready_) return;
    loses_ = true;
    WantNack(now, params);
  }
  // An unsequenced PDU with a PSN ahead of the expected PSN has arrived: the tail is missing, or
  // was overtaken. If no data arrives for the reordering allowance, OnTimer requests a NACK. An
  // implausible `psn` shows only that the expected PDU is missing.
  void OnAnnounced(Psn psn, Time now, const TransportParams& params);
  // How long data may be overdue before a NACK. The far side's own timeout repairs a lost tail, so
  // the allowance is at least rto_initial until the connection has lost a PDU. It is twice the
  // longest time that recent data was overdue and arrived without a NACK, doubles with each NACK
  // that requested data that was merely late, and is rto_max at most.
  Duration ReorderAllowance(const TransportParams& params) const {
    if (params.reorder_allowance == Duration{}) return {};
    const Duration min =
        loses_ ? params.reorder_allowance : std::max(params.reorder_allowance, params.rto_initial);
    return std::max(min, Duration(overdue_ns_));
  }
  // Whether CheckGap is to be called whenever PDUs were accepted: an announced PDU has not arrived.
  bool has_gap() const { return (watched_ & kHasGap) != 0; }
  void CheckGap(Time now, const TransportParams& params);
  // A PDU with this PSN has arrived without its commands, as a switch had no room for them.
  // Requests a NACK as soon as the PDUs before it have arrived, at most one in a round trip, which
  // is at least `base_rtt`. There is no proof that the far side sent the PDU. Returns false if the
  // PDU is ignored. May advance `deadline`.
  bool OnTrimmed(Psn psn, Duration base_rtt, Time now, const TransportParams& params);
  // Whether CheckTrimmed is to be called whenever PDUs were accepted. CheckTrimmed returns whether
  // a NACK is pending now.
  bool awaits_trimmed() const { return (watched_ & kAwaitsTrimmed) != 0; }
  // Whether PDUs that arrive concern more than delivery.
  bool is_watched() const { return watched_ != 0; }
  bool CheckTrimmed(Duration base_rtt, Time now);
  // Acknowledges at once.
  void AckNow() { ack_now_ = true; }
  // A PDU behind the expected PSN was dropped: acknowledges at once.
  void OnDuplicate(Psn psn, const TransportParams& params) {
    ack_now_ = true;
    if (nacked_count_ != 0) [[unlikely]]
      CheckDuplicate(psn, params);
  }
  // The expected PDU found no room: until there is room, gaps cause no NACK.
  void OnRefused() {
    if (refused_ != expected_) refusals_ = 0;
    refused_ = expected_;
    if (refusals_ < kMaxRefusals) ++refusals_;
    not_ready_ = true;
  }
  // The wait for a NOT_READY now: longer each time that the same PDU finds no room.
  Duration RefusalWait(const TransportParams& params) const;
  // There is room again.
  void OnRoom() { not_ready_ = false; }
  bool not_ready() const { return not_ready_; }

  // ---- Fields of outgoing PDUs.

  // Whether a stand-alone PDU should carry the acknowledgement without waiting further.
  bool MustAckNow(const TransportParams& params) const {
    return ack_now_ || nack_pending_ || ack_owed_ >= params.ack_every_pdus || ack_owed_ >= ack_at_;
  }
  bool HasPendingAck() const { return ack_owed_ != 0 || ack_now_ || nack_pending_; }
  // The field for a PDU that is about to leave; ends the pending ACK or NACK.
  RpsnField TakeRpsn();

  // ---- Time.

  // When OnTimer is due; kNever if nothing is outstanding.
  Time deadline() const { return std::min(deadline_, gap_due_); }
  // Whether OnTimer would count a try: PDUs are unanswered, and have timed out.
  bool TimesOut(Time now) const {
    return now >= deadline_ && unacked_count_ != 0 && !lost_ && !frozen_ && !paused_ &&
           !nack_deferred_;
  }
  // The caller knows that no answer could arrive yet: waits again, without counting a try.
  void PutOff(Time now, const TransportParams& params) { Rearm(now, params); }
  // The oldest PDU without an acknowledgement; null: all are acknowledged.
  Pdu* oldest() const { return unacked_.head(); }
  // An acknowledgement may be pending afterwards.
  TimerVerdict OnTimer(Time now, const TransportParams& params);
  // The parameters were changed: no wait that has begun lasts longer than `params` permit, except
  // waits that the far side has requested.
  void OnNewParams(Time now, const TransportParams& params);

  // ---- Losing the far side.

  // Gives up all PDUs in flight (to `given_up`). The connection is then lost: it sends nothing new
  // and requests probes. The answer to a probe is a NACK, which names the PSN that the far side
  // expects; PSNs go on from that PSN, so that no PDU is delivered twice or mistaken for another.
  // Given-up PDUs may still be in flight, and be accepted after an answer was sent: a probe follows
  // them, in the class of each of their VCs in turn, and the connection resumes after at least two
  // equal answers to two probes.
  void GiveUp(Time now, const TransportParams& params, PduList& given_up);
  // The probe is an unsequenced PDU with this PSN, the next PDU's plus one, in the class of
  // ProbeVc's PDUs. The far side may be elsewhere in the number space, and answers only PSNs ahead
  // of its own: every second probe has the PSN after the PSN that the far side has named, or tries
  // one quarter after the other.
  Psn ProbePsn() const {
    if ((probes_ & 1) == 0) return next_psn_.Plus(1);
    return names_other_ ? named_.Plus(1) : next_psn_.Plus(1 + ((probes_ / 2 % 3 + 1) << 14));
  }
  uint8_t ProbeVc() const;
  // The probe has left. `held`: the device has not returned the given-up PDUs. A device that
  // returns them late does not keep the connection lost, but more answers are needed then.
  void OnProbeSent(bool held);
  // The PSN of an unsequenced PDU that is no probe. A lost connection uses a PSN that is not ahead
  // of the far side's expected PSN: the far side must not answer it.
  Psn UnsequencedPsn() const { return lost_ ? oldest_unacked() : next_psn_; }
  // The last PDU in flight; null: none is.
  const Pdu* newest() const { return unacked_.tail(); }
  bool lost() const { return lost_; }
  // Whether the connection waits because the far side was not ready.
  bool paused() const { return paused_; }

  // ---- Death and return of a plane (docs/planes.md).

  // The oldest PSN without an acknowledgement; the next PSN if all are acknowledged.
  Psn oldest_unacked() const { return next_psn_.Plus(-static_cast<int>(unacked_count_)); }
  // Sends nothing until Restart; acknowledgements still count meanwhile.
  void Freeze();
  bool frozen() const { return frozen_; }
  // Whether the far side may have accepted PDUs that it has not acknowledged.
  bool InDoubt() const { return unacked_count_ != 0; }
  // The far side has accepted all PDUs before `expected`, and will accept no more. Moves these PDUs
  // to `acked`. Returns false if `expected` is ahead of all sent PDUs.
  bool OnFenced(Psn expected, Time now, const TransportParams& params, PduList& acked);
  // Gives up the PDUs in flight (to `given_up`), in doubt.
  void Abandon(PduList& given_up);
  // Moves the PDUs in flight to `rest`, in order, and continues with `first`.
  void Restart(Psn first, PduList& rest);
  // The receiving side accepts no PDUs until OpenReceive.
  void CloseReceive() { receive_closed_ = true; }
  void OpenReceive(Psn first);
  bool receive_closed() const { return receive_closed_; }

  // ---- Starting over.

  // Whether a PDU was ever accepted.
  bool accepted_any() const { return accepted_any_; }
  // Whether a PDU of either direction was ever accepted or acknowledged.
  bool HasHistory() const { return accepted_any_ || acked_any_; }
  // HasHistory, or the far side may have received PDUs that it has not acknowledged.
  bool MayHaveHistory() const { return HasHistory() || unacked_count_ != 0; }
  // Gives up all PDUs in flight (to `given_up`) and starts over with PSN 0 in both directions, as
  // after a restart of the far side.
  void Reset(PduList& given_up);

  // Whether a PDU of the VC is in flight.
  bool Carries(uint8_t vc) const {
    const Pdu* pdu = unacked_.head();
    while (pdu != nullptr && pdu->vc != vc) pdu = pdu->next;
    return pdu != nullptr;
  }

  // ---- PDUs in flight on a dead path: they are no load of its plane.

  // Sets all bytes in flight aside. Returns how many of them were not set aside before.
  uint32_t SetAside();
  bool has_aside() const { return has_aside_; }
  // Ends SetAside. Returns the bytes that were set aside.
  uint32_t TakeBack();

  uint32_t unacked_count() const { return unacked_count_; }
  uint32_t unacked_bytes() const { return unacked_bytes_; }
  // The smallest recent round trip; 0 until one was measured.
  Duration min_rtt() const { return Duration(min_rtt_ns_); }
  // Smoothed round-trip time; 0 until one was measured.
  Duration srtt() const { return Duration(srtt_ns_); }
  // Whether a round trip was measured since the last call.
  bool TakeMeasured() { return std::exchange(measured_, false); }
  Duration rto(const TransportParams& params) const;
  uint32_t tries() const { return tries_; }

  // ---- Counts of PDUs that the connection has carried, modulo 2^32; a restart of the far side
  // does not end the count.

  // The PDU of TakeRetransmission was in fact retransmitted.
  void CountRetransmission() {
    ++retransmissions_;
    ++resent_;
  }
  uint32_t tx_pdus() const { return tx_pdus_; }  // for the first time
  uint32_t rx_pdus() const { return rx_pdus_; }
  uint32_t retransmissions() const { return retransmissions_; }

  // Aborts if the state contradicts itself; for tests and fuzzers.
  void CheckInvariants(const TransportParams& params) const;

 private:
  // The verdict on an rpsn that names `expected`, if the connection is lost.
  RpsnVerdict OnAnswer(Psn expected, Time now, const TransportParams& params);
  void Resume();
  // The far side names `named` as the next PSN, which is `ahead` of the oldest in flight.
  void NoteStep(Psn named, int ahead, const TransportParams& params);
  // Returns whether a NACK is to be sent.
  bool WantNack(Time now, const TransportParams& params);
  bool WantNackOfTrimmed(Time now, Duration base_rtt);
  void OnGapDue(Time now, const TransportParams& params);
  void CloseGap();
  void CheckDuplicate(Psn psn, const TransportParams& params);
  // Moves the `count` oldest PDUs to `acked`.
  void Acknowledge(uint32_t count, Time now, const TransportParams& params, PduList& acked);
  void Watch(uint8_t what, bool on) {
    watched_ = static_cast<uint8_t>(on ? watched_ | what : watched_ & ~what);
  }
  void OnRttSample(Duration sample, const TransportParams& params);
  void NoteRtt(Duration rtt);
  // A NACK is heeded: goes back.
  void GoBackTo(Psn rpsn, Time now);
  void GoBack(Time now);
  std::optional<Recovery> EndRecovery(Time now);
  void Rearm(Time now, const TransportParams& params);

  // Members that each PDU of either direction uses: one cache line.
  PduList unacked_;
  Pdu* retransmit_next_ = nullptr;
  Time deadline_ = kNever;
  uint32_t unacked_bytes_ = 0;
  uint16_t unacked_count_ = 0;
  Psn next_psn_;
  Psn expected_;
  uint16_t ack_owed_ = 0;             // PDUs accepted since an acknowledgement last left,
  uint16_t ack_at_ = kMaxWindowPdus;  // and the count that must not wait: a quarter of the far
                                      // side's window
  uint16_t peer_window_ = 0;          // the widest that the far side has announced; 0: none yet
  uint32_t tx_pdus_ = 0;
  uint32_t rx_pdus_ = 0;
  // The flags that keep the connection from sending are tested together.
  bool lost_ : 1 = false;           // see GiveUp; unacked_count_ PDUs before next_psn_ are in doubt
  bool paused_ : 1 = false;         // the far side is not ready; deadline_ ends the pause
  bool frozen_ : 1 = false;         // see Freeze
  bool resend_rearms_ : 1 = false;  // the timeout restarts when the oldest PDU is retransmitted
  bool names_other_ : 1 = false;    // the far side has named a PSN that was never sent: named_
  bool out_of_step_ : 1 = false;    // see desynchronized
  bool accepted_any_ : 1 = false;
  bool has_aside_ : 1 = false;  // aside_bytes_ is not 0
  // Bits of watched_, which is tested when PDUs have arrived.
  static constexpr uint8_t kCounted = 1;        // see SetCounted
  static constexpr uint8_t kAwaitsTrimmed = 2;  // trimmed_ has arrived without its commands
  static constexpr uint8_t kHasGap = 4;         // see has_gap
  static constexpr uint8_t kMaxRefusals = 16;
  uint8_t watched_ = 0;
  uint8_t tries_ = 0;                // timeouts in a row
  bool receive_closed_ = false;      // see CloseReceive
  bool ack_now_ = false;
  bool nack_pending_ = false;
  bool nack_sent_ = false;  // for expected_, at nack_at_
  bool not_ready_ = false;

  // Other members that acknowledgements use.
  uint32_t srtt_ns_ = 0;
  uint32_t rttvar_ns_ = 0;
  uint32_t min_rtt_ns_ = 0;    // see min_rtt
  Psn former_path_end_;        // the first PSN that left on the present path,
  bool has_former_path_ = false;  // while PDUs before it may be unacknowledged
  Time gap_due_ = kNever;      // see OnAnnounced
  bool acked_any_ = false;
  bool measured_ = false;     // see TakeMeasured
  bool recovering_ = false;   // since a go-back; see Recovery
  bool nack_deferred_ = false;  // deadline_ is that of a NACK to heed; timeout_due_ is behind it
  bool went_back_ = false;    // see TakeGoBack
  bool prompt_acks_ = false;  // see SetPromptAcks
  uint8_t refusals_ = 0;      // of the expected PSN refused_, in a row
  bool nack_heeded_ = false;  // for nack_obeyed_psn_, at nack_obeyed_at_
  bool loses_ = false;        // the far side's PDUs get lost; see ReorderAllowance
  Psn nack_obeyed_psn_;
  Psn recovery_end_;
  Time nack_obeyed_at_{};
  Time nack_at_{};
  Time timeout_due_{};  // while nack_deferred_
  Time went_back_at_{};  // while recovering_
  uint32_t resent_ = 0;
  uint32_t retransmissions_ = 0;
  Psn gap_end_;                 // the PSN that was announced,
  Psn gap_begin_;               // and the expected PSN at the last check,
  Time gap_at_{};               // and the time of that check
  uint32_t overdue_ns_ = 0;     // see ReorderAllowance; 0: no data was
  Psn refused_;
  Psn nacked_;                  // the first overdue PDU that a NACK has requested,
  uint16_t nacked_count_ = 0;   // and the number of overdue PDUs
  Psn trimmed_;                 // the first PSN that has arrived without its commands
  uint16_t was_in_flight_ = 0;  // max PDUs in flight when the parameters were changed
  uint32_t aside_bytes_ = 0;    // see SetAside
  // While lost_.
  bool probing_ : 1 = false;  // a probe has left, and has no answer yet
  bool held_ : 1 = false;     // see OnProbeSent
  uint8_t probes_ = 0;
  uint8_t answers_ = 0;       // equal answers in a row
  uint8_t given_up_vcs_ = 0;  // a mask
  Psn answer_;
  Psn named_;

  static void CheckLayout();
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_CONNECTION_H_
