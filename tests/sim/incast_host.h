// SPDX-License-Identifier: Apache-2.0
// A machine of incast_bench: a port, a daemon on it, and the memory of the daemon's one client.
#ifndef SUEDE_TESTS_SIM_INCAST_HOST_H_
#define SUEDE_TESTS_SIM_INCAST_HOST_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "client/client_queue.h"
#include "client/client_receiver.h"
#include "client/segment.h"
#include "pipeline/pipeline.h"
#include "sim/sim.h"

namespace suede {

// Pages that nobody has touched take no memory.
class IncastMemory {
 public:
  explicit IncastMemory(const SegmentShape& shape);
  ~IncastMemory();
  IncastMemory(const IncastMemory&) = delete;
  IncastMemory& operator=(const IncastMemory&) = delete;
  void* base() const { return base_; }

 private:
  const uint64_t bytes_;
  void* base_;
};

class IncastHost {
 public:
  static MacAddress MacOf(uint32_t number);
  static NetAddress AddressOf(uint32_t number);
  // Frames of a pool, as a daemon computes them for so many peers.
  static uint32_t PoolFramesOf(uint32_t peers);
  static constexpr uint32_t kDescriptors = 1024;  // of each ring of the port

  // `peers`: the numbers of the hosts that it talks to. `base`: all else of its instance.
  IncastHost(uint32_t number, SimPort* port, const std::vector<uint32_t>& peers,
             InstanceParams base, const LinkParams& cable, const SegmentShape& shape, Time now);

  uint32_t number() const { return number_; }
  Pipeline& pipeline() { return pipeline_; }
  ClientQueue& queue() { return *queue_; }
  ClientReceiver& receiver(uint32_t vc) { return receivers_[vc]; }
  uint64_t Count(Counter counter) const {
    return pipeline_.counters(0).Get(counter) + pipeline_.port_counters().Get(counter);
  }
  // Its end of the link; nullptr: the link has no layers.
  const LinkEnd* link() const;
  // The handshakes with all peers are done.
  bool IsAssociated() const;
  // Frames that are neither in the pool nor kept at hand by the pipeline or the device.
  uint32_t FramesMissing() const;

 private:
  const uint32_t number_;
  SimPort* const port_;
  IncastMemory memory_;
  Pipeline pipeline_;
  std::unique_ptr<ClientQueue> queue_;
  std::vector<ClientReceiver> receivers_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INCAST_HOST_H_
