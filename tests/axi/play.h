// SPDX-License-Identifier: Apache-2.0
// Nodes that exchange AXI4 transactions over a network.
#ifndef SUEDE_TESTS_AXI_PLAY_H_
#define SUEDE_TESTS_AXI_PLAY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "axi/manager.h"
#include "axi/subordinate.h"
#include "play_master.h"
#include "play_record.h"
#include "play_soc.h"

namespace suede::axi {

struct PlayParams {
  uint64_t seed = 1;
  uint32_t transactions = 40;  // of each node
  bool is_unordered = false;
  bool has_faults = false;
  bool is_tight = false;  // the smallest buffers, and a network with one place
  bool has_exclusives = false;
  bool has_own_target = true;     // a node is a target of its own
  bool is_first_stopped = false;  // the SoC of node 0 does nothing before its master is done
  bool has_attacker = false;      // an XPU that sends anything, and takes few answers
};

// A play without its network.
class Play {
 public:
  explicit Play(const PlayParams& params);
  virtual ~Play() = default;
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;
  // Runs to the end. Returns what went wrong; empty: nothing did.
  std::string Run();
  // Sum over the nodes.
  uint64_t Ended(Status status) const;
  // Commands that the manager ports refused, whatever the reason.
  uint64_t Refused() const;
  uint64_t faults() const { return faults_; }
  const Records& records() const { return records_; }

 protected:
  static constexpr uint16_t kNodes = 3;
  static constexpr uint8_t kRequestVc = 0;
  static constexpr uint8_t kAnswerVc = 1;

  struct Node final : BurstSink {
    int Send(const Burst& burst) override { return play->OnBurst(xpuid, burst); }
    Play* play = nullptr;
    uint16_t xpuid = 0;
    std::unique_ptr<Subordinate> subordinate;
    std::unique_ptr<Manager> manager;
    std::unique_ptr<Master> master;
    std::unique_ptr<Soc> soc;
    uint32_t reset_steps = 0;  // for which the manager port stays in reset
  };

  // ---- The network
  // As BurstSink::Send of XPU `from`.
  virtual int OnBurst(uint16_t from, const Burst& burst) = 0;
  // Moves on a little. Returns whether a command or a completion arrived.
  virtual bool MoveNetwork() = 0;
  virtual bool IsNetworkIdle() const = 0;
  // Steps without a movement after which nothing more will move by itself.
  virtual uint32_t IdleSteps() const = 0;
  // A fault besides the resets of ports.
  virtual void FailNetwork() = 0;

  // Passes a command that has arrived at XPU `to` to its port.
  void Deliver(const Route& from, uint16_t to, std::span<const uint8_t> control,
               std::span<const uint8_t> data);
  // Transactions to the node that have not ended may fail from now on.
  void Doom(uint16_t target);
  void MakeManager(Node& node);

  const PlayParams params_;
  Dice dice_;
  Records records_;
  std::vector<Node> nodes_;
  Time now_{};

 private:
  void MakeNode(Node& node);
  bool Step();
  void Fault();
  void ResetManager(Node& node);
  bool IsDone() const;

  uint32_t idle_steps_ = 0;
  uint64_t faults_ = 0;
};

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_PLAY_H_
