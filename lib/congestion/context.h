// SPDX-License-Identifier: Apache-2.0
// Congestion control of the sender: the octets that may leave for one {source XPU, destination XPU,
// plane} (docs/congestion.md).
//
// Takes facts and the time, returns an allowance, requests for credit and a deadline; sends
// nothing, reads no clock, allocates nothing. Owned by the lcore of the source's instance. Octets
// are those of the whole frame on the wire, with preamble, FCS and gap (24 octets).
#ifndef SUEDE_CONGESTION_CONTEXT_H_
#define SUEDE_CONGESTION_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "base/time.h"
#include "congestion/base_rtt.h"
#include "congestion/credit.h"
#include "congestion/credit_source.h"
#include "congestion/nscc_window.h"
#include "congestion/params.h"

namespace suede {

// The source's sequenced PDUs that the destination has received since its last echo.
struct EcnEcho {
  uint32_t received = 0;  // including marked and trimmed PDUs
  uint32_t marked = 0;
  uint32_t trimmed = 0;
};

class alignas(64) CongestionContext {
 public:
  // ---- Set-up. Without Start the control is kFixed.

  // An association began: starts, or starts over. `params` is valid for the life of the context or
  // until the next Start, and may change meanwhile: laws use the new values.
  void Start(CongestionControl control, const CongestionParams& params, const PathLimits& path,
             Time now);
  CongestionControl control() const { return control_; }
  // PDUs of up to this many octets are sent from now on. Ignores less than the largest so far: PDUs
  // of that size may still wait.
  void RaiseLargest(uint32_t octets, Time now);

  // The own port's rate has changed.
  void SetRate(uint64_t rate_bps);

  // ---- For each PDU.

  // Whether a PDU, new or retransmitted, of this many octets may leave now.
  bool Allows(uint32_t octets) const { return int64_t{octets} <= limit_ - sent_; }
  // Octets that may leave now. Negative if more was sent than the present allowance.
  int64_t allowance() const { return limit_ - sent_; }
  // One or several sequenced PDUs have left, of `octets` in total, new or retransmitted. May be
  // called beyond the allowance.
  void OnSent(uint32_t octets, Time now) {
    sent_ += octets;
    if (paces_) [[unlikely]]
      PaceNext(octets, now);
  }

  // ---- Answers of the destination.

  // PDUs of `octets` were acknowledged. `rtt`: of the newest, if it was sent only once.
  // `nothing_in_flight`: no PDU is without acknowledgement now.
  void OnAcked(uint32_t octets, std::optional<Duration> rtt, bool nothing_in_flight, Time now) {
    if (control_ != CongestionControl::kFixed) Acknowledge(octets, rtt, nothing_in_flight, now);
  }
  // PDUs of `octets` that were in flight will be retransmitted, after a NACK or a timeout. They no
  // longer count as in flight, and count as sent again when they leave. PDUs of other connections
  // stay in flight.
  void OnGoBack(uint32_t octets, Time now);
  // PDUs of `octets` that were in flight have ended otherwise, which is no evidence about the
  // network.
  void OnEnded(uint32_t octets, Time now);
  // To be called before OnAcked if an echo arrives with an acknowledgement.
  void OnEcho(const EcnEcho& echo);
  // RCCC: the destination permits sending up to `limit`. Ignores stragglers, and credit that was
  // never requested. Ignored under other controls.
  void OnGrant(Credit24 limit, Time now);

  // ---- Time.

  // When OnTimer is due; kNever: not before the next fact.
  Time deadline() const { return deadline_; }
  // The caller then checks the allowance again, and calls PollRequest.
  void OnTimer(Time now);

  // RCCC: the request that is due, if any; the caller sends it, or treats it as lost. `backlog`:
  // octets that wait for this destination and plane, new and to be retransmitted; a data path that
  // knows only part of them adds the octets of a round trip. To be called as long as there is a
  // backlog, and otherwise after OnTimer and OnAcked. Returns none under other controls.
  std::optional<CreditRequest> PollRequest(uint64_t backlog, Time now) {
    if (control_ != CongestionControl::kRccc) return std::nullopt;
    return RequestCredit(backlog, now);
  }

  // ---- For gauges and lists.

  // The window; RCCC: remaining credit. 0 for kFixed, and if credit is overdrawn.
  uint64_t window_octets() const;
  // Octets sent and not acknowledged; 0 for kFixed, which does not count them.
  uint64_t in_flight() const {
    return control_ == CongestionControl::kFixed ? 0 : static_cast<uint64_t>(sent_ - acked_);
  }
  // The smallest recent round trip; initially at most the configured value.
  Duration base_rtt() const { return base_rtt_.value(); }
  // "fixed"; of RCCC "idle", "granted", "asking", "speculating"; of NSCC "open", "paced".
  std::string_view state_name() const;

  // Aborts if the state contradicts itself; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  void Acknowledge(uint32_t octets, std::optional<Duration> rtt, bool nothing_in_flight, Time now);
  std::optional<CreditRequest> RequestCredit(uint64_t backlog, Time now);
  // NSCC: computes the allowance from the window, and the time of the next allowance.
  void ApplyWindow(Time now);
  void PaceNext(uint32_t octets, Time now);

  // The fields that each PDU and each acknowledgement use: a cache line. Octets are cumulative.
  int64_t sent_ = 0;
  int64_t limit_ = INT64_MAX;
  int64_t acked_ = 0;  // the part of sent_ that is not in flight: acknowledged, or to be
                       // retransmitted
  Time deadline_ = kNever;
  CongestionControl control_ = CongestionControl::kFixed;
  bool paces_ = false;   // NSCC: the window is less than a PDU
  bool marked_ = false;  // an echo with marks has arrived since the last acknowledgement
  uint32_t largest_ = 0;
  uint32_t dither_ = 0;  // NSCC: of the allowance, within a PDU
  const CongestionParams* params_ = nullptr;
  Time pace_due_{};  // while paces_: no PDU before this time

  BaseRtt base_rtt_;
  std::variant<std::monostate, CreditSource, NsccWindow> law_;  // by control_
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_CONTEXT_H_
