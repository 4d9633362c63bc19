// SPDX-License-Identifier: Apache-2.0
// Nodes that exchange AXI4 transactions over a network that does to commands what an endpoint may:
// it delays them, in unordered mode reorders them, and where a target restarts or is unreachable,
// loses them and reports that as the daemon would.
#ifndef SUEDE_TESTS_AXI_PLAY_H_
#define SUEDE_TESTS_AXI_PLAY_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
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
};

class Play {
 public:
  explicit Play(const PlayParams& params);
  // Runs to the end. Returns what went wrong; empty: nothing did.
  std::string Run();
  // Sum over the nodes.
  uint64_t Ended(Status status) const;
  uint64_t faults() const { return faults_; }
  const Records& records() const { return records_; }

 private:
  static constexpr uint16_t kNodes = 3;
  static constexpr uint8_t kRequestVc = 0;
  static constexpr uint8_t kAnswerVc = 1;

  struct Message {
    std::vector<uint8_t> control;
    std::vector<uint8_t> data;
    uint32_t tag = 0;
    bool wants_completion = false;
  };
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
  using ChannelKey = std::tuple<uint16_t, uint16_t, uint8_t>;  // from, to, VC

  void MakeNode(Node& node);
  void MakeManager(Node& node);
  int OnBurst(uint16_t from, const Burst& burst);
  bool MoveMessage();
  void Deliver(const ChannelKey& key, std::deque<Message>& channel);
  bool Step();
  void Fault();
  void ResetManager(Node& node);
  void LoseRequests(Node& node, uint8_t status);
  void LoseTarget(Node& node);
  // Transactions to the node that have not ended may fail from now on.
  void Doom(uint16_t target);
  bool IsDone() const;
  Route From(uint16_t xpuid, uint8_t vc) const { return {.xpuid = xpuid, .plane = 0, .vc = vc}; }

  const PlayParams params_;
  Dice dice_;
  Records records_;
  std::vector<Node> nodes_;
  std::map<ChannelKey, std::deque<Message>> channels_;
  Time now_{};
  uint32_t idle_steps_ = 0;
  uint64_t faults_ = 0;
};

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_PLAY_H_
