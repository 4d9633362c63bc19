// SPDX-License-Identifier: Apache-2.0
// The sending half of a connection: PSNs and window, go-back-N, retransmission timeout, pauses, a
// lost far side (SUE framework §4.2 steps 4 and 8; wire profile §6, "Sender").
#ifndef SUEDE_TRANSPORT_SEND_HALF_H_
#define SUEDE_TRANSPORT_SEND_HALF_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/psn.h"
#include "base/time.h"
#include "pdu/pdu_list.h"
#include "transport/backoff.h"
#include "transport/in_flight.h"
#include "transport/params.h"
#include "transport/probes.h"
#include "transport/round_trip.h"

namespace suede {

// The meaning of a received rpsn.
enum class RpsnVerdict : uint8_t {
  kNothingNew,   // no new information
  kProgress,     // PDUs were acknowledged
  kResumed,      // the connection had been lost and is in step again
  kOutOfWindow,  // names a PSN that was never sent: changes no state
};

// The request of the retransmission timer.
enum class TimerVerdict : uint8_t {
  kNothing,
  kRetransmit,   // PDUs are to be retransmitted now
  kUnreachable,  // the configured tries have failed: call GiveUp and notify the clients
  kProbe,        // the connection is lost: probe the far side for its expected PSN
};

// The time from a go-back, or a repair, until all PDUs then in flight are acknowledged. Another in
// that time belongs to the same recovery.
struct Recovery {
  uint32_t pdus = 0;  // sent again, at most 65,535
  Duration took{};
};

// Owned by the lcore of its connection; allocates nothing.
class SendHalf {
 public:
  const InFlight& in_flight() const { return in_flight_; }
  const RoundTrip& round_trip() const { return round_trip_; }
  Probes& probes() { return probes_; }

  // ---- Sending new PDUs.

  // Whether a new PDU of `bytes` bytes of commands may be sent now.
  bool CanSend(uint32_t bytes, const TransportParams& params) const {
    return in_flight_.count() < WindowOf(params) &&
           (in_flight_.bytes() + bytes <= params.window_bytes || in_flight_.empty()) &&
           !in_flight_.HasRetransmission() && (paused_ | lost_ | frozen_) == 0;
  }
  // Max new PDUs that the window in PDUs permits if CanSend is true for the first.
  uint32_t WindowLeft(const TransportParams& params) const {
    return WindowOf(params) - in_flight_.count();
  }
  // Max bytes of commands in these PDUs.
  uint32_t BytesLeft(const TransportParams& params) const {
    return params.window_bytes - in_flight_.bytes();
  }
  // Assigns the next PSN but `ahead` to a PDU. OnSend must follow.
  [[gnu::always_inline]] void Number(Pdu* pdu, uint32_t ahead, Time now) const {
    in_flight_.Number(pdu, ahead, now);
  }
  // Keeps `count` numbered PDUs in a row, with `bytes` bytes of commands in total, until they are
  // acknowledged. Empties the list.
  [[gnu::always_inline]] void OnSend(PduList& pdus, uint32_t count, uint32_t bytes, Time now,
                                     const TransportParams& params) {
    const bool first = in_flight_.empty();
    in_flight_.Append(pdus, count, bytes);
    tx_pdus_ += count;
    if (first) Rearm(now, params);
  }
  // Numbers and keeps a single PDU.
  void OnSend(Pdu* pdu, Time now, const TransportParams& params) {
    Number(pdu, 0, now);
    PduList one;
    one.PushBack(pdu);
    OnSend(one, 1, pdu->bytes, now, params);
  }
  // The psn of an unsequenced PDU that is no probe. A lost connection uses a PSN that is not ahead
  // of the far side's expected PSN: the far side must not answer it.
  Psn UnsequencedPsn() const { return lost_ ? in_flight_.oldest_psn() : in_flight_.next_psn(); }

  // ---- Retransmission.

  // Notes that frames take another path from now on, with another round trip. If the connection has
  // timed out on the former path, goes back at once and resets the tries. Returns whether it does.
  bool OnNewPath(Time now, const TransportParams& params);
  // Whether PDUs that left on the former path are unacknowledged. To be called about once in a
  // round trip.
  bool UpdateFormerPath() {
    if (!has_former_path_) return false;
    if (former_path_end_.IsAfter(in_flight_.oldest_psn())) return true;
    has_former_path_ = false;
    return false;
  }
  // Whether the connection has gone back since the last call: all PDUs in flight are retransmitted.
  bool TakeGoBack() {
    const bool went_back = went_back_;
    went_back_ = false;
    return went_back;
  }
  // The next PDU to retransmit, in order; it stays in flight. There has to be one.
  Pdu* TakeRetransmission(Time now, const TransportParams& params);
  // Counts a PDU of TakeRetransmission that was in fact sent.
  void CountRetransmission() {
    ++retransmissions_;
    if (resent_ != UINT16_MAX) ++resent_;
  }
  // Returns each recovery once. To be called whenever PDUs were acknowledged. A recovery that ends
  // with GiveUp is not returned.
  std::optional<Recovery> TakeRecovery(Time now) {
    if (!recovering_) [[likely]]
      return std::nullopt;
    if (in_flight_.oldest_psn().IsBefore(recovery_end_)) return std::nullopt;
    recovering_ = false;
    return Recovery{.pdus = resent_, .took = now - went_back_at_};
  }

  // ---- Answers of the far side to PDUs. Acknowledged PDUs are moved to `acked`.

  RpsnVerdict OnAck(Psn rpsn, Time now, const TransportParams& params, PduList& acked);
  // A NACK inside the window starts a retransmission, once per round trip for the same rpsn, and
  // before a round trip was measured once per retransmission timeout.
  RpsnVerdict OnNack(Psn rpsn, Time now, const TransportParams& params, PduList& acked);
  // The far side expects `expected` next, has some PSNs behind it, and wants others again
  // (docs/repair.md). Sets `again` to the PDUs that are
  // retransmitted therefore: not those that left too recently for the report to count. PDUs that
  // have arrived stay in flight, without their bytes.
  RpsnVerdict OnRepair(Psn expected, const PsnMarks& marks, Time now, const TransportParams& params,
                       PduList& acked, InFlight::Wanted& again);
  // The far side had no room for PSN `psn`: pauses for `wait`, kMaxPause at most, which is not
  // counted as a try. A wait that has begun does not change. `wait` 0: not specified
  // (docs/control-pdus.md, types 9, 10).
  RpsnVerdict OnNotReady(Psn psn, Duration wait, Time now, const TransportParams& params,
                         PduList& acked);
  // The far side has room again: PDUs that were not accepted are retransmitted at once.
  void OnReady(Psn psn, Time now);
  // Whether the connection waits because the far side was not ready.
  bool paused() const { return paused_; }
  // Notes that a PDU with an implausible psn has arrived.
  void OnImplausible() { out_of_step_ = true; }
  // Whether the far side has named PSNs that were never sent, or sent implausible PSNs, since its
  // last acknowledgement. If the tries are used up as well, both sides are out of step.
  bool desynchronized() const { return out_of_step_; }
  // Whether a PDU was ever acknowledged.
  bool acked_any() const { return acked_any_; }

  // ---- Time.

  // Time at which OnTimer is due; kNever if nothing is outstanding.
  Time deadline() const { return deadline_; }
  // Timeouts in a row.
  uint32_t tries() const { return tries_; }
  // Whether OnTimer would count a try: PDUs are unanswered, and have timed out.
  bool TimesOut(Time now) const {
    return now >= deadline_ && !in_flight_.empty() && !lost_ && !frozen_ && !paused_ &&
           !nack_deferred_;
  }
  // Restarts the retransmission timeout, without counting a try, as at a time at which no answer
  // could arrive yet.
  [[gnu::always_inline]] void Rearm(Time now, const TransportParams& params) {
    nack_deferred_ = false;
    deadline_ = in_flight_.empty() ? kNever
                                   : now + Backoff(round_trip_.rto(params), tries_, params.rto_max);
  }
  TimerVerdict OnTimer(Time now, const TransportParams& params);
  // Limits waits that have begun to changed parameters, except waits that the far side has
  // requested.
  void OnNewParams(Time now, const TransportParams& params);

  // ---- Loss of the far side.

  // Gives up all PDUs in flight (to `given_up`). The connection is then lost: it sends nothing new
  // and requests probes. The answer to a probe is a NACK, which names the PSN that the far side
  // expects; PSNs go on from that PSN, so that no PDU is delivered twice or mistaken for another.
  void GiveUp(Time now, const TransportParams& params, PduList& given_up);
  bool lost() const { return lost_; }
  // The psn of the next probe, an unsequenced PDU in the class of the VC probes().vc().
  Psn ProbePsn() const { return probes_.PsnFor(in_flight_.next_psn()); }

  // ---- Death and return of a plane (docs/planes.md, "Failover").

  // Sends nothing until Restart; acknowledgements still count meanwhile.
  void Freeze();
  bool frozen() const { return frozen_; }
  // The far side has accepted all PDUs before `expected`, and will accept no more. Moves these PDUs
  // to `acked`. Returns false if `expected` is ahead of all sent PDUs.
  bool OnFenced(Psn expected, Time now, const TransportParams& params, PduList& acked);
  // A report about the fence of this frozen connection has come, and was passed to OnRepair.
  void OnFenceReport() { fence_reported_ = true; }
  bool fence_reported() const { return fence_reported_; }
  // Gives up the PDUs in flight (to `given_up`), in doubt.
  void Abandon(PduList& given_up);
  // Moves the PDUs in flight to `rest`, in order, and continues with `first`.
  void Restart(Psn first, PduList& rest);
  // Gives up all PDUs in flight (to `given_up`) and starts over with PSN 0, as after a restart of
  // the far side. Counts of PDUs go on.
  void Reset(PduList& given_up);

  // ---- PDUs in flight on a dead path: they are no load of its plane.

  // Sets all bytes in flight aside. Returns how many of them were not set aside before.
  uint32_t SetAside();
  bool has_aside() const { return has_aside_; }
  // Ends SetAside. Returns the bytes that were set aside.
  uint32_t TakeBack();

  // ---- Measurements.

  // Whether a round trip was measured since the last call.
  bool TakeMeasured() { return std::exchange(measured_, false); }
  // PDUs sent for the first time, and retransmissions, both modulo 2^32; a restart of the far side
  // does not end the counts.
  uint32_t tx_pdus() const { return tx_pdus_; }
  uint32_t retransmissions() const { return retransmissions_; }

  // Aborts if the state contradicts itself; for tests and fuzzers.
  void CheckInvariants(const TransportParams& params) const;

 private:
  // Max PDUs in flight: PDUs that have arrived do not count for the window, within the PSNs that
  // the far side keeps apart.
  uint32_t WindowOf(const TransportParams& params) const {
    if (!has_arrived_) [[likely]]
      return params.window_pdus;
    return std::min(params.window_pdus + arrived_count_, kPsnBits);
  }
  void CountArrived(uint32_t count, bool arrives);
  // Handles an rpsn that names `expected` on a lost connection.
  RpsnVerdict OnAnswer(Psn expected, Time now, const TransportParams& params);
  // Checks whether `named`, the next PSN in the far side's view, which is `ahead` of the oldest PDU
  // in flight, was ever sent.
  void CheckNamed(Psn named, int ahead, const TransportParams& params);
  // Moves the `count` oldest PDUs to `acked`.
  void Acknowledge(uint32_t count, Time now, const TransportParams& params, PduList& acked);
  // Goes back because of a NACK of `rpsn`.
  void GoBackFor(Psn rpsn, Time now);
  void GoBack(Time now);
  void BeginRecovery(Time now);

  // Members that few PDUs use. They come first, so that the others, and those of the receiving half
  // behind them, are one cache line; see Connection.
  Time timeout_due_{};   // while nack_deferred_
  Time nack_at_{};       // time of the last NACK that caused a go-back
  Time went_back_at_{};  // while recovering_
  RoundTrip round_trip_;
  uint32_t retransmissions_ = 0;
  uint32_t aside_bytes_ = 0;      // see SetAside
  Psn former_path_end_;           // the first PSN that left on the present path
  Psn recovery_end_;              // next_psn at the last go-back
  Psn nack_psn_;                  // rpsn of the last NACK that caused a go-back
  uint16_t former_max_pdus_ = 0;  // max PDUs in flight when the parameters were changed
  uint16_t arrived_count_ = 0;    // while has_arrived_: PDUs in flight that have arrived
  uint16_t resent_ = 0;           // PDUs, in the present recovery, at most
  Probes probes_;                 // while lost_

  // Members that each PDU or acknowledgement uses.
  InFlight in_flight_;
  Time deadline_ = kNever;
  uint32_t tx_pdus_ = 0;
  uint8_t tries_ = 0;
  // The flags that keep the connection from sending are tested together.
  bool lost_ : 1 = false;         // see GiveUp; in_flight_.count() PDUs are in doubt
  bool paused_ : 1 = false;       // the far side is not ready; deadline_ ends the pause
  bool frozen_ : 1 = false;       // see Freeze
  bool out_of_step_ : 1 = false;  // see desynchronized
  bool has_aside_ : 1 = false;    // aside_bytes_ is not 0
  bool retransmission_rearms_ : 1 =
      false;                        // the timeout restarts when the oldest PDU is sent again
  bool nack_deferred_ : 1 = false;  // deadline_ is that of a NACK; timeout_due_ is behind it
  bool has_nack_ : 1 = false;       // nack_psn_ and nack_at_ are valid
  bool acked_any_ : 1 = false;
  bool has_former_path_ : 1 = false;  // PDUs before former_path_end_ may be unacknowledged
  bool went_back_ : 1 = false;        // see TakeGoBack
  bool recovering_ : 1 = false;       // since a go-back or a repair; see Recovery
  bool repairing_ : 1 = false;        // PDUs before recovery_end_ may wait there for others
  bool fence_reported_ : 1 = false;   // see OnFenceReport
  bool has_arrived_ : 1 = false;      // PDUs in flight have arrived, ahead of others
  bool measured_ = false;             // see TakeMeasured
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_SEND_HALF_H_
