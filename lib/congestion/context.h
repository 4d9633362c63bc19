// SPDX-License-Identifier: Apache-2.0
// Congestion control of the sender: how much may leave for one {source XPU, destination XPU, plane}
// (docs/congestion.md).
//
// Takes facts and the time, returns an allowance, requests for credit and a deadline; sends
// nothing, reads no clock, allocates nothing. Owned by the lcore of the source's instance. Octets
// are those on the wire of the whole frame, with preamble, FCS and gap (24 octets).
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

// The source's sequenced PDUs that the destination has seen since its last echo.
struct EcnEcho {
  uint32_t received = 0;  // marked and trimmed ones included
  uint32_t marked = 0;
  uint32_t trimmed = 0;
};

class alignas(64) CongestionContext {
 public:
  // ---- Set-up. Without Start it is kFixed.

  // An association began: starts, or starts over. `params` outlives the context or the next Start,
  // and may change meanwhile: laws take the new values as they go.
  void Start(CongestionControl control, const CongestionParams& params, const PathLimits& path,
             Time now);
  CongestionControl control() const { return control_; }
  // PDUs of up to this many octets are sent from now on. Less than the largest so far changes
  // nothing: PDUs of that size may wait still.
  void RaiseLargest(uint32_t octets, Time now);

  // The own port has another rate from now on.
  void SetRate(uint64_t rate_bps);

  // ---- For each PDU.

  // Whether a PDU, new or sent again, of this many octets may leave now.
  bool Allows(uint32_t octets) const { return int64_t{octets} <= limit_ - sent_; }
  // Octets that may leave now. Negative where the allowance shrank behind what was sent.
  int64_t allowance() const { return limit_ - sent_; }
  // Sequenced PDUs have left, one or several, of `octets` in all: new ones and those that are sent
  // again alike. It may be called beyond the allowance.
  void OnSent(uint32_t octets, Time now) {
    sent_ += octets;
    if (paces_) [[unlikely]]
      PaceNext(octets, now);
  }

  // ---- Answers of the destination.

  // PDUs of `octets` were acknowledged. `rtt`: that of the newest one, where it was sent once.
  // `nothing_in_flight`: no PDU is without acknowledgement now.
  void OnAcked(uint32_t octets, std::optional<Duration> rtt, bool nothing_in_flight, Time now) {
    if (control_ != CongestionControl::kFixed) Acknowledge(octets, rtt, nothing_in_flight, now);
  }
  // PDUs of `octets` that were in flight are going to be sent again: by a NACK, or as nothing was
  // heard for long. They count as in flight no longer, and as sent once more when they leave. PDUs
  // of other connections stay in flight.
  void OnGoBack(uint32_t octets, Time now);
  // PDUs of `octets` that were in flight have ended otherwise, which says nothing of the network.
  void OnEnded(uint32_t octets, Time now);
  // To be called before OnAcked where an echo comes with an acknowledgement.
  void OnEcho(const EcnEcho& echo);
  // RCCC: the destination permits to send up to `limit`. Stragglers, and credit that was never
  // asked for, change nothing. Under another control nothing does.
  void OnGrant(Credit24 limit, Time now);

  // ---- Time.

  // When OnTimer wants to be called; kNever: not before the next fact.
  Time deadline() const { return deadline_; }
  // Then look at the allowance again, and ask PollRequest.
  void OnTimer(Time now);

  // RCCC: the request that is due, if one is; the caller sends it, or lets it be lost.
  // `backlog`: octets that wait for this destination and plane, new and to be sent again; a data
  // path that sees only part of what waits adds the octets of a round trip. To be called as long as
  // there is a backlog, and after OnTimer and OnAcked where there is none. Nothing under another
  // control.
  std::optional<CreditRequest> PollRequest(uint64_t backlog, Time now) {
    if (control_ != CongestionControl::kRccc) return std::nullopt;
    return RequestCredit(backlog, now);
  }

  // ---- For gauges and lists.

  // The window; RCCC: credit that is left. 0 for kFixed, and where credit is overdrawn.
  uint64_t window_octets() const;
  // Octets sent and not acknowledged; 0 for kFixed, which does not count them.
  uint64_t in_flight() const {
    return control_ == CongestionControl::kFixed ? 0 : static_cast<uint64_t>(sent_ - acked_);
  }
  // The smallest round trip of late, and at first at most the configured one.
  Duration base_rtt() const { return base_rtt_.value(); }
  // "fixed"; of RCCC "idle", "granted", "asking", "speculating"; of NSCC "open", "paced".
  std::string_view state_name() const;

  // Aborts where the state contradicts itself; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  void Acknowledge(uint32_t octets, std::optional<Duration> rtt, bool nothing_in_flight, Time now);
  std::optional<CreditRequest> RequestCredit(uint64_t backlog, Time now);
  // NSCC: the allowance that the window leaves, and by when there will be another.
  void ApplyWindow(Time now);
  void PaceNext(uint32_t octets, Time now);

  // The fields that each PDU and each acknowledgement touch: a cache line. Octets are cumulative.
  int64_t sent_ = 0;
  int64_t limit_ = INT64_MAX;
  int64_t acked_ = 0;  // all of sent_ that is not in flight: acknowledged, or to be sent again
  Time deadline_ = kNever;
  CongestionControl control_ = CongestionControl::kFixed;
  bool paces_ = false;   // NSCC: the window is less than a PDU
  bool marked_ = false;  // an echo with marks has come since the last acknowledgement
  uint32_t largest_ = 0;
  uint32_t dither_ = 0;  // NSCC: of the allowance, within a PDU
  const CongestionParams* params_ = nullptr;
  Time pace_due_{};  // while paces_: no PDU before this time

  BaseRtt base_rtt_;
  std::variant<std::monostate, CreditSource, NsccWindow> law_;  // by control_
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_CONTEXT_H_
