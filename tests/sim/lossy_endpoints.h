// SPDX-License-Identifier: Apache-2.0
// Endpoints of plays in virtual time: a pipeline with one client for each node, and a simulated
// switch for each of two planes. Cables lose 1 % of the frames, and one port at a time is dead.
// Endpoints promise that nothing is lost by that.
#ifndef SUEDE_TESTS_SIM_LOSSY_ENDPOINTS_H_
#define SUEDE_TESTS_SIM_LOSSY_ENDPOINTS_H_

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "client/client_queue.h"
#include "client/client_receiver.h"
#include "client/segment.h"
#include "pipeline/pipeline.h"
#include "sim/sim.h"

namespace suede {

class LossyEndpoints {
 public:
  static constexpr uint32_t kPlanes = 2;
  static constexpr SegmentShape kShape{.queue_count = 1};

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  // A machine with a daemon and its one client.
  struct Host {
    std::array<SimPort*, kPlanes> ports = {};
    uint32_t client = 0;                                // its number
    std::vector<std::unique_ptr<void, Free>> segments;  // of clients; the last one is in use
    std::unique_ptr<Pipeline> pipeline;                 // it has to let go of these
    std::unique_ptr<ClientQueue> queue;
    std::vector<ClientReceiver> receivers;  // by VC
  };

  // `draw` returns a random number below its argument.
  LossyEndpoints(uint64_t seed, uint16_t nodes, bool is_unordered,
                 std::function<uint32_t(uint32_t)> draw);

  Host& host(uint16_t number) { return hosts_[number]; }
  // Starts the daemon of a host, without a client. A former daemon ends with all that it had.
  void Boot(uint16_t number);
  // Attaches a new client, which claims the VCs of a mask.
  void AttachClient(uint16_t number, uint32_t vc_mask, Time now);
  // Loses all frames of a host for a while, unless another port is dead.
  void CutOff(uint16_t number, Time now);
  // From time to time ends the trouble of a port, or begins that of another one.
  void MakeTrouble(Time now);
  // Ends the trouble now, or begins that of a port.
  void SwitchTrouble();
  void AdvanceTo(Time now);

  // Whether the daemons have no work and no command waits for a client.
  bool IsQuiet() const;
  // Sum over the endpoints, those before restarts included.
  uint64_t Count(Counter counter) const;
  uint32_t plane_failures() const { return plane_failures_; }

 private:
  const bool is_unordered_;
  const std::function<uint32_t(uint32_t)> draw_;
  std::vector<std::unique_ptr<SimNetwork>> networks_;  // of the planes; they outlive the pipelines
  std::vector<Host> hosts_;
  std::vector<SimPort*> troubled_;  // ports that are dead
  Time next_trouble_{};
  uint32_t plane_failures_ = 0;
  CounterSnapshot before_{};  // counters of former pipelines
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_LOSSY_ENDPOINTS_H_
