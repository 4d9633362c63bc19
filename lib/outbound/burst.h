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

  // Index of the route, less than LanesOf(planes).
  uint32_t Lane() const { return (uint32_t{plane} * kMaxXpus + xpuid) * kVcCount + vc; }
  static Route OfLane(uint32_t lane) {
    return {.xpuid = static_cast<uint16_t>(lane / kVcCount % kMaxXpus),
            .plane = static_cast<uint8_t>(lane / kVcCount / kMaxXpus),
            .vc = static_cast<uint8_t>(lane % kVcCount)};
  }
};
constexpr uint32_t LanesOf(uint32_t planes) { return planes * kMaxXpus * kVcCount; }

// Returns the plane to the XPU: `plane`; if negative, the XPU modulo the planes.
constexpr uint8_t ChoosePlane(int plane, uint16_t xpuid, uint32_t planes) {
  return static_cast<uint8_t>(plane >= 0 ? static_cast<uint32_t>(plane) : xpuid % planes);
}

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
