// SPDX-License-Identifier: Apache-2.0
// New settings for a pipeline that runs. The values are swapped between two turns; headers,
// deadlines and waiting queues that were computed from the former settings are renewed in the turns
// that follow, a few connections in each, so that no turn is long. Owned by the lcore.
#ifndef SUEDE_PIPELINE_SETTINGS_WORK_H_
#define SUEDE_PIPELINE_SETTINGS_WORK_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "lcore/settings.h"
#include "pipeline/effector.h"
#include "send/run_queue.h"
#include "send/share_book.h"

namespace suede {

class SettingsWork {
 public:
  // All of them outlive this.
  SettingsWork(Lcore& lcore, RunQueue& run_queue, ShareBook& shares, Effector& effector)
      : lcore_(lcore), run_queue_(run_queue), shares_(shares), effector_(effector) {}

  // A change before this one is finished first.
  void Begin(SettingsChange* change);
  // Once in a turn. Returns whether a change is under way.
  bool Poll(Time now) {
    if (change_ == nullptr) return false;
    Continue(now);
    return true;
  }

 private:
  void Continue(Time now);
  void Renew(Instance& instance, ConnectionIndex connection, Time now);

  Lcore& lcore_;
  RunQueue& run_queue_;
  ShareBook& shares_;
  Effector& effector_;
  SettingsChange* change_ = nullptr;  // under way; the next connection to renew
  uint32_t instance_ = 0;
  ConnectionIndex connection_ = 0;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_SETTINGS_WORK_H_
