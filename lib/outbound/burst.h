// SPDX-License-Identifier: Apache-2.0
// Bursts of commands, and where they go.
#ifndef SUEDE_OUTBOUND_BURST_H_
#define SUEDE_OUTBOUND_BURST_H_

#include <cstdint>

#include "base/sue.h"

namespace suede {

// Destination or source of a command.
struct Route {
  uint16_t xpuid = 0;
  uint8_t plane = 0;
  uint8_t vc = 0;
  bool operator==(const Route&) const = default;
};

// Commands to one destination whose controls and data have equal lengths.
struct Burst {
  Route to;
  const uint8_t* controls = nullptr;  // kMaxControlBytes each, contiguous
  const uint8_t* data = nullptr;      // data_bytes each, contiguous
  uint32_t data_bytes = 0;            // 0: none
  uint32_t count = 0;                 // 1 to kCommandsPerCompletion
  bool wants_completion = false;      // only where count is 1
  uint64_t tag = 0;                   // echoed by the completion
};

class BurstSink {
 public:
  // Sends the burst. Returns the number of leading commands accepted: fewer than burst.count where
  // credit or queue space runs out. kLost: the plane has no daemon.
  static constexpr int kLost = -1;
  virtual int Send(const Burst& burst) = 0;

 protected:
  ~BurstSink() = default;
};

}  // namespace suede

#endif  // SUEDE_OUTBOUND_BURST_H_
