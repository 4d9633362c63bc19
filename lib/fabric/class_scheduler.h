// SPDX-License-Identifier: Apache-2.0
// The choice among the queues of one output: strict priority, then deficit round robin by weight
// (docs/switch.md, "Scheduling"). Owned by one lcore.
#ifndef SUEDE_FABRIC_CLASS_SCHEDULER_H_
#define SUEDE_FABRIC_CLASS_SCHEDULER_H_

#include <array>
#include <bit>
#include <cstdint>

#include "fabric/params.h"

namespace suede::fabric {

class ClassScheduler {
 public:
  static constexpr uint32_t kNone = kMaxQueues;

  explicit ClassScheduler(const SwitchParams& params) {
    for (uint32_t queue = 0; queue < params.queue_count(); ++queue) {
      const ClassParams& own = params.of_class[params.ClassOfQueue(queue)];
      if (own.strict) strict_ |= QueueMask{1} << queue;
      quantum_[queue] = own.weight * kQuantumBytes;
    }
  }

  // The queue in `ready` whose first frame is sent next; kNone if `ready` is empty. `bytes_of(q)`
  // returns the length of the first frame of queue q.
  template <class BytesOf>
  uint32_t Next(QueueMask ready, BytesOf bytes_of) {
    const QueueMask strict = ready & strict_;
    if (strict != 0) return 31 - static_cast<uint32_t>(std::countl_zero(strict));
    if (ready == 0) return kNone;
    // Each round adds a quantum of at least kQuantumBytes to a deficit of at least 0, so few rounds
    // are enough for the longest frame.
    for (;;) {
      if ((ready >> turn_ & 1) != 0) {
        const uint32_t bytes = bytes_of(turn_);
        if (deficit_[turn_] >= bytes) {
          deficit_[turn_] -= bytes;
          return turn_;
        }
      }
      const QueueMask later = ready & (~QueueMask{1} << turn_);
      turn_ = static_cast<uint32_t>(std::countr_zero(later != 0 ? later : ready));
      deficit_[turn_] += quantum_[turn_];
    }
  }
  // No frame waits in the queue: it loses its deficit.
  void OnEmpty(uint32_t queue) { deficit_[queue] = 0; }

 private:
  static constexpr uint32_t kQuantumBytes = 2048;

  QueueMask strict_ = 0;
  uint32_t turn_ = 0;
  std::array<uint32_t, kMaxQueues> quantum_{};
  std::array<uint32_t, kMaxQueues> deficit_{};
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_CLASS_SCHEDULER_H_
