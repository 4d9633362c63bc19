// SPDX-License-Identifier: Apache-2.0
// The watchdog of flows that the neighbour holds up while their frames wait: by a pause
// (docs/pfc.md), or by returning no credit (docs/link.md). Plain state; owned by the lcore of the
// queue pair.
#ifndef SUEDE_LINK_HOLD_WATCH_H_
#define SUEDE_LINK_HOLD_WATCH_H_

#include <algorithm>
#include <array>

#include "base/sue.h"
#include "base/time.h"
#include "link/link_flows.h"

namespace suede {

class HoldWatch {
 public:
  // `limit`: a flow that is held up for so long while its frames wait is in a storm; 0: never.
  explicit HoldWatch(Duration limit) : limit_(limit) {}

  // Frames of these flows wait, and the flows are held up.
  void NoteWaiting(VcMask flows, Time now) {
    flows = static_cast<VcMask>(flows & ~waiting_);
    if (flows == 0) return;
    waiting_ |= flows;
    if (limit_ == Duration{}) return;
    for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
      if ((flows >> flow & 1) != 0) since_[flow] = now;
    }
    due_ = std::min(due_, now + limit_);
  }
  // These flows are no longer held up.
  void End(VcMask flows) {
    waiting_ &= static_cast<VcMask>(~flows);
    stormy_ &= static_cast<VcMask>(~flows);
  }
  VcMask waiting() const { return waiting_; }
  VcMask stormy() const { return stormy_; }
  // The flows whose storm begins now.
  VcMask TakeStorms(Time now) {
    if (now < due_) [[likely]]
      return 0;
    return FindStorms(now);
  }

 private:
  [[gnu::noinline]] VcMask FindStorms(Time now) {
    VcMask begun = 0;
    due_ = kNever;
    for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
      if (((waiting_ & ~stormy_) >> flow & 1) == 0) continue;
      const Time at = since_[flow] + limit_;
      if (now >= at) {
        begun |= static_cast<VcMask>(1u << flow);
      } else {
        due_ = std::min(due_, at);
      }
    }
    stormy_ |= begun;
    return begun;
  }

  const Duration limit_;
  VcMask waiting_ = 0;
  VcMask stormy_ = 0;
  Time due_ = kNever;
  std::array<Time, kLinkFlows> since_{};
};

}  // namespace suede

#endif  // SUEDE_LINK_HOLD_WATCH_H_
