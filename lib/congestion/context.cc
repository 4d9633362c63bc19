// SPDX-License-Identifier: Apache-2.0
#include "congestion/context.h"

#include <algorithm>
#include <cstdlib>

namespace suede {
namespace {

// The multiples of the golden ratio spread evenly over 2^32.
constexpr uint32_t kGolden = 2654435769;

}  // namespace

void CongestionContext::Start(CongestionControl control, const CongestionParams& params,
                              const PathLimits& path, Time now) {
  *this = CongestionContext();
  control_ = control;
  params_ = &params;
  largest_ = path.largest_octets;
  base_rtt_ = BaseRtt(params.base_rtt);
  if (control == CongestionControl::kRccc) {
    limit_ = law_.emplace<CreditSource>(params, path, now).reserve();
  } else if (control == CongestionControl::kNscc) {
    law_.emplace<NsccWindow>(params, path, now);
    ApplyWindow(now);
  }
}

void CongestionContext::RaiseLargest(uint32_t octets, Time now) {
  if (octets <= largest_) return;
  largest_ = octets;
  if (auto* source = std::get_if<CreditSource>(&law_)) {
    source->RaiseLargest(octets);
  } else if (auto* window = std::get_if<NsccWindow>(&law_)) {
    window->RaiseLargest(octets);
    ApplyWindow(now);
  }
}

void CongestionContext::SetRate(uint64_t rate_bps) {
  if (auto* source = std::get_if<CreditSource>(&law_)) {
    source->SetRate(*params_, rate_bps);
  } else if (auto* window = std::get_if<NsccWindow>(&law_)) {
    window->SetRate(rate_bps, base_rtt_.value(), *params_);
  }
}

void CongestionContext::Acknowledge(uint32_t octets, std::optional<Duration> rtt,
                                    bool nothing_in_flight, Time now) {
  acked_ = nothing_in_flight ? sent_ : std::min(acked_ + octets, sent_);
  if (rtt) {
    base_rtt_.OnSample(*rtt, params_->base_rtt_period, now);
    dither_ += static_cast<uint32_t>(rtt->count()) * kGolden;
  }
  if (auto* window = std::get_if<NsccWindow>(&law_)) {
    const int64_t in_flight = sent_ - acked_;
    window->OnAck({octets, rtt, marked_, in_flight}, base_rtt_.value(), *params_, now);
    marked_ = false;
    ApplyWindow(now);
  }
}

void CongestionContext::OnGoBack(uint32_t octets, Time now) {
  if (auto* window = std::get_if<NsccWindow>(&law_)) {
    window->OnLoss(base_rtt_.value(), *params_, now);
  }
  OnEnded(octets, now);
}

void CongestionContext::OnEnded(uint32_t octets, Time now) {
  acked_ = std::min(acked_ + octets, sent_);
  if (control_ == CongestionControl::kNscc) ApplyWindow(now);
}

void CongestionContext::OnEcho(const EcnEcho& echo) {
  if (echo.marked != 0 || echo.trimmed != 0) marked_ = true;
}

void CongestionContext::OnGrant(Credit24 limit, Time now) {
  if (auto* source = std::get_if<CreditSource>(&law_)) {
    limit_ = source->OnGrant(limit, limit_, *params_, base_rtt_.value(), now);
    deadline_ = source->deadline();
  }
}

void CongestionContext::OnTimer(Time now) {
  if (now < deadline_) return;
  if (auto* source = std::get_if<CreditSource>(&law_)) {
    limit_ = source->Speculate(sent_, limit_, *params_, now);
  } else {
    ApplyWindow(now);
  }
}

std::optional<CreditRequest> CongestionContext::RequestCredit(uint64_t backlog, Time now) {
  auto& source = *std::get_if<CreditSource>(&law_);
  const auto request = source.Poll(backlog, sent_, limit_, *params_, base_rtt_.value(), now);
  deadline_ = source.deadline();
  return request;
}

void CongestionContext::ApplyWindow(Time now) {
  const double window = std::get_if<NsccWindow>(&law_)->octets();
  deadline_ = kNever;
  if (window >= largest_) {
    paces_ = false;
    // No part of a PDU can leave: the window's octets beyond whole PDUs are the chance of another
    // PDU.
    dither_ += kGolden;
    const uint64_t part = (uint64_t{dither_} * largest_) >> 32;
    limit_ = acked_ + static_cast<int64_t>(window) + static_cast<int64_t>(part);
    return;
  }
  // One PDU at a time, and not before its turn.
  paces_ = true;
  limit_ = sent_;
  if (sent_ != acked_) return;
  if (now >= pace_due_) {
    limit_ += largest_;
  } else {
    deadline_ = pace_due_;
  }
}

void CongestionContext::PaceNext(uint32_t octets, Time now) {
  // Between 0.5 and 1.5 times the exact time, so that sources do not synchronize.
  const Duration due = std::get_if<NsccWindow>(&law_)->TimeOf(octets, base_rtt_.value());
  dither_ += kGolden;
  pace_due_ = now + due / 2 + due * int64_t{dither_ >> 16} / (1 << 16);
  ApplyWindow(now);
}

uint64_t CongestionContext::window_octets() const {
  if (control_ == CongestionControl::kFixed) return 0;
  if (const auto* window = std::get_if<NsccWindow>(&law_)) {
    return static_cast<uint64_t>(window->octets());
  }
  return static_cast<uint64_t>(std::max<int64_t>(limit_ - sent_, 0));
}

std::string_view CongestionContext::state_name() const {
  if (control_ == CongestionControl::kFixed) return "fixed";
  if (const auto* source = std::get_if<CreditSource>(&law_)) {
    return source->state_name(sent_, limit_);
  }
  return paces_ ? "paced" : "open";
}

void CongestionContext::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) abort();
  };
  check(control_ == CongestionControl::kFixed || (acked_ >= 0 && acked_ <= sent_));
  check(control_ != CongestionControl::kRccc || limit_ % kCreditUnitOctets == 0);
  check(control_ != CongestionControl::kFixed || deadline_ == kNever);
  check(control_ == CongestionControl::kNscc || !paces_);
  // A source that waits for its turn has a deadline, or awaits an acknowledgement.
  check(!paces_ || sent_ != acked_ || limit_ > sent_ || deadline_ != kNever);
}

}  // namespace suede
