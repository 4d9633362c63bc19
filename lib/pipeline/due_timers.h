// SPDX-License-Identifier: Apache-2.0
// Passes expired timers to peers as facts. Owned by the lcore.
#ifndef SUEDE_PIPELINE_DUE_TIMERS_H_
#define SUEDE_PIPELINE_DUE_TIMERS_H_

#include <cstdint>
#include <span>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "pipeline/effector.h"
#include "send/credit_use.h"
#include "send/pauses.h"

namespace suede {

class DueTimers {
 public:
  // All arguments outlive this object.
  DueTimers(Lcore& lcore, CreditUse& credit_use, Pauses& pauses, Effector& effector)
      : lcore_(lcore), credit_use_(credit_use), pauses_(pauses), effector_(effector) {}

  // Called once in a poll iteration. Returns whether a timer was due.
  bool Poll(Time now) {
    postponed_ = 0;
    return lcore_.timers.Advance(now, [&](uint32_t timer) { OnTimer(timer, now); });
  }

 private:
  void OnTimer(uint32_t timer, Time now);
  void OnSessionTimer(Instance& instance, uint32_t timer, PathIndex path, Time now);
  bool Postpone(std::span<PortContext* const> ports, uint32_t timer, Time due, Time now);

  Lcore& lcore_;
  CreditUse& credit_use_;
  Pauses& pauses_;
  Effector& effector_;
  uint32_t postponed_ = 0;  // timers without room in this poll iteration
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_DUE_TIMERS_H_
