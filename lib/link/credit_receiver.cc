// SPDX-License-Identifier: Apache-2.0
#include "link/credit_receiver.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace suede {
namespace {

// Implausible counters in a row after which the receiver accepts them: both ends are out of step.
constexpr uint8_t kPatience = 8;
// Part of a limit that makes an update due, so that a sender with little credit does not run out.
constexpr uint32_t kPart = 4;

}  // namespace

CreditReceiver::CreditReceiver(const CreditGrant& grant, const CreditTimes& times)
    : grant_(grant), max_wait_(times.max_wait), granted_(grant.controlled()) {
  const uint32_t spacing = std::max(times.spacing_octets >> grant.rule.shift, 1u);
  for (uint32_t vc = 0; vc < kLinkVcs; ++vc) {
    spacings_[vc] = std::clamp(grant.limits[vc] / kPart, 1u, spacing);
  }
}

void CreditReceiver::Start() {
  is_on_ = true;
  has_update_ = false;
  controlled_ = granted_;
  started_ = forced_ = stale_ = 0;
  due_ = kNever;
  counted_.fill(Credit20());
  refused_.fill(0);
}

void CreditReceiver::Stop() {
  is_on_ = false;
  controlled_ = started_ = forced_ = stale_ = 0;
  due_ = kNever;
}

// Schedules an update of freed credit. After duplicate frames, the announced credit may exceed the
// free credit.
void CreditReceiver::ScheduleUpdate(uint32_t vc, Time now) {
  stale_ |= LinkVcMask{1} << vc;
  const int32_t unannounced = freed(vc).DistanceFrom(announced_[vc]);
  if (unannounced >= static_cast<int32_t>(spacings_[vc])) {
    due_ = std::min(due_, now);
  } else if (due_ == kNever) {
    due_ = now + max_wait_;
  }
}

// Takes the sender's count of a link VC. Returns false if the count is implausible.
bool CreditReceiver::Take(uint32_t vc, Credit20 consumed, bool starts, CreditVerdict& verdict) {
  const LinkVcMask bit = LinkVcMask{1} << vc;
  const int32_t gap = consumed.DistanceFrom(counted_[vc]);
  const auto limit = static_cast<int32_t>(grant_.limits[vc]);
  if ((started_ & bit) != 0 && !starts) {
    const bool plausible = gap >= -limit && gap <= 2 * limit;
    if (!plausible && ++refused_[vc] < kPatience) return false;
    verdict.repaired += static_cast<uint32_t>(std::abs(gap));
  }
  refused_[vc] = 0;
  counted_[vc] = consumed;
  if ((started_ & bit) == 0) announced_[vc] = freed(vc);
  started_ |= bit;
  return true;
}

CreditVerdict CreditReceiver::OnConsumed(const CreditUpdate& update, Time now) {
  CreditVerdict verdict;
  if (!is_on_) {
    verdict.kind = CreditVerdict::Kind::kOff;
    return verdict;
  }
  const auto ahead = static_cast<int16_t>(static_cast<uint16_t>(update.serial - last_serial_));
  if (has_update_ && ahead <= 0) {
    verdict.kind = CreditVerdict::Kind::kStale;
    return verdict;
  }
  has_update_ = true;
  last_serial_ = update.serial;
  for (LinkVcMask left = update.vcs; left != 0; left &= left - 1) {
    const auto vc = static_cast<uint32_t>(std::countr_zero(left));
    const bool starts = (update.starts >> vc & 1) != 0;
    if ((controlled_ >> vc & 1) == 0 || !Take(vc, update.counters[vc], starts, verdict)) {
      ++verdict.impossible;
    } else {
      forced_ |= LinkVcMask{1} << vc;
      due_ = std::min(due_, now);
    }
  }
  return verdict;
}

[[gnu::noinline]] std::optional<CreditUpdate> CreditReceiver::MakeUpdate() {
  CreditUpdate update{.vcs = (stale_ | forced_) & started_};
  stale_ = forced_ = 0;
  due_ = kNever;
  if (update.vcs == 0) return std::nullopt;
  for (LinkVcMask left = update.vcs; left != 0; left &= left - 1) {
    const auto vc = static_cast<uint32_t>(std::countr_zero(left));
    update.counters[vc] = announced_[vc] = freed(vc);
  }
  update.serial = ++serial_;
  return update;
}

void CreditReceiver::CheckInvariants() const {
  if ((started_ & ~controlled_) != 0 || (controlled_ & ~granted_) != 0) std::abort();
  if (((stale_ | forced_) & ~started_) != 0) std::abort();
  for (uint32_t vc = 0; vc < kLinkVcs; ++vc) {
    // An update of free credit that was not announced is scheduled.
    if ((started_ >> vc & 1) != 0 && freed(vc) != announced_[vc] && due_ == kNever &&
        freed(vc).DistanceFrom(announced_[vc]) > 0) {
      std::abort();
    }
  }
}

}  // namespace suede
