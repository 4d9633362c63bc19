// SPDX-License-Identifier: Apache-2.0
// The programs over real endpoints in virtual time: eight pipelines, two planes of a simulated
// switch each, cables that lose frames, and planes that die and come back. Endpoints promise that
// nothing is lost, so every operation has to end as the model says. Programs with faults also have
// daemons and client processes that end and come back: what was under way may be lost then, and is
// executed once at most.
#ifndef SUEDE_TESTS_MEM_SIMULATED_PLAY_H_
#define SUEDE_TESTS_MEM_SIMULATED_PLAY_H_

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "client/client_queue.h"
#include "client/client_receiver.h"
#include "client/segment.h"
#include "memory_play.h"
#include "pipeline/pipeline.h"
#include "serve/served_target.h"
#include "sim/sim.h"

namespace suede::mem {

class SimulatedPlay final : public MemoryPlay {
 public:
  // `is_on_lcore`: the lcores execute the requests.
  SimulatedPlay(uint64_t seed, bool is_unordered, bool is_on_lcore);
  // Sum over all hosts so far.
  uint64_t Count(Counter counter) const;
  uint32_t plane_failures() const { return plane_failures_; }
  uint32_t restarts() const { return restarts_; }

 private:
  static constexpr uint32_t kPlanes = 2;

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Segment = std::unique_ptr<void, Free>;

  // A machine with a daemon and its one client.
  struct Host {
    std::array<SimPort*, kPlanes> ports = {};
    uint32_t client = 0;  // its number
    Segment segment;
    std::unique_ptr<ServedTarget> served;  // where the lcore executes requests
    std::vector<Segment> old_segments;     // of clients that have ended, and their targets
    std::vector<std::unique_ptr<ServedTarget>> old_served;
    std::unique_ptr<Pipeline> pipeline;  // it has to let go of those above
    std::unique_ptr<ClientQueue> queue;
    std::vector<ClientReceiver> receivers;  // by VC
    // Follow the lcore through the records of the target's ring, by VC.
    std::vector<ClientReceiver> followers;
    std::map<LaneKey, std::vector<uint32_t>> sent;  // numbers of requests
  };

  bool OfferRequest(const LaneKey& key, const Command& command) override;
  bool OfferResponse(const LaneKey& key, const Command& command) override;
  bool MoveOn() override;
  bool IsMoving() override;
  // The daemon restarts, with all that it had.
  void RestartTarget(Node& node) override;
  // Cuts both cables of the XPU for a while. Nothing is lost by that.
  void MakeUnreachable(uint16_t xpuid) override;
  // The client process restarts, with its initiator and its target.
  void LosePlane(Node& node) override;

  void AddHost(uint16_t number);
  void Boot(uint16_t number);
  void AttachClient(uint16_t number);
  void AttachServed(uint16_t number);
  void ForgetClient(Node& node);
  void Follow(uint16_t number);
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
  int cut_off_ = -1;             // the host both of whose ports are
  Time next_trouble_{};
  uint32_t plane_failures_ = 0;
  uint32_t restarts_ = 0;
  std::array<CounterSnapshot, kNodes> before_{};  // counters of former pipelines
};

}  // namespace suede::mem

#endif  // SUEDE_TESTS_MEM_SIMULATED_PLAY_H_
