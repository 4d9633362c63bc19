// SPDX-License-Identifier: Apache-2.0
#include "transport/connection.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdlib>

namespace suede {
namespace {

// Max doublings of a pause or timeout; the configured maximum is reached before.
constexpr int kMaxDoublings = 16;
// Max wait that a far side without room may request.
constexpr Duration kMaxPause = std::chrono::seconds(10);
// Equal answers after which a lost connection resumes, if the device has returned the given-up
// PDUs, and if it has not.
constexpr int kAnswers = 2;
constexpr int kAnswersWhileHeld = 8;
// The smallest round trip grows by this part with each sample, in powers of two.
constexpr int kMinRttCreep = 8;
// The longest time that data was overdue shrinks by this part each time that data was overdue, in
// powers of two.
constexpr int kOverdueDecay = 7;

Duration Backoff(Duration base, int times, Duration limit) {
  return std::min(limit, base * (int64_t{1} << std::min(times, kMaxDoublings)));
}

}  // namespace

void Connection::OnSend(Pdu* pdu, Time now, const TransportParams& params) {
  pdu->psn = next_psn_;
  pdu->NoteSent(now);
  next_psn_ = next_psn_.Next();
  ++tx_pdus_;
  unacked_.PushBack(pdu);
  unacked_bytes_ += pdu->bytes;
  if (unacked_count_++ == 0) Rearm(now, params);
}

void Connection::OnSend(PduList& pdus, uint32_t count, uint32_t bytes, Time now,
                        const TransportParams& params) {
  Psn psn = next_psn_;
  for (Pdu* pdu = pdus.head(); pdu != nullptr; pdu = pdu->next) {
    pdu->psn = psn;
    pdu->NoteSent(now);
    psn = psn.Next();
  }
  next_psn_ = psn;
  tx_pdus_ += count;
  unacked_.Append(pdus);
  unacked_bytes_ += bytes;
  const bool first = unacked_count_ == 0;
  unacked_count_ = static_cast<uint16_t>(unacked_count_ + count);
  if (first) Rearm(now, params);
}

Pdu* Connection::TakeRetransmission(Time now, const TransportParams& params) {
  Pdu* pdu = retransmit_next_;
  if (pdu == unacked_.head() && resend_rearms_) {
    resend_rearms_ = false;
    Rearm(now, params);
  }
  retransmit_next_ = pdu->next;
  pdu->retransmitted = true;
  pdu->NoteSent(now);
  return pdu;
}

uint32_t Connection::SetAside() {
  const uint32_t before = std::exchange(aside_bytes_, unacked_bytes_);
  has_aside_ = aside_bytes_ != 0;
  return aside_bytes_ - before;
}

uint32_t Connection::TakeBack() {
  has_aside_ = false;
  return std::exchange(aside_bytes_, 0);
}

RpsnVerdict Connection::OnAck(Psn rpsn, Time now, const TransportParams& params, PduList& acked) {
  const int ahead = rpsn.Next().DistanceFrom(oldest_unacked());
  if (ahead <= 0 || ahead > static_cast<int>(unacked_count_) || lost_) [[unlikely]] {
    NoteStep(rpsn.Next(), ahead, params);
    // An acknowledgement of PSNs behind an answer was sent before the answer.
    if (lost_ && rpsn.Next().IsAfter(answer_)) answers_ = 0;
    return ahead > static_cast<int>(unacked_count_) ? RpsnVerdict::kOutOfWindow
                                                    : RpsnVerdict::kNothingNew;
  }
  Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  return RpsnVerdict::kProgress;
}

RpsnVerdict Connection::OnNack(Psn rpsn, Time now, const TransportParams& params, PduList& acked) {
  if (lost_) [[unlikely]]
    return OnAnswer(rpsn, now, params);
  const int ahead = rpsn.DistanceFrom(oldest_unacked());
  NoteStep(rpsn, ahead, params);
  if (ahead > static_cast<int>(unacked_count_)) return RpsnVerdict::kOutOfWindow;
  if (ahead < 0) return RpsnVerdict::kNothingNew;  // the past: overtaken by a later ACK
  if (ahead > 0) Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  const RpsnVerdict verdict = ahead > 0 ? RpsnVerdict::kProgress : RpsnVerdict::kNothingNew;
  if (unacked_count_ == 0 || paused_ || frozen_) return verdict;
  const Duration round = min_rtt_ns_ != 0 ? Duration(min_rtt_ns_) : rto(params);
  const Time again = nack_obeyed_at_ + Backoff(round, tries_, params.rto_max);
  const bool heeded = nack_heeded_ && nack_obeyed_psn_ == rpsn && now < again;
  if (!heeded) {
    // The timeout is not restarted: a PDU that is lost each time has to use up its tries.
    GoBackTo(rpsn, now);
  } else if (min_rtt_ns_ != 0 && retransmit_next_ != unacked_.head() && again < deadline_) {
    // The PDU may be lost again: NACKs come back sooner than acknowledgements, which may wait. The
    // NACK is heeded once the round trip is over, and the timeout continues after that.
    if (!nack_deferred_) timeout_due_ = deadline_;
    nack_deferred_ = true;
    deadline_ = again;
  }
  return verdict;
}

void Connection::GoBackTo(Psn rpsn, Time now) {
  nack_heeded_ = true;
  nack_obeyed_psn_ = rpsn;
  nack_obeyed_at_ = now;
  GoBack(now);
}

bool Connection::OnNewPath(Time now, const TransportParams& params) {
  srtt_ns_ = 0;
  former_path_end_ = next_psn();
  has_former_path_ = unacked_count_ != 0;
  if (tries_ == 0 || unacked_count_ == 0 || paused_ || lost_ || frozen_) return false;
  tries_ = 0;
  GoBack(now);
  Rearm(now, params);
  return true;
}

void Connection::NoteStep(Psn named, int ahead, const TransportParams& params) {
  const bool never_sent = ahead > static_cast<int>(unacked_count_);
  const int behind = std::max(static_cast<int>(params.window_pdus), int{was_in_flight_}) + 1;
  if (!never_sent && ahead >= -behind) [[likely]]
    return;
  out_of_step_ = true;
  names_other_ = true;
  named_ = named;
}

RpsnVerdict Connection::OnNotReady(Psn psn, Duration wait, Time now, const TransportParams& params,
                                   PduList& acked) {
  const int ahead = psn.DistanceFrom(oldest_unacked());
  if (ahead > static_cast<int>(unacked_count_)) return RpsnVerdict::kOutOfWindow;
  if (ahead < 0 || unacked_count_ == 0 || lost_) return RpsnVerdict::kNothingNew;
  if (ahead > 0) Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  // No PDU is sent during a pause that another NOT_READY could answer: another NOT_READY is a copy.
  if (unacked_count_ != 0 && !frozen_ && !paused_) {
    paused_ = true;
    nack_deferred_ = false;
    retransmit_next_ = nullptr;
    tries_ = 0;  // the far side is alive: the PDU was not lost
    deadline_ = now + (wait == Duration{} ? params.not_ready_backoff : std::min(wait, kMaxPause));
  }
  return ahead > 0 ? RpsnVerdict::kProgress : RpsnVerdict::kNothingNew;
}

Duration Connection::RefusalWait(const TransportParams& params) const {
  const Duration max = std::max(params.not_ready_backoff, std::min(params.rto_max, kMaxPause));
  return Backoff(params.not_ready_backoff, refusals_ - 1, max);
}

void Connection::OnReady(Psn psn, Time now) {
  if (!paused_ || psn != oldest_unacked()) return;
  deadline_ = now;
}

bool Connection::WantNack(Time now, const TransportParams& params) {
  if (nack_sent_ && now - nack_at_ < params.nack_timeout) return false;
  nack_sent_ = true;
  nack_pending_ = true;
  nack_at_ = now;
  return true;
}

// Requests one NACK in a round trip, whatever its PSN: forged headers may follow the PDUs that
// arrive. PDUs trimmed behind a NACK are retransmitted because of it, or OnAnnounced notes the gap.
bool Connection::WantNackOfTrimmed(Time now, Duration base_rtt) {
  if (nack_at_ != Time{} && now - nack_at_ < base_rtt) return false;
  Watch(kAwaitsTrimmed, false);
  nack_sent_ = true;
  nack_pending_ = true;
  nack_at_ = now;
  return true;
}

bool Connection::OnTrimmed(Psn psn, Duration base_rtt, Time now, const TransportParams& params) {
  const int ahead = psn.DistanceFrom(expected_);
  if (!IsPlausible(psn, params) || ahead < 0 || not_ready_) return false;
  loses_ = true;
  if (ahead == 0 && WantNackOfTrimmed(now, base_rtt)) return true;
  // PDUs up to `psn` were sent, and are eventually found missing, whatever follows.
  OnAnnounced(psn.Next(), now, params);
  // A PDU that arrives within a round trip of the last NACK was sent before the NACK arrived, and
  // is retransmitted anyway.
  const bool is_stale = nack_sent_ && now - nack_at_ < base_rtt;
  const bool is_first =
      !awaits_trimmed() || trimmed_.IsAfter(psn) || trimmed_.DistanceFrom(expected_) < 0;
  if (is_stale || !is_first) return true;
  trimmed_ = psn;
  Watch(kAwaitsTrimmed, true);
  return true;
}

bool Connection::CheckTrimmed(Duration base_rtt, Time now) {
  const int ahead = trimmed_.DistanceFrom(expected_);
  if (ahead > 0) return false;
  if (ahead == 0 && WantNackOfTrimmed(now, base_rtt)) return true;
  Watch(kAwaitsTrimmed, false);
  return false;
}

void Connection::OnAnnounced(Psn psn, Time now, const TransportParams& params) {
  if (!IsPlausible(psn, params)) psn = expected_.Next();
  if (has_gap()) {
    if (psn.IsAfter(gap_end_)) gap_end_ = psn;
    return;
  }
  gap_at_ = now;
  gap_due_ = now + ReorderAllowance(params);
  gap_begin_ = expected_;
  gap_end_ = psn;
  Watch(kHasGap, true);
  if (gap_due_ <= now) OnGapDue(now, params);
}

// Restarts the wait for the announced PDU if others were accepted: while data arrives, none counts
// as lost.
void Connection::CheckGap(Time now, const TransportParams& params) {
  if (expected_ == gap_begin_) return;
  const Duration overdue = std::min(2 * (now - gap_at_), params.rto_max);
  const auto ns = static_cast<uint32_t>(overdue.count());
  overdue_ns_ = std::max(ns, overdue_ns_ - (overdue_ns_ >> kOverdueDecay));
  if (!gap_end_.IsAfter(expected_)) return CloseGap();
  gap_at_ = now;
  gap_due_ = now + ReorderAllowance(params);
  gap_begin_ = expected_;
}

void Connection::CloseGap() {
  gap_due_ = kNever;
  Watch(kHasGap, false);
}

void Connection::OnGapDue(Time now, const TransportParams& params) {
  if (receive_closed_) return CloseGap();
  CheckGap(now, params);
  if (now < gap_due_) return;
  CloseGap();
  // A far side that waits for room has received a NOT_READY, and probes now and then: its probes
  // need answers.
  if (not_ready_ && nack_sent_ && now - nack_at_ < params.rto_max) return;
  if (!WantNack(now, params)) return;
  nacked_ = expected_;
  nacked_count_ = static_cast<uint16_t>(gap_end_.DistanceFrom(expected_));
}

// Handles a second copy of a PDU that a NACK requested because it was overdue: the PDU was late,
// not lost.
void Connection::CheckDuplicate(Psn psn, const TransportParams& params) {
  const int distance = psn.DistanceFrom(nacked_);
  if (distance < 0 || distance >= int{nacked_count_}) return;
  const Duration doubled = std::min(2 * ReorderAllowance(params), params.rto_max);
  overdue_ns_ = static_cast<uint32_t>(doubled.count());
  loses_ = false;
  nacked_count_ = 0;
}

RpsnField Connection::TakeRpsn() {
  const bool nack = nack_pending_;
  const bool asked = ack_now_;
  ack_owed_ = 0;
  ack_now_ = false;
  nack_pending_ = false;
  if (nack) return {RhOp::kNack, expected_};
  if (!accepted_any_ && !asked) return {};
  return {RhOp::kAck, expected_.Plus(-1)};
}

TimerVerdict Connection::OnTimer(Time now, const TransportParams& params) {
  if (now >= gap_due_) OnGapDue(now, params);
  if (now < deadline_) return TimerVerdict::kNothing;
  if (nack_deferred_) {
    nack_deferred_ = false;
    deadline_ = timeout_due_;
    if (oldest_unacked() == nack_obeyed_psn_ && retransmit_next_ != unacked_.head()) {
      GoBackTo(nack_obeyed_psn_, now);
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
  resend_rearms_ = true;
  return TimerVerdict::kRetransmit;
}

void Connection::GiveUp(Time now, const TransportParams& params, PduList& given_up) {
  given_up_vcs_ = 0;
  for (const Pdu* pdu = unacked_.head(); pdu != nullptr; pdu = pdu->next) {
    given_up_vcs_ = static_cast<uint8_t>(given_up_vcs_ | 1u << pdu->vc);
  }
  given_up.Append(unacked_);
  retransmit_next_ = nullptr;
  recovering_ = false;
  unacked_bytes_ = 0;
  paused_ = false;
  nack_deferred_ = false;
  lost_ = true;
  probing_ = false;
  answers_ = 0;
  probes_ = 0;
  deadline_ = now + params.rto_max;
}

uint8_t Connection::ProbeVc() const {
  unsigned left = given_up_vcs_;
  if (left == 0) return 0;
  for (int skip = answers_ % std::popcount(left); skip != 0; --skip) left &= left - 1;
  return static_cast<uint8_t>(std::countr_zero(left));
}

void Connection::OnProbeSent(bool held) {
  probing_ = true;
  held_ = held;
  ++probes_;
}

RpsnVerdict Connection::OnAnswer(Psn expected, Time now, const TransportParams& params) {
  const int ahead = expected.DistanceFrom(oldest_unacked());
  NoteStep(expected, ahead, params);
  if (answers_ != 0 && answer_ != expected) answers_ = 0;
  if (!probing_) return RpsnVerdict::kNothingNew;
  probing_ = false;
  answer_ = expected;
  ++answers_;
  const int wanted = held_ ? kAnswersWhileHeld : kAnswers;
  if (answers_ >= std::max(wanted, std::popcount(given_up_vcs_))) {
    Resume();
    return RpsnVerdict::kResumed;
  }
  // The next probe leaves soon, but after the time in which the far side may send no second NACK of
  // the same PSN.
  deadline_ = std::min(deadline_, now + std::min(params.rto_max, 2 * params.nack_timeout));
  return RpsnVerdict::kNothingNew;
}

void Connection::Resume() {
  next_psn_ = answer_;
  unacked_count_ = 0;
  lost_ = false;
  out_of_step_ = false;
  names_other_ = false;
  tries_ = 0;
  nack_heeded_ = false;
  deadline_ = kNever;
}

void Connection::Freeze() {
  frozen_ = true;
  if (lost_) unacked_count_ = 0;  // their PDUs were given up
  lost_ = false;
  paused_ = false;
  retransmit_next_ = nullptr;
  recovering_ = false;
  deadline_ = kNever;
}

bool Connection::OnFenced(Psn expected, Time now, const TransportParams& params, PduList& acked) {
  const int ahead = expected.DistanceFrom(oldest_unacked());
  // An acknowledgement that was still in flight may have arrived after the FENCED.
  if (ahead > static_cast<int>(unacked_count_)) return false;
  if (ahead > 0) Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  return true;
}

void Connection::Abandon(PduList& given_up) {
  given_up.Append(unacked_);
  retransmit_next_ = nullptr;
  recovering_ = false;
  unacked_count_ = 0;
  unacked_bytes_ = 0;
  deadline_ = kNever;
}

void Connection::Restart(Psn first, PduList& rest) {
  rest.Append(unacked_);
  retransmit_next_ = nullptr;
  deadline_ = kNever;
  unacked_count_ = 0;
  unacked_bytes_ = 0;
  next_psn_ = first;
  tries_ = 0;
  lost_ = false;
  paused_ = false;
  frozen_ = false;
  recovering_ = false;
  nack_heeded_ = false;
  out_of_step_ = false;
  names_other_ = false;
}

void Connection::OpenReceive(Psn first) {
  expected_ = first;
  receive_closed_ = false;
  ack_owed_ = 0;
  ack_now_ = false;
  nack_pending_ = false;
  nack_sent_ = false;
  not_ready_ = false;
  Watch(kAwaitsTrimmed, false);
  CloseGap();
  nacked_count_ = 0;
}

void Connection::Reset(PduList& given_up) {
  given_up.Append(unacked_);
  Connection fresh;
  fresh.tx_pdus_ = tx_pdus_;
  fresh.rx_pdus_ = rx_pdus_;
  fresh.retransmissions_ = retransmissions_;
  fresh.SetCounted(counted());
  fresh.SetPromptAcks(prompt_acks_);
  *this = fresh;
}

Duration Connection::rto(const TransportParams& params) const {
  if (srtt_ns_ == 0) return params.rto_initial;
  // The far side may delay its acknowledgement for as long as we would.
  const Duration measured = Duration(srtt_ns_) + 4 * Duration(rttvar_ns_) + params.ack_delay;
  return std::clamp(measured, params.rto_min, params.rto_max);
}

void Connection::Acknowledge(uint32_t count, Time now, const TransportParams& params,
                             PduList& acked) {
  Pdu* newest = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    if (retransmit_next_ == unacked_.head()) retransmit_next_ = unacked_.head()->next;
    newest = unacked_.PopFront();
    unacked_bytes_ -= newest->bytes;
    acked.PushBack(newest);
  }
  unacked_count_ = static_cast<uint16_t>(unacked_count_ - count);
  acked_any_ = true;
  tries_ = 0;
  paused_ = false;
  out_of_step_ = false;
  if (const std::optional<Duration> sample = RttSample(*newest, now)) OnRttSample(*sample, params);
  Rearm(now, params);
}

// The smallest round trip creeps up, in case the path has become longer.
[[gnu::always_inline]] inline void Connection::NoteRtt(Duration rtt) {
  const auto ns = static_cast<uint32_t>(std::clamp<int64_t>(rtt.count(), 1, UINT32_MAX));
  const uint32_t crept = min_rtt_ns_ + (min_rtt_ns_ >> kMinRttCreep) + 1;
  min_rtt_ns_ = min_rtt_ns_ == 0 ? ns : std::min(crept, ns);
}

[[gnu::always_inline]] inline void Connection::OnRttSample(Duration sample,
                                                           const TransportParams& params) {
  const int64_t rtt = std::clamp<int64_t>(sample.count(), 1, params.rto_max.count());
  NoteRtt(Duration(rtt));
  measured_ = true;
  if (srtt_ns_ == 0) {
    srtt_ns_ = static_cast<uint32_t>(rtt);
    rttvar_ns_ = static_cast<uint32_t>(rtt / 2);
    return;
  }
  const int64_t error = rtt - srtt_ns_;
  rttvar_ns_ = static_cast<uint32_t>(rttvar_ns_ + (std::abs(error) - int64_t{rttvar_ns_}) / 4);
  srtt_ns_ = static_cast<uint32_t>(std::max<int64_t>(1, srtt_ns_ + error / 8));
}

void Connection::GoBack(Time now) {
  retransmit_next_ = unacked_.head();
  went_back_ = true;
  recovery_end_ = next_psn_;
  if (recovering_) return;
  recovering_ = true;
  went_back_at_ = now;
  resent_ = 0;
}

std::optional<Recovery> Connection::EndRecovery(Time now) {
  if (oldest_unacked().DistanceFrom(recovery_end_) < 0) return std::nullopt;
  recovering_ = false;
  return Recovery{.pdus = resent_, .took = now - went_back_at_};
}

void Connection::Rearm(Time now, const TransportParams& params) {
  nack_deferred_ = false;
  deadline_ = unacked_count_ == 0 ? kNever : now + Backoff(rto(params), tries_, params.rto_max);
}

void Connection::OnNewParams(Time now, const TransportParams& params) {
  if (!lost_) was_in_flight_ = std::max(was_in_flight_, static_cast<uint16_t>(unacked_count_));
  if (gap_due_ != kNever) gap_due_ = std::min(gap_due_, now + ReorderAllowance(params));
  if (deadline_ == kNever || nack_deferred_ || paused_) return;
  deadline_ = std::min(
      deadline_, now + (lost_ ? params.rto_max : Backoff(rto(params), tries_, params.rto_max)));
}

void Connection::CheckLayout() {
  static_assert(offsetof(Connection, not_ready_) < 64);
  static_assert(sizeof(Connection) <= 192);
}

void Connection::CheckInvariants(const TransportParams& params) const {
  uint32_t count = 0;
  uint32_t bytes = 0;
  bool found = retransmit_next_ == nullptr;
  for (const Pdu* pdu = unacked_.head(); pdu != nullptr; pdu = pdu->next) {
    if (pdu->psn != oldest_unacked().Plus(static_cast<int>(count))) std::abort();
    found |= pdu == retransmit_next_;
    bytes += pdu->bytes;
    ++count;
  }
  if (lost_) {
    if (count != 0 || deadline_ == kNever) std::abort();
    return;
  }
  if (count != unacked_count_ || bytes != unacked_bytes_ || !found) std::abort();
  if (count > params.window_pdus) std::abort();
  if (count == 0 && deadline_ != kNever) std::abort();
  if (count != 0 && deadline_ == kNever && !frozen_) std::abort();
  if (paused_ && count == 0) std::abort();
}

}  // namespace suede
