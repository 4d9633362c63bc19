// SPDX-License-Identifier: Apache-2.0
#include "link/credit_sender.h"

#include <bit>
#include <cstdlib>

namespace suede {

void CreditSender::Start(const CreditGrant& grant, Time now) {
  is_on_ = true;
  has_update_ = false;
  rule_ = grant.rule;
  limits_ = grant.limits;
  controlled_ = grant.controlled();
  waiting_ = controlled_;
  used_ = limits_;
  changed_ = ~LinkVcMask{0};
  consumed_.fill(Credit20());
  due_ = controlled_ != 0 ? now : kNever;
}

void CreditSender::Stop() {
  is_on_ = false;
  controlled_ = waiting_ = 0;
  changed_ = ~LinkVcMask{0};
  limits_.fill(0);
  used_.fill(0);
  due_ = kNever;
}

CreditVerdict CreditSender::OnFreed(const CreditUpdate& update) {
  CreditVerdict verdict;
  if (!is_on_) {
    verdict.kind = CreditVerdict::Kind::kOff;
    return verdict;
  }
  if (has_update_ &&
      static_cast<int16_t>(static_cast<uint16_t>(update.serial - last_serial_)) <= 0) {
    verdict.kind = CreditVerdict::Kind::kStale;
    return verdict;
  }
  has_update_ = true;
  last_serial_ = update.serial;
  for (LinkVcMask left = update.vcs; left != 0; left &= left - 1) {
    const auto vc = static_cast<uint32_t>(std::countr_zero(left));
    const int32_t used = consumed_[vc].DistanceFrom(update.counters[vc]);
    if ((controlled_ >> vc & 1) == 0 || used < 0 || static_cast<uint32_t>(used) > limits_[vc]) {
      ++verdict.impossible;
      continue;
    }
    if (static_cast<uint32_t>(used) < used_[vc]) verdict.opened = true;
    used_[vc] = static_cast<uint32_t>(used);
    changed_ |= LinkVcMask{1} << vc;
    waiting_ &= ~(LinkVcMask{1} << vc);
  }
  return verdict;
}

[[gnu::noinline]] std::optional<CreditUpdate> CreditSender::MakeUpdate(Time now) {
  CreditUpdate update{.starts = waiting_};
  for (LinkVcMask left = controlled_; left != 0; left &= left - 1) {
    const auto vc = static_cast<uint32_t>(std::countr_zero(left));
    if (used_[vc] == 0) continue;
    update.vcs |= LinkVcMask{1} << vc;
    update.counters[vc] = consumed_[vc];
  }
  due_ = update.vcs != 0 ? now + repeat_ : kNever;
  if (update.vcs == 0) return std::nullopt;
  update.serial = ++serial_;
  return update;
}

void CreditSender::CheckInvariants() const {
  for (uint32_t vc = 0; vc < kLinkVcs; ++vc) {
    if (used_[vc] > limits_[vc]) std::abort();
    const bool controlled = (controlled_ >> vc & 1) != 0;
    if (controlled != (limits_[vc] != 0)) std::abort();
    // CC_Updates are due until used credit is free.
    if (controlled && used_[vc] != 0 && due_ == kNever) std::abort();
  }
  if ((waiting_ & ~controlled_) != 0 || (!is_on_ && controlled_ != 0)) std::abort();
}

}  // namespace suede
