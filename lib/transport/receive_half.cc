// SPDX-License-Identifier: Apache-2.0
#include "transport/receive_half.h"

#include <cstddef>

#include "transport/backoff.h"

namespace suede {
namespace {

// The longest time that data was overdue shrinks by this part each time that data was overdue, in
// powers of two.
constexpr int kOverdueDecay = 7;
// Max reports in a row without a PDU that fills the first gap: the far side's timeout, or a PDU
// that it sends, begins again.
constexpr uint8_t kMaxReports = 16;

}  // namespace

void ReceiveHalf::Close() {
  closed_ = true;
  unanswered_count_ = 0;
  pending_ = 0;
  if (early_ == nullptr || early_->first_kept() == nullptr) return;
  early_->Clear();
  Watch(kHasEarly, false);
}

void ReceiveHalf::Open(Psn first) {
  if (early_ != nullptr) early_->Clear();
  Watch(kHasEarly, false);
  reports_ = 0;
  expected_ = first;
  closed_ = false;
  unanswered_count_ = 0;
  pending_ = 0;
  replied_ = 0;
  Watch(kAwaitsTrimmed, false);
  CloseGap();
  nacked_count_ = 0;
}

void ReceiveHalf::Reset() {
  SetSelective(nullptr);
  ReceiveHalf fresh;
  fresh.rx_pdus_ = rx_pdus_;
  fresh.SetCounted(counted());
  fresh.SetRecorded(recorded());
  fresh.SetTraced(traced());
  fresh.SetPromptAcks(prompt_acks_);
  *this = fresh;
}

void ReceiveHalf::SetSelective(EarlyPdus* early) {
  if (early == early_) return;
  if (early_ != nullptr) early_->Clear();
  early_ = early;
  Watch(kHasEarly, false);
}

void ReceiveHalf::PassEarly() {
  while (early_->count() != 0 && early_->Has(expected_)) {
    early_->Remove(expected_);
    expected_ = expected_.Next();
  }
  Watch(kHasEarly, early_->count() != 0);
}

void ReceiveHalf::AcceptKept() {
  ForgetKept(expected_);
  Accept();
}

void ReceiveHalf::ForgetKept(Psn psn) {
  early_->Remove(psn);
  Watch(kHasEarly, early_->count() != 0);
}

bool ReceiveHalf::OnMissing(Psn psn, Time now, const TransportParams& params) {
  const bool begins = !has_gap() || !has_lost_;
  has_lost_ = true;
  if (has_gap() && begins) gap_due_ = std::min(gap_due_, now + ReorderAllowance(params));
  OnAnnounced(psn, now, params);
  // (The timer is coarser than the allowance.)
  if (now >= deadline()) OnGapDue(now, params);
  return begins;
}

PsnMarks ReceiveHalf::TakeReport() {
  unanswered_count_ = 0;
  pending_ &= kNack;
  const PsnMarks marks = early_->MarksFrom(expected_);
  early_->ForgetWanted();
  return marks;
}

bool ReceiveHalf::RequestNack(Time now, const TransportParams& params) {
  if ((replied_ & kNack) != 0 && now - nack_at_ < params.nack_timeout) return false;
  replied_ |= kNack;
  pending_ |= kNack;
  nack_at_ = now;
  return true;
}

// Requests one NACK in a round trip, whatever its PSN: forged headers may follow the PDUs that
// arrive. PDUs trimmed behind a NACK are retransmitted because of it, or OnAnnounced notes the gap.
bool ReceiveHalf::RequestNackOfTrimmed(Time now, Duration base_rtt) {
  if (nack_at_ != Time{} && now - nack_at_ < base_rtt) return false;
  Watch(kAwaitsTrimmed, false);
  replied_ |= kNack;
  pending_ |= kNack;
  nack_at_ = now;
  return true;
}

bool ReceiveHalf::OnTrimmed(Psn psn, Duration base_rtt, Time now, const TransportParams& params) {
  const int ahead = psn.DistanceFrom(expected_);
  if (!IsPlausible(psn, params) || ahead < 0 || not_ready()) return false;
  has_lost_ = true;
  if (is_selective()) {
    if (!MayAcceptEarly(psn)) return false;
    early_->Want(psn);
    pending_ |= kReport;
    OnAnnounced(psn.Next(), now, params);
    return true;
  }
  if (ahead == 0 && RequestNackOfTrimmed(now, base_rtt)) return true;
  // PDUs up to `psn` were sent, and are eventually found missing, whatever follows.
  OnAnnounced(psn.Next(), now, params);
  // A PDU that arrives within a round trip of the last NACK was sent before the NACK arrived, and
  // is retransmitted anyway.
  const bool is_stale = (replied_ & kNack) != 0 && now - nack_at_ < base_rtt;
  const bool is_first =
      !awaits_trimmed() || trimmed_.IsAfter(psn) || trimmed_.DistanceFrom(expected_) < 0;
  if (is_stale || !is_first) return true;
  trimmed_ = psn;
  Watch(kAwaitsTrimmed, true);
  return true;
}

bool ReceiveHalf::CheckTrimmed(Duration base_rtt, Time now) {
  const int ahead = trimmed_.DistanceFrom(expected_);
  if (ahead > 0) return false;
  if (ahead == 0 && RequestNackOfTrimmed(now, base_rtt)) return true;
  Watch(kAwaitsTrimmed, false);
  return false;
}

void ReceiveHalf::OnAnnounced(Psn psn, Time now, const TransportParams& params) {
  if (!IsPlausible(psn, params)) psn = expected_.Next();
  if (has_gap()) {
    if (psn.IsAfter(gap_end_)) gap_end_ = psn;
    return;
  }
  gap_at_ = now;
  gap_due_ = now + ReorderAllowance(params);
  gap_begin_ = expected_;
  gap_end_ = report_end_ = psn;
  reports_ = 0;
  Watch(kHasGap, true);
  if (gap_due_ <= now) OnGapDue(now, params);
}

// Restarts the wait for the announced PDU if others were accepted: while data arrives, none counts
// as lost.
void ReceiveHalf::CheckGap(Time now, const TransportParams& params) {
  if (expected_ == gap_begin_) return;
  const int nacked = gap_begin_.DistanceFrom(nacked_);
  const bool is_repaired = is_selective() && nacked >= 0 && nacked < int{nacked_count_};
  if (!is_repaired) {
    const Duration overdue = std::min(2 * (now - gap_at_), params.rto_max);
    const auto ns = static_cast<uint32_t>(overdue.count());
    overdue_ns_ = std::max(ns, overdue_ns_ - (overdue_ns_ >> kOverdueDecay));
  }
  if (!gap_end_.IsAfter(expected_)) return CloseGap();
  const Time due = now + ReorderAllowance(params);
  // (A report concerns all that was missing at the begin of the wait, not the first gap alone.)
  gap_due_ = is_selective() ? std::min(gap_due_, due) : due;
  gap_at_ = now;
  gap_begin_ = expected_;
  reports_ = 0;
}

void ReceiveHalf::OnGapDue(Time now, const TransportParams& params) {
  if (closed_) return CloseGap();
  CheckGap(now, params);
  if (now < deadline()) return;
  if (is_selective()) return RequestReport(now, params);
  CloseGap();
  // A far side that waits for room has received a NOT_READY, and probes now and then: its probes
  // need answers.
  if (not_ready() && (replied_ & kNack) != 0 && now - nack_at_ < params.rto_max) return;
  if (!RequestNack(now, params)) return;
  nacked_ = expected_;
  nacked_count_ = static_cast<uint16_t>(gap_end_.DistanceFrom(expected_));
}

// Wants what has been missing since the last wait began, and begins another one for the rest.
void ReceiveHalf::RequestReport(Time now, const TransportParams& params) {
  if (reports_ == kMaxReports) return CloseGap();
  const int span = std::min(report_end_.DistanceFrom(expected_), early_span());
  for (int i = 0; i < span; ++i) early_->Want(expected_.Plus(i));
  report_end_ = gap_end_;
  gap_due_ = now + Backoff(ReorderAllowance(params), reports_, params.rto_max);
  if (span <= 0) return;
  pending_ |= kReport;
  nacked_ = expected_;
  nacked_count_ = static_cast<uint16_t>(span);
  ++reports_;
}

// Handles a second copy of a PDU that a NACK requested because it was overdue: the PDU was late,
// not lost.
void ReceiveHalf::CheckDuplicate(Psn psn, const TransportParams& params) {
  const int distance = psn.DistanceFrom(nacked_);
  if (distance < 0 || distance >= int{nacked_count_}) return;
  const Duration doubled = std::min(2 * ReorderAllowance(params), params.rto_max);
  overdue_ns_ = static_cast<uint32_t>(doubled.count());
  has_lost_ = false;
  nacked_count_ = 0;
}

void ReceiveHalf::OnRefused() {
  if (refused_ != expected_) refusals_ = 0;
  refused_ = expected_;
  if (refusals_ < kMaxRefusals) ++refusals_;
  replied_ |= kNotReady;
}

Duration ReceiveHalf::RefusalWait(const TransportParams& params) const {
  const Duration max = std::max(params.not_ready_backoff, std::min(params.rto_max, kMaxPause));
  return Backoff(params.not_ready_backoff, refusals_ - 1, max);
}

void ReceiveHalf::CheckLayout() {
  static_assert(offsetof(ReceiveHalf, prompt_acks_) == 16 && sizeof(ReceiveHalf) <= 80);
}

}  // namespace suede
