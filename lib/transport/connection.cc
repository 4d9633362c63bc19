#include "transport/connection.h"

#include <algorithm>
#include <cstdlib>

namespace suede {
namespace {

// A pause or timeout doubles at most this often; the configured maximum bounds it before that.
constexpr int kMaxDoublings = 16;

Duration Doubled(Duration base, int times, Duration limit) {
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

Pdu* Connection::TakeRetransmission(Time now, const TransportParams& params) {
  Pdu* pdu = retransmit_next_;
  if (pdu == unacked_.head()) Rearm(now, params);
  retransmit_next_ = pdu->next;
  pdu->retransmitted = true;
  pdu->NoteSent(now);
  return pdu;
}

RpsnVerdict Connection::OnAck(Psn rpsn, Time now, const TransportParams& params, PduList& acked) {
  const int ahead = rpsn.Next().DistanceFrom(oldest_unacked());
  if (ahead > static_cast<int>(unacked_count_)) return RpsnVerdict::kOutOfWindow;
  if (lost_) return Resume(ahead);
  if (ahead <= 0) return RpsnVerdict::kNothingNew;
  Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  return RpsnVerdict::kProgress;
}

RpsnVerdict Connection::OnNack(Psn rpsn, Time now, const TransportParams& params, PduList& acked) {
  const int ahead = rpsn.DistanceFrom(oldest_unacked());
  if (ahead > static_cast<int>(unacked_count_)) return RpsnVerdict::kOutOfWindow;
  if (ahead < 0) return RpsnVerdict::kNothingNew;  // the past: overtaken by a later ACK
  if (lost_) return Resume(ahead);
  if (ahead > 0) Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  const RpsnVerdict verdict = ahead > 0 ? RpsnVerdict::kProgress : RpsnVerdict::kNothingNew;
  if (unacked_count_ == 0 || paused_ || frozen_) return verdict;
  const bool heeded = nack_heeded_ && nack_heeded_psn_ == rpsn &&
                      now - nack_heeded_at_ < Duration(srtt_ns_ != 0 ? srtt_ns_ : 1);
  if (!heeded) {
    nack_heeded_ = true;
    nack_heeded_psn_ = rpsn;
    nack_heeded_at_ = now;
    GoBack(now);
    Rearm(now, params);
  }
  return verdict;
}

RpsnVerdict Connection::OnNotReady(Psn psn, Duration wait, Time now, const TransportParams& params,
                                   PduList& acked) {
  const int ahead = psn.DistanceFrom(oldest_unacked());
  if (ahead > static_cast<int>(unacked_count_)) return RpsnVerdict::kOutOfWindow;
  if (ahead < 0 || unacked_count_ == 0 || lost_) return RpsnVerdict::kNothingNew;
  if (ahead > 0) Acknowledge(static_cast<uint32_t>(ahead), now, params, acked);
  if (unacked_count_ != 0 && !frozen_) {
    paused_ = true;
    retransmit_next_ = nullptr;
    tries_ = 0;  // the far side lives: this is no loss
    const Duration base = std::clamp(wait, params.not_ready_backoff, params.rto_max);
    deadline_ = now + Doubled(base, refusals_, params.rto_max);
    if (refusals_ < kMaxDoublings) ++refusals_;
  }
  return ahead > 0 ? RpsnVerdict::kProgress : RpsnVerdict::kNothingNew;
}

void Connection::OnReady(Psn psn, Time now) {
  if (!paused_ || psn != oldest_unacked()) return;
  deadline_ = now;
}

void Connection::OnGap(Time now, const TransportParams& params) {
  if (not_ready_) return;
  if (nack_sent_ && now - nack_at_ < params.nack_timeout) return;
  nack_sent_ = true;
  nack_pending_ = true;
  nack_at_ = now;
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
  if (now < deadline_) return TimerVerdict::kNothing;
  if (frozen_) {
    deadline_ = kNever;
    return TimerVerdict::kNothing;
  }
  if (lost_) {
    deadline_ = now + params.rto_max;
    return TimerVerdict::kProbe;
  }
  if (unacked_count_ == 0) {
    deadline_ = kNever;
    return TimerVerdict::kNothing;
  }
  if (paused_) {
    paused_ = false;
  } else if (++tries_ > params.max_tries) {
    deadline_ = kNever;
    return TimerVerdict::kUnreachable;
  }
  GoBack(now);
  Rearm(now, params);
  return TimerVerdict::kRetransmit;
}

void Connection::GiveUp(Time now, const TransportParams& params, PduList& given_up) {
  given_up.Append(unacked_);
  retransmit_next_ = nullptr;
  recovering_ = false;
  unacked_bytes_ = 0;
  paused_ = false;
  lost_ = true;
  deadline_ = now + params.rto_max;
}

RpsnVerdict Connection::Resume(int ahead) {
  if (!probe_answered_ || ahead < 0) return RpsnVerdict::kNothingNew;
  next_psn_ = oldest_unacked().Plus(ahead);
  unacked_count_ = 0;
  lost_ = false;
  probe_answered_ = false;
  tries_ = 0;
  refusals_ = 0;
  deadline_ = kNever;
  return RpsnVerdict::kResumed;
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
  // An acknowledgement that was still under way may have come after the FENCED.
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
  refusals_ = 0;
  lost_ = false;
  probe_answered_ = false;
  paused_ = false;
  frozen_ = false;
  recovering_ = false;
  nack_heeded_ = false;
}

void Connection::OpenReceive(Psn first) {
  expected_ = first;
  receive_closed_ = false;
  ack_owed_ = 0;
  ack_now_ = false;
  nack_pending_ = false;
  nack_sent_ = false;
  not_ready_ = false;
}

void Connection::Reset(PduList& given_up) {
  given_up.Append(unacked_);
  Connection fresh;
  fresh.tx_pdus_ = tx_pdus_;
  fresh.rx_pdus_ = rx_pdus_;
  fresh.retransmissions_ = retransmissions_;
  *this = fresh;
}

Duration Connection::rto(const TransportParams& params) const {
  if (srtt_ns_ == 0) return params.rto_initial;
  // The far side may hold its acknowledgement back for as long as we would.
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
  unacked_count_ -= count;
  acked_any_ = true;
  tries_ = 0;
  refusals_ = 0;
  paused_ = false;
  if (const std::optional<Duration> sample = RttSample(*newest, now)) OnRttSample(*sample, params);
  Rearm(now, params);
}

void Connection::OnRttSample(Duration sample, const TransportParams& params) {
  const int64_t rtt = std::clamp<int64_t>(sample.count(), 1, params.rto_max.count());
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
  deadline_ = unacked_count_ == 0 ? kNever : now + Doubled(rto(params), tries_, params.rto_max);
}

void Connection::OnNewParams(Time now, const TransportParams& params) {
  if (deadline_ == kNever) return;
  const bool waits = lost_ || paused_;
  deadline_ = std::min(deadline_, now + (waits ? params.rto_max
                                               : Doubled(rto(params), tries_, params.rto_max)));
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
  if (count != 0 && deadline_ == kNever && !frozen_) std::abort();
  if (paused_ && count == 0) std::abort();
}

}  // namespace suede
