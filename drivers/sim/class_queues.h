// SPDX-License-Identifier: Apache-2.0
// The queues in which a simulated switch holds the frames for one port: a queue of each class of
// traffic, served by strict priority or by weight, so that frames of one class overtake those of
// another. A class may be paused, as PFC does it.
#ifndef SUEDE_SIM_CLASS_QUEUES_H_
#define SUEDE_SIM_CLASS_QUEUES_H_

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <vector>

#include "base/time.h"

namespace suede {

inline constexpr uint32_t kSimClasses = 8;

// The treatment of frames of each class between two ports of a switch.
struct SimClasses {
  struct OfClass {
    Duration delay{};    // more than SimFaults has
    double loss = 0;     // these two come in addition, too
    double reorder = 0;
  };
  bool on = false;             // false: a switch holds nothing, and all frames are alike
  bool weighted = false;       // by turns of class number + 1 frames; false: higher classes first
  uint32_t most_held = 1024;   // frames of a class; more are lost
  Duration most_wait = std::chrono::microseconds(500);  // those held for longer are lost
  std::array<OfClass, kSimClasses> of{};
};

// The class that a frame's PCP says, or else its DSCP; 0 where it has neither. `addresses_first`:
// frames of AFH Gen 2, which begin with their own header.
uint32_t SimClassOf(std::span<const uint8_t> bytes, bool addresses_first);

// A frame on its way through a switch.
struct SimFrame {
  Time at;               // when it has come
  uint64_t order;        // among those that come at the same time
  const void* from;      // the port that sent it
  uint32_t traffic_class;
  std::vector<uint8_t> bytes;
};

class ClassQueues {
 public:
  // Takes a frame that has just come. False: there is no room.
  bool Push(SimFrame frame, const SimClasses& classes);
  // Begins to send the next frame, where none is being sent and one may be. Counts those that it
  // drops for their age in `lost`.
  void Begin(Time now, double bits_per_ns, const SimClasses& classes, std::mt19937_64& random,
             uint64_t& lost);
  // When the frame that is being sent has been; kNever: none is.
  Time done_at() const { return done_at_; }
  SimFrame Finish();
  void SetPaused(uint8_t classes) { paused_ = classes; }
  // Whether a frame waits whose class is paused.
  bool HoldsPaused() const;

 private:
  uint32_t Next(bool weighted, std::mt19937_64& random) const;

  std::array<std::deque<SimFrame>, kSimClasses> queues_;
  uint8_t paused_ = 0;
  uint32_t sending_ = 0;  // class
  Time done_at_ = kNever;
};

}  // namespace suede

#endif  // SUEDE_SIM_CLASS_QUEUES_H_
