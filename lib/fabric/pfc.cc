// SPDX-License-Identifier: Apache-2.0
#include "fabric/pfc.h"

#include <algorithm>

namespace suede::fabric {

PfcReceiver::PfcReceiver(const PfcParams& params, uint64_t rate_bps)
    : params_(params), rate_bps_(rate_bps) {
  stuck_since_.fill(kNever);
}

void PfcReceiver::OnFrame(const PfcFrame& pfc, Time now) {
  for (uint32_t c = 0; c < kClasses; ++c) {
    const auto bit = static_cast<ClassMask>(1u << c);
    if ((pfc.classes & bit) == 0) continue;
    until_[c] = now + PauseOf(pfc.quanta[c], rate_bps_);
    if (pfc.quanta[c] == 0) continue;
    asked_at_[c] = now;
    if ((paused_ & bit) != 0) continue;
    paused_ |= bit;
    since_[c] = now;
  }
  deadline_ = now;
}

// Checks whether a class's pause has ended, or a storm has begun or ended.
void PfcReceiver::Check(uint32_t c, bool waits, Time now) {
  const auto bit = static_cast<ClassMask>(1u << c);
  if ((paused_ & bit) != 0 && now >= until_[c]) {
    paused_ &= static_cast<ClassMask>(~bit);
    total_[c] += std::max(since_[c], std::min(now, until_[c])) - since_[c];
  }
  if ((stormy_ & bit) != 0) {
    if ((paused_ & bit) == 0 && now - asked_at_[c] >= params_.calm) {
      stormy_ &= static_cast<ClassMask>(~bit);
    }
    return;
  }
  if ((paused_ & bit) == 0 || !waits) {
    stuck_since_[c] = kNever;
    return;
  }
  if (stuck_since_[c] == kNever) stuck_since_[c] = now;
  if (params_.storm == Duration::zero() || now - stuck_since_[c] < params_.storm) return;
  stuck_since_[c] = kNever;
  stormy_ |= bit;
  ++storms_;
}

ClassMask PfcReceiver::Paused(ClassMask waiting, Time now) {
  if ((paused_ | stormy_) == 0) [[likely]]
    return 0;
  deadline_ = kNever;
  for (uint32_t c = 0; c < kClasses; ++c) {
    const auto bit = static_cast<ClassMask>(1u << c);
    if (((paused_ | stormy_) & bit) == 0) continue;
    Check(c, (waiting & bit) != 0, now);
    if ((paused_ & bit) != 0) deadline_ = std::min(deadline_, until_[c]);
    if ((stormy_ & bit) != 0) deadline_ = std::min(deadline_, asked_at_[c] + params_.calm);
    if (stuck_since_[c] != kNever && params_.storm != Duration::zero()) {
      deadline_ = std::min(deadline_, stuck_since_[c] + params_.storm);
    }
  }
  // A class in a storm is not held up: its frames are dropped.
  return static_cast<ClassMask>(paused_ & ~stormy_);
}

Duration PfcReceiver::paused_for(uint32_t c, Time now) const {
  if ((paused_ >> c & 1) == 0) return total_[c];
  return total_[c] + (std::max(since_[c], std::min(now, until_[c])) - since_[c]);
}

}  // namespace suede::fabric
