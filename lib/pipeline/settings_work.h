// SPDX-License-Identifier: Apache-2.0
// Applies new settings to a running pipeline. Values are replaced between two poll iterations;
// headers, deadlines and waiting queues that were computed from the former settings are renewed in
// the following iterations, a few connections in each, so that no iteration is long. Owned by the
// lcore.
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
  // All arguments outlive this object.
  SettingsWork(Lcore& lcore, RunQueue& run_queue, ShareBook& shares, Effector& effector)
      : lcore_(lcore), run_queue_(run_queue), shares_(shares), effector_(effector) {}

  // Begins a change; completes an earlier change first.
  void Begin(SettingsChange* change);
  // Called once in a poll iteration. Returns whether a change is in progress.
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
  SettingsChange* change_ = nullptr;  // in progress; below, the next connection to renew
  uint32_t instance_ = 0;
  ConnectionIndex connection_ = 0;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_SETTINGS_WORK_H_
