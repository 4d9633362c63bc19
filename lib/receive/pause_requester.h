// SPDX-License-Identifier: Apache-2.0
// Requests that the neighbours of an instance's ports pause the class of a VC whose commands no
// client takes (PFC, docs/pfc.md), until they are taken, or for pfc.storm_us. Owned by the lcore.
//
// One branch where PFC is off. Where PFC is on, checks a VC when commands were put into its ring or
// kept for a client, and once in a poll iteration the VCs for which a pause is requested.
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
  // `lcore` outlives this object.
  explicit PauseRequester(Lcore& lcore) : lcore_(lcore) {}

  // Adds the instance that was added to the lcore last, with its ports, before the first poll
  // iteration.
  void AddInstance(const PlanePorts& ports);

  // Commands of the VC were put into a ring or kept.
  void OnReceived(const ReceiveState& rx, const PlanePorts& ports, Vc vc, Time now) {
    if (on_) [[unlikely]]
      Check(rx, ports, vc, now);
  }
  // Called once in a poll iteration, after receiving.
  void Poll(Time now) {
    if (!requested_.empty()) [[unlikely]]
      PollRequested(now);
  }

 private:
  enum class State : uint8_t {
    kIdle,
    kRequested,
    kUndrained,  // for too long: only NOT_READY is sent until the VC drains
  };
  struct OfVc {
    State state = State::kIdle;
    Time since{};
  };

  void Check(const ReceiveState& rx, const PlanePorts& ports, Vc vc, Time now);
  void PollRequested(Time now);
  bool IsAbove(const ReceiveState& rx, Vc vc, uint32_t percent);
  static void Want(const PlanePorts& ports, Vc vc, bool wants);

  Lcore& lcore_;
  bool on_ = false;
  std::vector<std::array<OfVc, kVcCount>> states_;  // by instance
  std::vector<VcRef> requested_;                    // all that are not idle
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_PAUSE_REQUESTER_H_
