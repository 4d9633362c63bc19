// SPDX-License-Identifier: Apache-2.0
// A play over real endpoints in virtual time: a pipeline for each node, two planes of a simulated
// switch each, cables that lose 1 % of the frames, and planes that die and come back. Nothing is
// lost by that, so a transaction fails only where a port was reset.
#ifndef SUEDE_TESTS_AXI_SIMULATED_PLAY_H_
#define SUEDE_TESTS_AXI_SIMULATED_PLAY_H_

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "client/client_queue.h"
#include "client/client_receiver.h"
#include "client/segment.h"
#include "pipeline/pipeline.h"
#include "play.h"
#include "sim/sim.h"

namespace suede::axi {

class SimulatedPlay final : public Play {
 public:
  explicit SimulatedPlay(const PlayParams& params);
  // Sum over the endpoints.
  uint64_t Count(Counter counter) const;
  uint32_t plane_failures() const { return plane_failures_; }

 private:
  static constexpr uint32_t kPlanes = 2;

  struct FreeMemory {
    void operator()(void* memory) const { std::free(memory); }
  };
  // A machine with a daemon and its one client.
  struct Host {
    std::array<SimPort*, kPlanes> ports = {};
    std::unique_ptr<void, FreeMemory> segment;
    std::unique_ptr<Pipeline> pipeline;  // before the segment goes
    std::unique_ptr<ClientQueue> queue;
    std::vector<ClientReceiver> receivers;  // by VC
  };

  int OnBurst(uint16_t from, const Burst& burst) override;
  bool MoveNetwork() override;
  bool IsNetworkIdle() const override;
  // The times between HELLOs and between repetitions grow to some ms.
  uint32_t IdleSteps() const override { return 200'000; }
  // Ends the trouble of a port, or begins that of another one.
  void FailNetwork() override;

  void Boot(uint16_t number);
  void AttachClient(Host& host);
  bool TakeCommands(uint16_t number, uint8_t vc);
  bool TakeCompletions(uint16_t number);
  void MakeTrouble();

  std::vector<std::unique_ptr<SimNetwork>> networks_;  // of the planes; they outlive the pipelines
  std::array<Host, kNodes> hosts_;
  SimPort* troubled_ = nullptr;  // the one port that is dead
  Time next_trouble_{};
  uint32_t plane_failures_ = 0;
};

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_SIMULATED_PLAY_H_
