// SPDX-License-Identifier: Apache-2.0
// Frames that arrive at one of the lcores that share a port and are for an instance of another: a
// ring for each ordered pair of them. They arrive there as if the device had brought them.
#ifndef SUEDE_PIPELINE_HANDOVER_H_
#define SUEDE_PIPELINE_HANDOVER_H_

#include <cstdint>
#include <vector>

#include "base/burst_ring.h"
#include "port/frame.h"
#include "wire/encap.h"

namespace suede {

class PacketLane;

inline constexpr uint32_t kHandoverFrames = 512;  // that wait in a ring, at most
// The lcore that received a frame pushes it; from Publish on it belongs to the other.
using HandoverRing = BurstRing<Frame*, kHandoverFrames>;

// Another lcore that shares a port, as seen from one. Rings and lane outlive both pipelines' turns.
struct PortNeighbour {
  HandoverRing* from = nullptr;         // what it receives for instances here
  HandoverRing* to = nullptr;           // what is received here for its own
  std::vector<NetAddress> addresses;    // of its instances on the port
  const PacketLane* packets = nullptr;  // the port's, where it is the one that serves it
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_HANDOVER_H_
