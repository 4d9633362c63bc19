// SPDX-License-Identifier: Apache-2.0
// The programs over real endpoints in virtual time, whose cables lose frames and whose planes die
// and come back. Nothing is lost by that, so every operation has to end as the model says. Programs
// with faults also have daemons and client processes that end and come back: what was under way may
// be lost then, and is executed once at most.
#ifndef SUEDE_TESTS_MEM_SIMULATED_PLAY_H_
#define SUEDE_TESTS_MEM_SIMULATED_PLAY_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "../sim/lossy_endpoints.h"
#include "memory_play.h"
#include "serve/served_target.h"

namespace suede::mem {

class SimulatedPlay final : public MemoryPlay {
 public:
  // `is_on_lcore`: the lcores execute the requests.
  SimulatedPlay(uint64_t seed, bool is_unordered, bool is_on_lcore);
  const LossyEndpoints& endpoints() const { return endpoints_; }
  uint32_t restarts() const { return restarts_; }

 private:
  // The play's part of a host.
  struct Machine {
    // Where the lcore executes requests: targets of clients; the last one is in use.
    std::vector<std::unique_ptr<ServedTarget>> targets;
    std::vector<ClientReceiver> followers;          // of the records of its ring, by VC
    std::map<LaneKey, std::vector<uint32_t>> sent;  // numbers of requests
  };

  bool OfferRequest(const LaneKey& key, const Command& command) override;
  bool OfferResponse(const LaneKey& key, const Command& command) override;
  bool MoveOn() override;
  bool IsMoving() override;
  // The daemon restarts, with all that it had.
  void RestartTarget(Node& node) override;
  // Cuts both cables of the XPU for a while. Nothing is lost by that.
  void MakeUnreachable(uint16_t xpuid) override { endpoints_.CutOff(xpuid, time_); }
  // The client process restarts, with its initiator and its target.
  void LosePlane(Node& node) override;

  void AttachClient(uint16_t number);
  void AttachServed(uint16_t number);
  void ForgetClient(Node& node);
  void Follow(uint16_t number);
  bool Offer(const LaneKey& key, const Command& command);
  // A turn of all hosts. Whether their clients got anything.
  bool Turn();
  bool TakeCommands(uint16_t number, uint8_t vc);
  void TakeCompletions(uint16_t number);

  Time time_{};
  std::array<Machine, kNodes> machines_;  // their targets outlive the pipelines
  LossyEndpoints endpoints_;
  uint32_t restarts_ = 0;
};

}  // namespace suede::mem

#endif  // SUEDE_TESTS_MEM_SIMULATED_PLAY_H_
