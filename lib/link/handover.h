// SPDX-License-Identifier: Apache-2.0
// Frames that arrive at one of the lcores that share a port and are for an instance of another: a
// ring for each ordered pair of lcores. Frames arrive there as if the device had brought them.
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

inline constexpr uint32_t kHandoverFrames = 512;  // that wait in a ring, at most
// The lcore that received a frame pushes it; from Publish on it belongs to the other.
using HandoverRing = BurstRing<Frame*, kHandoverFrames>;

// Another lcore that shares a port, as seen from one. Rings and lane outlive both pipelines' turns.
struct PortNeighbour {
  HandoverRing* from = nullptr;         // frames that it receives for instances here
  HandoverRing* to = nullptr;           // frames that are received here for its own
  std::vector<NetAddress> addresses;    // of its instances on the port
  const PacketLane* packets = nullptr;  // the port's, where this neighbour serves it; else null
};

// One queue pair's end of the rings. Owned by the lcore of the queue pair.
class Handover {
 public:
  // Returns the neighbour's number.
  uint32_t Add(const PortNeighbour& neighbour);
  // Whether other lcores share the port.
  bool is_shared() const { return !neighbours_.empty(); }

  // Takes at most `max` frames that the neighbours have received for this lcore.
  uint32_t Take(Frame** frames, uint32_t max);
  // Frames and bytes of the last Take. The neighbour that received them has counted them.
  uint32_t frames() const { return frames_; }
  uint64_t bytes() const { return bytes_; }

  // False where the ring is full; else the frame is the neighbour's from Publish on.
  bool Push(uint32_t neighbour, Frame* frame) {
    pushed_ = true;
    return neighbours_[neighbour].to->Push(frame);
  }
  // Shows all neighbours the pushed frames.
  void Publish() {
    if (pushed_) PublishAll();
  }

  // Whether a neighbour serves the port's packet lane and the lane's frames are to come up; then
  // PushPacket hands a frame to it.
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
  size_t next_ = 0;      // the neighbour whose frames are taken first in the next turn
  uint32_t frames_ = 0;
  uint64_t bytes_ = 0;
  const PacketLane* lane_ = nullptr;
  HandoverRing* lane_ring_ = nullptr;
};

}  // namespace suede

#endif  // SUEDE_LINK_HANDOVER_H_
