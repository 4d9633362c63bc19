// SPDX-License-Identifier: Apache-2.0
// Asks the neighbours of an instance's ports to pause the class of a VC whose commands no client
// takes (PFC, docs/pfc.md), until they are taken, or for pfc.storm_us. Owned by the lcore.
//
// Costs one branch where it is off. Where it is on, looks at a VC when commands were put into its
// ring or kept for a client, and once in a turn at the VCs for which somebody is asked to pause.
#ifndef SUEDE_RECEIVE_PAUSE_REQUESTER_H_
#define SUEDE_RECEIVE_PAUSE_REQUESTER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "lcore/lcore.h"

namespace suede {

class PauseRequester {
 public:
  // `lcore` outlives this.
  explicit PauseRequester(Lcore& lcore) : lcore_(lcore) {}

  // For the instance that was added last, before the first turn.
  void AddInstance(const Instance& instance);

  // Commands of the VC were put into a ring or kept.
  void OnReceived(Instance& instance, Vc vc, Time now) {
    if (on_) [[unlikely]]
      Check(instance, vc, now);
  }
  // Once in a turn, after receiving.
  void Poll(Time now) {
    if (!asking_.empty()) [[unlikely]]
      PollAsking(now);
  }
  // For tests: whether somebody is asked.
  bool Asks(const Instance& instance, Vc vc) const {
    return states_[instance.number][vc].state == State::kAsking;
  }

 private:
  enum class State : uint8_t {
    kIdle,
    kAsking,
    kUndrained,  // for too long: NOT_READY has to do, until it drains
  };
  struct OfVc {
    State state = State::kIdle;
    Time since{};
  };

  void Check(Instance& instance, Vc vc, Time now);
  void PollAsking(Time now);
  bool IsAbove(Instance& instance, Vc vc, uint32_t percent);
  static void Want(Instance& instance, Vc vc, bool wants);

  Lcore& lcore_;
  bool on_ = false;
  std::vector<std::array<OfVc, kVcCount>> states_;  // by instance
  std::vector<VcRef> asking_;                       // all that are not idle
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_PAUSE_REQUESTER_H_
