// SPDX-License-Identifier: Apache-2.0
#include "fare/damper.h"

#include <algorithm>
#include <cmath>

namespace suede::fare {
namespace {

// Rounding changes a share slightly, which is no flap.
constexpr double kSame = 1e-6;

bool IsSame(double a, double b) { return std::abs(a - b) <= kSame * std::max(a, b); }

}  // namespace

double Damper::PenaltyAt(Time now, const DampingParams& params) const {
  if (params.half_life <= Duration{}) return 0;
  const double lives =
      static_cast<double>((now - at_).count()) / static_cast<double>(params.half_life.count());
  return penalty_ * std::exp2(-std::max(lives, 0.0));
}

void Damper::OnShare(double share, Time now, const DampingParams& params) {
  if (!begun_) {
    begun_ = true;
    offered_ = used_ = share;
    at_ = now;
    return;
  }
  if (IsSame(share, offered_)) return OnTime(now, params);
  if (params.half_life > Duration{}) {
    penalty_ = std::min(PenaltyAt(now, params) + params.penalty, params.max);
    at_ = now;
    if (penalty_ > params.suppress) suppressed_ = true;
  }
  offered_ = share;
  OnTime(now, params);
}

void Damper::Rescale(double share) {
  used_ = holds() ? used_ * share / offered_ : share;
  offered_ = share;
}

void Damper::OnTime(Time now, const DampingParams& params) {
  if (suppressed_ && PenaltyAt(now, params) <= params.reuse) suppressed_ = false;
  if (offered_ <= used_ || !suppressed_) {
    used_ = offered_;
    deadline_ = kNever;
    return;
  }
  Hold(now, params);
}

// Sets the deadline to the time at which the penalty has decayed.
void Damper::Hold(Time now, const DampingParams& params) {
  const double lives = std::log2(PenaltyAt(now, params) / params.reuse);
  const double wait = std::ceil(lives * static_cast<double>(params.half_life.count())) + 1;
  deadline_ = now + Duration(static_cast<int64_t>(wait));
}

}  // namespace suede::fare
