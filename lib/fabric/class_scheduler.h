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
  static constexpr uint32_t kNone = kClasses;

  explicit ClassScheduler(const std::array<ClassParams, kClasses>& classes) {
    for (uint32_t c = 0; c < kClasses; ++c) {
      if (classes[c].strict) strict_ |= static_cast<ClassMask>(1u << c);
      quantum_[c] = classes[c].weight * kQuantumBytes;
    }
  }

  // The class in `ready` whose first frame is sent next; kNone if `ready` is empty. `bytes_of(c)`
  // returns the length of the first frame of class c.
  template <class BytesOf>
  uint32_t Next(ClassMask ready, BytesOf bytes_of) {
    const auto strict = static_cast<ClassMask>(ready & strict_);
    if (strict != 0) return 31 - static_cast<uint32_t>(std::countl_zero(uint32_t{strict}));
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
      turn_ = (turn_ + 1) % kClasses;
      if ((ready >> turn_ & 1) != 0) deficit_[turn_] += quantum_[turn_];
    }
  }
  // No frame of the class waits: it loses its deficit.
  void OnEmpty(uint32_t traffic_class) { deficit_[traffic_class] = 0; }

 private:
  static constexpr uint32_t kQuantumBytes = 2048;

  ClassMask strict_ = 0;
  uint32_t turn_ = 0;
  std::array<uint32_t, kClasses> quantum_{};
  std::array<uint32_t, kClasses> deficit_{};
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_CLASS_SCHEDULER_H_
