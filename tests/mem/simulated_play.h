// SPDX-License-Identifier: Apache-2.0
// The programs over real endpoints in virtual time: eight pipelines, two planes of a simulated
// switch each, cables that lose frames, and planes that die and come back. Endpoints promise that
// nothing is lost, so every operation has to end as the model says.
#ifndef SUEDE_TESTS_MEM_SIMULATED_PLAY_H_
#define SUEDE_TESTS_MEM_SIMULATED_PLAY_H_

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "client/client_queue.h"
#include "client/client_receiver.h"
#include "client/segment.h"
#include "memory_play.h"
#include "pipeline/pipeline.h"
#include "sim/sim.h"

namespace suede::mem {

class SimulatedPlay final : public MemoryPlay {
 public:
  SimulatedPlay(uint64_t seed, bool is_unordered);
  // Of all hosts so far.
  uint64_t Count(Counter counter) const;
  uint32_t plane_failures() const { return plane_failures_; }

 private:
  static constexpr uint32_t kPlanes = 2;

  // A machine with a daemon and its one client.
  struct Host {
    struct Free {
      void operator()(void* memory) const { std::free(memory); }
    };
    std::array<SimPort*, kPlanes> ports = {};
    std::unique_ptr<void, Free> segment;
    std::unique_ptr<Pipeline> pipeline;
    std::unique_ptr<ClientQueue> queue;
    std::vector<ClientReceiver> receivers;  // by VC
  };

  bool OfferRequest(const LaneKey& key, const Command& command) override;
  bool OfferResponse(const LaneKey& key, const Command& command) override;
  bool MoveOn() override;
  bool IsMoving() override;
  // Programs of this play have no such steps.
  void RestartTarget(Node&) override { std::abort(); }
  void MakeUnreachable(uint16_t) override { std::abort(); }
  void LosePlane(Node&) override { std::abort(); }

  void AddHost(uint16_t number, bool is_unordered);
  bool Offer(const LaneKey& key, const Command& command);
  // A turn of all hosts. Whether their clients got anything.
  bool Turn();
  bool TakeCommands(uint16_t number, uint8_t vc);
  void TakeCompletions(uint16_t number);
  void TroubleSomeone();

  Time time_{};
  std::vector<std::unique_ptr<SimNetwork>> networks_;  // of the planes; they outlive the pipelines
  std::array<Host, kNodes> hosts_;
  SimPort* troubled_ = nullptr;  // the one port that is dead
  Time next_trouble_{};
  uint32_t plane_failures_ = 0;
};

}  // namespace suede::mem

#endif  // SUEDE_TESTS_MEM_SIMULATED_PLAY_H_
