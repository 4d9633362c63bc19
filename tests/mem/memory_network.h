// SPDX-License-Identifier: Apache-2.0
// A network that does to commands what an endpoint may: it delays them, in unordered mode reorders
// them, and where a target restarts, is unreachable or an initiator's daemon goes, loses them and
// says so as the daemon would.
#ifndef SUEDE_TESTS_MEM_MEMORY_NETWORK_H_
#define SUEDE_TESTS_MEM_MEMORY_NETWORK_H_

#include <deque>
#include <map>
#include <vector>

#include "memory_play.h"

namespace suede::mem {

class MemoryNetwork final : public MemoryPlay {
 public:
  using MemoryPlay::MemoryPlay;

 private:
  struct Completion {
    uint32_t number = 0;
    bool is_wanted = false;
    int status = -1;  // not known yet
  };
  struct UnderWay {
    Command command;
    size_t completion = 0;  // its place in the channel's completions, of a request
  };
  struct Channel {
    std::deque<UnderWay> commands;
    std::vector<Completion> completions;  // of requests, in order
    size_t reported = 0;
    bool IsIdle() const { return commands.empty() && reported == completions.size(); }
  };

  bool OfferRequest(const LaneKey& key, const Command& command) override;
  bool OfferResponse(const LaneKey& key, const Command& command) override;
  bool MoveOn() override;
  bool IsMoving() override;
  void RestartTarget(Node& node) override;
  void MakeUnreachable(uint16_t xpuid) override;
  void LosePlane(Node& node) override;

  void Deliver(const LaneKey& key, Channel& channel);
  bool TellCompletion(const LaneKey& key, Channel& channel);
  void DropRequestsTo(uint16_t xpuid, int status);

  std::map<LaneKey, Channel> channels_;
};

}  // namespace suede::mem

#endif  // SUEDE_TESTS_MEM_MEMORY_NETWORK_H_
