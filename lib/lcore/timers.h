// SPDX-License-Identifier: Apache-2.0
// The timers of an lcore's instances: one for each connection, handshake, session of a plane, and
// for the credit that is asked of each peer. Owned by the lcore.
#ifndef SUEDE_LCORE_TIMERS_H_
#define SUEDE_LCORE_TIMERS_H_

#include <cstdint>
#include <vector>

#include "base/timer_wheel.h"
#include "lcore/instance.h"

namespace suede {

class Timers {
 public:
  enum class Kind : uint8_t { kConnection, kHandshake, kSession, kCredit };
  struct Owner {
    uint32_t instance = 0;
    Kind kind = Kind::kConnection;
    uint32_t number = 0;  // of the connection, the peer, or the pair of peer and plane
  };

  // Timers of one more instance, before the first turn.
  void Add(Instance& instance);
  // Of all instances.
  uint32_t count() const { return static_cast<uint32_t>(instance_of_.size()); }

  // Each by what it is the timer of: at its deadline, at no time where that is kNever.
  void ArmConnection(const Instance& instance, uint32_t number) {
    wheel_.Arm(instance.first_timer + number, instance.connections[number].deadline());
  }
  void ArmSession(Instance& instance, uint32_t peer, uint32_t plane);
  void ArmCredit(const Instance& instance, uint32_t peer);
  // As a peer wants it.
  void Arm(const Instance& instance, uint32_t peer, const effect::Arm& what);
  // That one again.
  void Arm(uint32_t timer, Time due) { wheel_.Arm(timer, due); }

  // Calls `on_timer` with the number of each timer that is due. Returns whether there was one.
  template <typename OnTimer>
  bool Advance(Time now, OnTimer&& on_timer) {
    bool fired = wheel_.Advance(now, on_timer);
    if (has_groups_) fired |= looks_.Advance(now, on_timer);
    return fired;
  }
  uint32_t InstanceOf(uint32_t timer) const { return instance_of_[timer]; }
  Owner OwnerOf(uint32_t timer, const Instance& instance) const;

 private:
  void ArmSession(const Instance& instance, uint32_t number, Time due) {
    if (instance.has_groups() && looks_.Reaches(due)) return looks_.Arm(number, due);
    wheel_.Arm(number, due);
  }

  TimerWheel wheel_;
  // Of sessions of planes where there are groups: these look at weights once in a round trip.
  FineTimerWheel looks_;
  bool has_groups_ = false;
  std::vector<uint32_t> instance_of_;
};

}  // namespace suede

#endif  // SUEDE_LCORE_TIMERS_H_
