// SPDX-License-Identifier: Apache-2.0
// The receiving half of a connection: the expected PSN, and whether an ACK or a NACK is to be sent
// (SUE framework §4.2 steps 4 and 8; wire profile §6, "Receiver" and "Reordering allowance").
#ifndef SUEDE_TRANSPORT_RECEIVE_HALF_H_
#define SUEDE_TRANSPORT_RECEIVE_HALF_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/psn.h"
#include "base/time.h"
#include "transport/early_pdus.h"
#include "transport/params.h"
#include "wire/rh.h"

namespace suede {

// The verdict on a received sequenced PDU.
enum class PsnVerdict : uint8_t { kExpected, kBehind, kAhead };

// The op and rpsn of an outgoing RH.
struct RpsnField {
  RhOp op = RhOp::kNothing;
  Psn rpsn;
};

// Owned by the lcore of its connection; allocates nothing.
class ReceiveHalf {
 public:
  // ---- Sequence.

  PsnVerdict Classify(Psn psn) const {
    const int distance = psn.DistanceFrom(expected_);
    return distance == 0  ? PsnVerdict::kExpected
           : distance > 0 ? PsnVerdict::kAhead
                          : PsnVerdict::kBehind;
  }
  Psn expected() const { return expected_; }
  // Whether the far side may have sent a PDU with this PSN. The answer in an implausible PDU is
  // ignored, so a blind sender has to guess the PSN, too. The PSN of a probe is one ahead of all
  // others.
  bool IsPlausible(Psn psn, const TransportParams& params) const {
    const int announced = peer_window_ != 0 ? peer_window_ : int{kMaxWindowPdus};
    const int early = has_early() ? static_cast<int>(early_->count()) : 0;
    const int span = std::max(announced, static_cast<int>(params.window_pdus)) + early + 1;
    return closed_ || std::abs(psn.DistanceFrom(expected_)) <= span;
  }
  // Delivers the expected PDU.
  void Accept() {
    expected_ = expected_.Next();
    CountAccepted();
    replied_ = pending_ & kNack;  // a pending NACK will name the new expected PSN
  }
  // Accepts no PDUs, and acknowledges none, until Open, which expects `first` next. Keeps the PSNs
  // that have arrived ahead, unless their PDUs are only kept.
  void Close();
  void Open(Psn first);
  bool closed() const { return closed_; }
  // Whether a PDU was ever accepted.
  bool accepted_any() const { return accepted_any_; }
  // PDUs accepted, modulo 2^32; a restart of the far side does not end the count.
  uint32_t rx_pdus() const { return rx_pdus_; }
  // Starts over with PSN 0, as after a restart of the far side. The count of PDUs, SetCounted,
  // SetRecorded, SetTraced and SetPromptAcks remain.
  void Reset();

  // ---- Selective repair (docs/repair.md).

  // Sets whether PDUs ahead of the expected one are accepted, until Reset. `early` outlives this
  // object; null: not.
  void SetSelective(EarlyPdus* early);
  bool is_selective() const { return early_ != nullptr; }
  // Whether PDUs have arrived ahead of the expected one.
  bool has_early() const { return (watched_ & kHasEarly) != 0; }
  // The PDUs that have arrived ahead; only of a selective half.
  EarlyPdus& early() { return *early_; }
  const EarlyPdus& early() const { return *early_; }
  // PSNs from the expected one on that may be accepted: those that the far side may have in flight,
  // so that a blind sender has to guess the PSN. PDUs that have arrived are not in its window.
  int early_span() const {
    return std::min<int>(peer_window_ + static_cast<int>(early_->count()), kPsnBits);
  }
  // Whether a PDU ahead of the expected one is new and may be accepted.
  bool MayAcceptEarly(Psn psn) const {
    return psn.DistanceFrom(expected_) < early_span() && !early_->Has(psn);
  }
  // Accepts a PDU ahead of the expected one.
  void AcceptEarly(Psn psn) {
    NoteKept(psn);
    ++rx_pdus_;
    accepted_any_ = true;
  }
  // Remembers a PDU ahead of the expected one that is kept in its frame.
  void NoteKept(Psn psn) {
    early_->Add(psn);
    Watch(kHasEarly, true);
    ++unanswered_count_;
  }
  // Advances the expected PSN past PDUs that were accepted ahead of it; called after Accept.
  void PassEarly();
  // A kept PDU, the expected one, is accepted now, or forgotten.
  void AcceptKept();
  void ForgetKept(Psn psn);
  // PDUs in front of `psn` are missing; the PDU itself has arrived or not. Requests a report once
  // the reordering allowance is over. Returns whether deadline() has advanced.
  bool OnMissing(Psn psn, Time now, const TransportParams& params);
  // Whether a report is due, or is the form of an acknowledgement.
  bool WantsReport() const { return (pending_ & kReport) != 0 || has_early(); }
  // The marks of the report about to leave, from expected() on; it acknowledges as TakeRpsn does.
  PsnMarks TakeReport();

  // ---- Settings.

  // Sets the window, in PDUs, that the far side has announced; before that, and if it announces
  // none (0), the largest window counts. The widest announced window counts until Reset: PDUs in
  // flight may exceed a window that was reduced.
  void SetPeerWindow(uint32_t pdus) {
    const uint32_t announced =
        pdus == 0 ? kMaxWindowPdus : std::min<uint32_t>(pdus, kMaxWindowPdus);
    peer_window_ = static_cast<uint16_t>(std::max<uint32_t>(peer_window_, announced));
    max_unanswered_ =
        prompt_acks_ ? 1 : static_cast<uint16_t>(std::max<uint32_t>(1, announced / 4));
  }
  // Sets whether the far side's congestion control uses round trips: no acknowledgement waits.
  void SetPromptAcks(bool prompt) {
    if (prompt_acks_ == prompt) return;
    prompt_acks_ = prompt;
    max_unanswered_ = prompt ? 1 : static_cast<uint16_t>(std::max(1, peer_window_ / 4));
  }
  // Sets whether congestion control of either side counts the PDUs that arrive.
  void SetCounted(bool counted) { Watch(kCounted, counted); }
  bool counted() const { return (watched_ & kCounted) != 0; }
  // Sets whether a recording counts the bytes that are accepted.
  void SetRecorded(bool recorded) { Watch(kRecorded, recorded); }
  bool recorded() const { return (watched_ & kRecorded) != 0; }
  // Sets whether a trace takes PDUs that arrive.
  void SetTraced(bool traced) { Watch(kTraced, traced); }
  bool traced() const { return (watched_ & kTraced) != 0; }
  // Whether PDUs that arrive concern more than delivery: counted, recorded, traced, has_gap or
  // awaits_trimmed.
  bool is_watched() const { return watched_ != 0; }

  // ---- Missing PDUs.

  // A PDU ahead of the expected PDU was dropped: requests a NACK, unless one was sent.
  void OnGap(Time now, const TransportParams& params) {
    if (not_ready()) return;
    has_lost_ = true;
    RequestNack(now, params);
  }
  // An unsequenced PDU with a PSN ahead of the expected PSN has arrived: the tail is missing, or
  // was overtaken. If no data arrives for the reordering allowance, OnTimer requests a NACK. An
  // implausible `psn` shows only that the expected PDU is missing. May advance deadline().
  void OnAnnounced(Psn psn, Time now, const TransportParams& params);
  // Time for which data may be overdue before a NACK. The far side's own timeout repairs a lost
  // tail, so the allowance is at least rto_initial until the connection has lost a PDU. It is twice
  // the longest time that recent data was overdue and arrived without a NACK, doubles with each
  // NACK that requested data that was merely late, and is rto_max at most; with selective repair
  // less than the far side's own timeout, so that it measures no timeout.
  Duration ReorderAllowance(const TransportParams& params) const {
    if (params.reorder_allowance == Duration{}) return {};
    const Duration min = has_lost_ ? params.reorder_allowance
                                   : std::max(params.reorder_allowance, params.rto_initial);
    const Duration allowance = std::max(min, Duration(overdue_ns_));
    return is_selective()
               ? std::min(allowance, std::max(params.reorder_allowance, params.rto_min / 2))
               : allowance;
  }
  // Whether CheckGap is to be called whenever PDUs were accepted: an announced PDU has not arrived.
  bool has_gap() const { return (watched_ & kHasGap) != 0; }
  void CheckGap(Time now, const TransportParams& params);
  // A PDU with this PSN has arrived without its commands, as a switch had no room for them.
  // Requests a NACK as soon as the PDUs before it have arrived, at most one in a round trip, which
  // is at least `base_rtt`. There is no proof that the far side sent the PDU. Returns false if the
  // PDU is ignored. May advance deadline().
  bool OnTrimmed(Psn psn, Duration base_rtt, Time now, const TransportParams& params);
  // Whether CheckTrimmed is to be called whenever PDUs were accepted. CheckTrimmed returns whether
  // a NACK is pending now.
  bool awaits_trimmed() const { return (watched_ & kAwaitsTrimmed) != 0; }
  bool CheckTrimmed(Duration base_rtt, Time now);
  // A PDU behind the expected PSN was dropped: acknowledges at once.
  void OnDuplicate(Psn psn, const TransportParams& params) {
    AckNow();
    if (nacked_count_ != 0) [[unlikely]]
      CheckDuplicate(psn, params);
  }

  // ---- No room (docs/control-pdus.md, types 9, 10).

  // The expected PDU found no room: until there is room, gaps cause no NACK.
  void OnRefused();
  // There is room again.
  void OnRoom() { replied_ &= static_cast<uint8_t>(~kNotReady); }
  bool not_ready() const { return (replied_ & kNotReady) != 0; }
  // The wait for a NOT_READY now: longer each time that the same PDU finds no room.
  Duration RefusalWait(const TransportParams& params) const;

  // ---- Acknowledgements.

  // Requests an acknowledgement at once.
  void AckNow() { pending_ |= kAckNow; }
  // Whether a stand-alone PDU should carry the acknowledgement without waiting further.
  bool MustAckNow(const TransportParams& params) const {
    return pending_ != 0 || unanswered_count_ >= params.ack_every_pdus ||
           unanswered_count_ >= max_unanswered_;
  }
  bool HasPendingAck() const { return unanswered_count_ != 0 || pending_ != 0; }
  // The field for a PDU that is about to leave; ends the pending ACK or NACK. A closed half names
  // no PSN: expected() is not of the generation that the far side sends in.
  RpsnField TakeRpsn() {
    const uint8_t pending = pending_;
    if (!has_early()) [[likely]]
      unanswered_count_ = 0;  // else a report acknowledges more
    pending_ = pending & kReport;
    if (closed_ || (!accepted_any_ && (pending & ~kReport) == 0)) return {};
    if ((pending & kNack) != 0) return {RhOp::kNack, expected_};
    return {RhOp::kAck, expected_.Plus(-1)};
  }

  // ---- Time.

  // Time at which OnTimer is due; kNever if no announced PDU is missing.
  Time deadline() const { return has_gap() ? gap_due_ : kNever; }
  // Requests a NACK if announced data is overdue.
  void OnTimer(Time now, const TransportParams& params) {
    if (now >= deadline()) OnGapDue(now, params);
  }
  // Limits a wait that has begun to the changed reordering allowance.
  void OnNewParams(Time now, const TransportParams& params) {
    if (has_gap()) gap_due_ = std::min(gap_due_, now + ReorderAllowance(params));
  }

 private:
  // Bits of watched_, which is tested when PDUs have arrived.
  static constexpr uint8_t kCounted = 1;        // see SetCounted
  static constexpr uint8_t kAwaitsTrimmed = 2;  // trimmed_ has arrived without its commands
  static constexpr uint8_t kHasGap = 4;         // see has_gap
  static constexpr uint8_t kRecorded = 8;       // see SetRecorded
  static constexpr uint8_t kHasEarly = 16;      // see has_early
  static constexpr uint8_t kTraced = 32;        // see SetTraced
  // Bits of pending_ and replied_.
  static constexpr uint8_t kAckNow = 1;    // pending_: an ACK is to be sent at once
  static constexpr uint8_t kNotReady = 1;  // replied_: the expected PDU was refused
  static constexpr uint8_t kNack = 2;      // a NACK is to be sent; was requested at nack_at_
  static constexpr uint8_t kReport = 4;    // pending_: a report is to be sent
  static constexpr uint8_t kMaxRefusals = 16;

  void CountAccepted() {
    ++rx_pdus_;
    ++unanswered_count_;
    accepted_any_ = true;
  }
  void Watch(uint8_t what, bool on) {
    watched_ = static_cast<uint8_t>(on ? watched_ | what : watched_ & ~what);
  }
  // Requests a NACK, unless one was requested within the NACK timeout. Returns whether it does.
  bool RequestNack(Time now, const TransportParams& params);
  bool RequestNackOfTrimmed(Time now, Duration base_rtt);
  void OnGapDue(Time now, const TransportParams& params);
  void RequestReport(Time now, const TransportParams& params);
  void CloseGap() { Watch(kHasGap, false); }
  void CheckDuplicate(Psn psn, const TransportParams& params);
  static void CheckLayout();

  // Members that each PDU uses. They are in one cache line with those of the sending half before
  // them; see Connection.
  uint32_t rx_pdus_ = 0;
  Psn expected_;
  uint16_t peer_window_ = 0;       // the widest that the far side has announced; 0: none yet
  uint16_t unanswered_count_ = 0;  // PDUs accepted since an acknowledgement last left
  uint16_t max_unanswered_ = kMaxWindowPdus;  // count at which the acknowledgement must not wait: a
                                              // quarter of the far side's window
  uint8_t watched_ = 0;
  uint8_t pending_ = 0;  // to be sent
  uint8_t replied_ = 0;  // to the expected PSN
  bool accepted_any_ : 1 = false;
  bool closed_ : 1 = false;  // see Close

  // Members for missing PDUs.
  bool prompt_acks_ = false;  // see SetPromptAcks
  bool has_lost_ = false;     // PDUs of the far side get lost; see ReorderAllowance
  uint8_t refusals_ = 0;      // of the expected PSN refused_, in a row
  Psn refused_;
  Psn trimmed_;                // the first PSN that has arrived without its commands
  uint32_t overdue_ns_ = 0;    // see ReorderAllowance; 0: no data was
  Time nack_at_{};             // when a NACK was last requested
  Time gap_at_{};              // while has_gap(): time of the last check,
  Time gap_due_{};             // time of the NACK,
  Psn gap_begin_;              // expected PSN at the last check,
  Psn gap_end_;                // and the PSN that was announced
  Psn nacked_;                 // the first overdue PDU that a NACK has requested,
  uint16_t nacked_count_ = 0;  // and the number of overdue PDUs
  uint8_t reports_ = 0;        // since the expected PDU has been missing
  Psn report_end_;             // the next report wants PDUs before this one
  EarlyPdus* early_ = nullptr;
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_RECEIVE_HALF_H_
