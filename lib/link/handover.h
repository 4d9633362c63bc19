// SPDX-License-Identifier: Apache-2.0
// Frames that arrive at one of the lcores that share a port, for an instance of another lcore: a
// ring for each ordered pair of lcores. The other lcore receives them like frames of the device.
#ifndef SUEDE_LINK_HANDOVER_H_
#define SUEDE_LINK_HANDOVER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/burst_ring.h"
#include "link/packet_lane.h"
#include "port/frame.h"
#include "wire/encap.h"

namespace suede {

inline constexpr uint32_t kHandoverFrames = 512;  // max frames that wait in a ring
// The lcore that received a frame pushes it; from Publish on the other lcore owns the frame.
using HandoverRing = BurstRing<Frame*, kHandoverFrames>;

// Another lcore that shares a port with this lcore. Rings and lane outlive the polling of both
// pipelines.
struct PortNeighbour {
  HandoverRing* from = nullptr;         // frames that the neighbour receives for instances here
  HandoverRing* to = nullptr;           // frames received here for the neighbour's instances
  std::vector<NetAddress> addresses;    // of the neighbour's instances on the port
  const PacketLane* packets = nullptr;  // the port's lane if this neighbour serves it, else null
};

// One queue pair's end of the rings. Owned by the lcore of the queue pair.
class Handover {
 public:
  // Adds a neighbour. Returns its number.
  uint32_t Add(const PortNeighbour& neighbour);
  // Whether other lcores share the port.
  bool is_shared() const { return !neighbours_.empty(); }

  // Takes at most `max` frames that the neighbours have received for this lcore.
  uint32_t Take(Frame** frames, uint32_t max);
  // Frames and bytes of the last Take. The neighbour that received them has counted them.
  uint32_t frames() const { return frames_; }
  uint64_t bytes() const { return bytes_; }

  // Returns false if the ring is full; else the neighbour owns the frame from Publish on.
  bool Push(uint32_t neighbour, Frame* frame) {
    pushed_ = true;
    return neighbours_[neighbour].to->Push(frame);
  }
  // Publishes the pushed frames to all neighbours.
  void Publish() {
    if (pushed_) PublishAll();
  }

  // Whether a neighbour serves the port's packet lane and the lane receives; PushPacket then hands
  // a frame to this neighbour.
  bool LaneReceivesElsewhere() const { return lane_ != nullptr && lane_->receiving(); }
  bool PushPacket(Frame* frame) {
    pushed_ = true;
    return lane_ring_->Push(frame);
  }

 private:
  struct Neighbour {
    HandoverRing* from;
    HandoverRing* to;
  };
  void PublishAll();

  std::vector<Neighbour> neighbours_;
  bool pushed_ = false;  // since the last Publish
  size_t next_ = 0;      // the neighbour whose frames are taken first in the next poll iteration
  uint32_t frames_ = 0;
  uint64_t bytes_ = 0;
  const PacketLane* lane_ = nullptr;
  HandoverRing* lane_ring_ = nullptr;
};

}  // namespace suede

#endif  // SUEDE_LINK_HANDOVER_H_
