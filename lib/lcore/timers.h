// SPDX-License-Identifier: Apache-2.0
// The timers of an lcore's instances: one for each connection, handshake and session of a plane,
// and one for requests for credit to each peer. Owned by the lcore.
#ifndef SUEDE_LCORE_TIMERS_H_
#define SUEDE_LCORE_TIMERS_H_

#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "base/timer_wheel.h"
#include "lcore/peer_arrays.h"
#include "lcore/transmit_state.h"

namespace suede {

class Timers {
 public:
  enum class Kind : uint8_t { kConnection, kHandshake, kSession, kCredit };
  struct Owner {
    Kind kind = Kind::kConnection;
    uint32_t number = 0;  // of the connection, the peer, or the pair of peer and plane
  };

  // Adds the timers of an instance, before the first poll iteration.
  void Add(PeerArrays& peers, uint32_t instance);
  // Timers of all instances.
  uint32_t count() const { return static_cast<uint32_t>(instance_of_.size()); }

  // Arms the timer of a connection, session or credit for its deadline; kNever: disarms it.
  void ArmConnection(const PeerArrays& peers, ConnectionIndex number) {
    wheel_.Arm(peers.first_timer + number, peers.connections[number].deadline());
  }
  void ArmSession(const PeerArrays& peers, PeerIndex peer, PlaneIndex plane);
  void ArmCredit(const PeerArrays& peers, const TransmitState& tx, PeerIndex peer);
  // Arms a timer as an effect of a peer requests.
  void Arm(const PeerArrays& peers, PeerIndex peer, const effect::Arm& what);
  // Arms the timer by its number.
  void Arm(uint32_t timer, Time due) { wheel_.Arm(timer, due); }

  // Calls `on_timer` with the number of each timer that is due. Returns whether there was one.
  template <typename OnTimer>
  bool Advance(Time now, OnTimer&& on_timer) {
    bool fired = wheel_.Advance(now, on_timer);
    if (has_groups_) fired |= fine_wheel_.Advance(now, on_timer);
    return fired;
  }
  uint32_t InstanceOf(uint32_t timer) const { return instance_of_[timer]; }
  Owner OwnerOf(uint32_t timer, const PeerArrays& peers) const;

 private:
  void ArmSession(const PeerArrays& peers, PathIndex path, Time due);

  TimerWheel wheel_;
  // Timers of sessions of planes with groups: groups evaluate weights once per round trip.
  FineTimerWheel fine_wheel_;
  bool has_groups_ = false;
  std::vector<uint32_t> instance_of_;
};

}  // namespace suede

#endif  // SUEDE_LCORE_TIMERS_H_
