// SPDX-License-Identifier: Apache-2.0
#include "transport/send_half.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace suede {

bool SendHalf::OnNewPath(Time now, const TransportParams& params) {
  round_trip_.OnNewPath();
  former_path_end_ = in_flight_.next_psn();
  has_former_path_ = !in_flight_.empty();
  if (tries_ == 0 || in_flight_.empty() || paused_ || lost_ || frozen_) return false;
  tries_ = 0;
  GoBack(now);
  Rearm(now, params);
  return true;
}

Pdu* SendHalf::TakeRetransmission(Time now, const TransportParams& params) {
  if (retransmission_rearms_ && in_flight_.RetransmitsOldest()) {
    retransmission_rearms_ = false;
    Rearm(now, params);
  }
  return in_flight_.TakeRetransmission(now);
}

RpsnVerdict SendHalf::OnAck(Psn rpsn, Time now, const TransportParams& params, PduList& acked) {
  const int ahead = in_flight_.DistanceFromOldest(rpsn.Next());
  if (ahead <= 0 || ahead > static_cast<int>(in_flight_.count()) || lost_) [[unlikely]] {
    CheckNamed(rpsn.Next(), ahead, params);
    if (lost_) probes_.OnAck(rpsn.Next());
    return ahead > static_cast<int>(in_flight_.count()) ? RpsnVerdict::kOutOfWindow
                                                        : RpsnVerdict::kNothingNew;
  }
  Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  return RpsnVerdict::kProgress;
}

RpsnVerdict SendHalf::OnNack(Psn rpsn, Time now, const TransportParams& params, PduList& acked) {
  if (lost_) [[unlikely]]
    return OnAnswer(rpsn, now, params);
  const int ahead = in_flight_.DistanceFromOldest(rpsn);
  CheckNamed(rpsn, ahead, params);
  if (ahead > static_cast<int>(in_flight_.count())) return RpsnVerdict::kOutOfWindow;
  if (ahead < 0) return RpsnVerdict::kNothingNew;  // the past: overtaken by a later ACK
  if (ahead > 0) Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  const RpsnVerdict verdict = ahead > 0 ? RpsnVerdict::kProgress : RpsnVerdict::kNothingNew;
  if (in_flight_.empty() || paused_ || frozen_) return verdict;
  const bool measured = round_trip_.min_rtt() != Duration{};
  const Duration round = measured ? round_trip_.min_rtt() : round_trip_.rto(params);
  const Time again = nack_at_ + Backoff(round, tries_, params.rto_max);
  const bool repeated = has_nack_ && nack_psn_ == rpsn && now < again;
  if (!repeated) {
    // The timeout is not restarted: a PDU that is lost each time has to use up its tries.
    GoBackFor(rpsn, now);
  } else if (measured && !in_flight_.RetransmitsOldest() && again < deadline_) {
    // The PDU may be lost again: NACKs come back sooner than acknowledgements, which may wait. The
    // NACK causes a go-back once the round trip is over, and the timeout continues after that.
    if (!nack_deferred_) timeout_due_ = deadline_;
    nack_deferred_ = true;
    deadline_ = again;
  }
  return verdict;
}

void SendHalf::CountArrived(uint32_t count, bool arrives) {
  arrived_count_ = static_cast<uint16_t>(arrived_count_ + (arrives ? count : -count));
  has_arrived_ = arrived_count_ != 0;
}

RpsnVerdict SendHalf::OnRepair(Psn expected, const PsnMarks& marks, Time now,
                               const TransportParams& params, PduList& acked,
                               InFlight::Wanted& again) {
  if (lost_) return RpsnVerdict::kNothingNew;
  const int ahead = in_flight_.DistanceFromOldest(expected);
  CheckNamed(expected, ahead, params);
  if (ahead > static_cast<int>(in_flight_.count())) return RpsnVerdict::kOutOfWindow;
  if (ahead < 0) return RpsnVerdict::kNothingNew;  // the past
  if (ahead > 0) Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  const uint32_t bytes = in_flight_.bytes();
  // A report that was made before a retransmission arrived comes within a round trip of it; one of
  // a PDU that was sent once, and lost, may be faster than any data.
  const Duration min = round_trip_.min_rtt();
  const Duration round =
      min == Duration{} ? round_trip_.rto(params) : std::max(min, round_trip_.srtt());
  const auto is_due = [&](const Pdu& pdu) {
    return now - pdu.sent_at >= (pdu.retransmitted ? round : min / 2);
  };
  const bool may_leave = !paused_ && !frozen_;
  again = in_flight_.Repair(marks, [&](const Pdu& pdu) { return may_leave && is_due(pdu); });
  CountArrived(again.arrivals, true);
  if (again.arrived != nullptr) {
    tries_ = 0;
    if (!again.arrived->retransmitted) {
      round_trip_.OnSample(now - again.arrived->sent_at, params);
      measured_ = true;
    }
  }
  if (again.pdus != 0) {
    BeginRecovery(now);
    repairing_ = true;
    // The far side lives: the oldest PDU gets the time of a first transmission.
    retransmission_rearms_ |= in_flight_.RetransmitsOldest();
  }
  return ahead > 0 || bytes != in_flight_.bytes() ? RpsnVerdict::kProgress
                                                  : RpsnVerdict::kNothingNew;
}

RpsnVerdict SendHalf::OnNotReady(Psn psn, Duration wait, Time now, const TransportParams& params,
                                 PduList& acked) {
  const int ahead = in_flight_.DistanceFromOldest(psn);
  if (ahead > static_cast<int>(in_flight_.count())) return RpsnVerdict::kOutOfWindow;
  if (ahead < 0 || in_flight_.empty() || lost_) return RpsnVerdict::kNothingNew;
  if (ahead > 0) Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  // No PDU is sent during a pause that another NOT_READY could answer: another NOT_READY is a copy.
  if (!in_flight_.empty() && !frozen_ && !paused_) {
    paused_ = true;
    nack_deferred_ = false;
    in_flight_.StopRetransmission();
    tries_ = 0;  // the far side is alive: the PDU was not lost
    deadline_ = now + (wait == Duration{} ? params.not_ready_backoff : std::min(wait, kMaxPause));
  }
  return ahead > 0 ? RpsnVerdict::kProgress : RpsnVerdict::kNothingNew;
}

void SendHalf::OnReady(Psn psn, Time now) {
  if (!paused_ || psn != in_flight_.oldest_psn()) return;
  deadline_ = now;
}

TimerVerdict SendHalf::OnTimer(Time now, const TransportParams& params) {
  if (now < deadline_) return TimerVerdict::kNothing;
  if (nack_deferred_) {
    nack_deferred_ = false;
    deadline_ = timeout_due_;
    if (in_flight_.oldest_psn() == nack_psn_ && !in_flight_.RetransmitsOldest()) {
      GoBackFor(nack_psn_, now);
      return TimerVerdict::kRetransmit;
    }
    if (now < deadline_) return TimerVerdict::kNothing;
  }
  if (frozen_) {
    deadline_ = kNever;
    return TimerVerdict::kNothing;
  }
  if (lost_) {
    deadline_ = now + params.rto_max;
    return TimerVerdict::kProbe;
  }
  if (paused_) {
    paused_ = false;
  } else if (++tries_ > params.max_tries) {
    deadline_ = kNever;
    return TimerVerdict::kUnreachable;
  }
  GoBack(now);
  Rearm(now, params);
  retransmission_rearms_ = true;
  return TimerVerdict::kRetransmit;
}

void SendHalf::OnNewParams(Time now, const TransportParams& params) {
  if (!lost_) {
    former_max_pdus_ = std::max(former_max_pdus_, static_cast<uint16_t>(in_flight_.count()));
  }
  if (deadline_ == kNever || nack_deferred_ || paused_) return;
  deadline_ = std::min(
      deadline_,
      now + (lost_ ? params.rto_max : Backoff(round_trip_.rto(params), tries_, params.rto_max)));
}

void SendHalf::GiveUp(Time now, const TransportParams& params, PduList& given_up) {
  probes_.Start(in_flight_.vcs());
  CountArrived(arrived_count_, false);
  in_flight_.MoveAllTo(given_up);
  recovering_ = false;
  paused_ = false;
  nack_deferred_ = false;
  lost_ = true;
  deadline_ = now + params.rto_max;
}

RpsnVerdict SendHalf::OnAnswer(Psn expected, Time now, const TransportParams& params) {
  CheckNamed(expected, in_flight_.DistanceFromOldest(expected), params);
  switch (probes_.OnAnswer(expected)) {
    case Probes::Verdict::kIgnored:
      return RpsnVerdict::kNothingNew;
    case Probes::Verdict::kCounted:
      // The next probe leaves soon, but after the time in which the far side may send no second
      // NACK of the same PSN.
      deadline_ = std::min(deadline_, now + std::min(params.rto_max, 2 * params.nack_timeout));
      return RpsnVerdict::kNothingNew;
    case Probes::Verdict::kConfirmed:
      break;
  }
  in_flight_.Restart(expected);
  lost_ = false;
  out_of_step_ = false;
  probes_.ForgetNamed();
  tries_ = 0;
  has_nack_ = false;
  deadline_ = kNever;
  return RpsnVerdict::kResumed;
}

void SendHalf::CheckNamed(Psn named, int ahead, const TransportParams& params) {
  const bool never_sent = ahead > static_cast<int>(in_flight_.count());
  const int behind =
      std::max(static_cast<int>(params.window_pdus), static_cast<int>(former_max_pdus_)) + 1;
  if (!never_sent && ahead >= -behind) [[likely]]
    return;
  out_of_step_ = true;
  probes_.OnNamed(named);
}

void SendHalf::Freeze() {
  frozen_ = true;
  fence_reported_ = false;
  if (lost_) in_flight_.Forget();  // their PDUs were given up
  lost_ = false;
  paused_ = false;
  in_flight_.StopRetransmission();
  recovering_ = false;
  deadline_ = kNever;
}

bool SendHalf::OnFenced(Psn expected, Time now, const TransportParams& params, PduList& acked) {
  const int ahead = in_flight_.DistanceFromOldest(expected);
  // An acknowledgement that was still in flight may have arrived after the FENCED.
  if (ahead > static_cast<int>(in_flight_.count())) return false;
  if (ahead > 0) Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  return true;
}

void SendHalf::Abandon(PduList& given_up) {
  CountArrived(arrived_count_, false);
  in_flight_.MoveAllTo(given_up);
  in_flight_.Forget();
  recovering_ = false;
  deadline_ = kNever;
}

void SendHalf::Restart(Psn first, PduList& rest) {
  CountArrived(arrived_count_, false);
  in_flight_.MoveAllTo(rest);
  in_flight_.Restart(first);
  deadline_ = kNever;
  tries_ = 0;
  lost_ = false;
  paused_ = false;
  frozen_ = false;
  recovering_ = false;
  has_nack_ = false;
  out_of_step_ = false;
  probes_.ForgetNamed();
}

void SendHalf::Reset(PduList& given_up) {
  in_flight_.MoveAllTo(given_up);
  SendHalf fresh;
  fresh.tx_pdus_ = tx_pdus_;
  fresh.retransmissions_ = retransmissions_;
  *this = fresh;
}

uint32_t SendHalf::SetAside() {
  const uint32_t before = std::exchange(aside_bytes_, in_flight_.bytes());
  has_aside_ = aside_bytes_ != 0;
  return aside_bytes_ - before;
}

uint32_t SendHalf::TakeBack() {
  has_aside_ = false;
  return std::exchange(aside_bytes_, 0);
}

void SendHalf::Acknowledge(uint32_t count, Time now, const TransportParams& params,
                           PduList& acked) {
  if (has_arrived_) [[unlikely]]
    CountArrived(in_flight_.ArrivedOf(count), false);
  Pdu* const newest = in_flight_.MoveOldestTo(count, acked);
  if (repairing_) [[unlikely]] {
    repairing_ = newest->psn.IsBefore(recovery_end_);
    newest->arrived |= repairing_;
  }
  acked_any_ = true;
  tries_ = 0;
  paused_ = false;
  out_of_step_ = false;
  if (const std::optional<Duration> sample = RttSample(*newest, now)) {
    round_trip_.OnSample(*sample, params);
    measured_ = true;
  }
  Rearm(now, params);
}

void SendHalf::GoBackFor(Psn rpsn, Time now) {
  has_nack_ = true;
  nack_psn_ = rpsn;
  nack_at_ = now;
  GoBack(now);
}

void SendHalf::GoBack(Time now) {
  in_flight_.GoBack();
  went_back_ = true;
  BeginRecovery(now);
}

void SendHalf::BeginRecovery(Time now) {
  recovery_end_ = in_flight_.next_psn();
  if (recovering_) return;
  recovering_ = true;
  went_back_at_ = now;
  resent_ = 0;
}

void SendHalf::CheckInvariants(const TransportParams& params) const {
  static_assert(offsetof(SendHalf, in_flight_) == 64);
  in_flight_.CheckInvariants(lost_);
  if (lost_) {
    if (deadline_ == kNever) std::abort();
    return;
  }
  if (in_flight_.count() - arrived_count_ > params.window_pdus) std::abort();
  if (in_flight_.ArrivedOf(in_flight_.count()) != arrived_count_) std::abort();
  if (in_flight_.empty() && deadline_ != kNever) std::abort();
  if (!in_flight_.empty() && deadline_ == kNever && !frozen_) std::abort();
  if (paused_ && in_flight_.empty()) std::abort();
}

}  // namespace suede
