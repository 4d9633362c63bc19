// SPDX-License-Identifier: Apache-2.0
// Timers of many owners, each identified by a small number, with at most one timer armed per owner.
//
// Arming is lazy: an owner whose deadline moves away keeps its slot and is called when that slot
// expires, so that postponing a deadline with every packet costs one comparison.
#ifndef SUEDE_BASE_TIMER_WHEEL_H_
#define SUEDE_BASE_TIMER_WHEEL_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace suede {

// kTick: maximum lateness of a timer in nanoseconds, a power of two.
template <int64_t kTick>
class BasicTimerWheel {
 public:
  static constexpr int64_t kTickNs = kTick;
  static constexpr uint32_t kSlots = 1024;

  // Makes room for owners 0 to count - 1.
  void Resize(uint32_t count) { owners_.resize(count); }

  // Schedules OnTimer(owner) at `deadline` or shortly after. An owner may be called early, for a
  // former deadline.
  void Arm(uint32_t owner, Time deadline) {
    if (deadline == kNever) return;
    const int64_t tick = std::max(ToNs(deadline) / kTickNs + 1, now_tick_ + 1);
    Owner& o = owners_[owner];
    if (o.tick != kIdle) {
      if (o.tick <= tick) return;
      Unlink(owner);
    }
    Link(owner, std::min<int64_t>(tick, now_tick_ + kSlots - 1));
  }

  // Whether the deadline is within one revolution of the wheel, so that no owner is called too
  // early for it.
  bool Reaches(Time deadline) const {
    return ToNs(deadline) / kTickNs - now_tick_ < int64_t{kSlots} - 1;
  }

  // Calls on_timer(owner) for every owner whose slot has expired; the owner is then disarmed and
  // may be armed again from within the call. Returns false if no owner was called.
  template <typename OnTimer>
  bool Advance(Time now, OnTimer&& on_timer) {
    const int64_t tick = ToNs(now) / kTickNs;
    if (tick <= now_tick_) return false;
    bool fired = false;
    // now_tick_ stays at the current slot while its owners are called, so that an owner armed again
    // never returns to the same slot in this revolution.
    for (now_tick_ = std::max(now_tick_, tick - int64_t{kSlots}); now_tick_ < tick;) {
      uint32_t& slot = slots_[++now_tick_ & (kSlots - 1)];
      while (slot != kNone) {
        const uint32_t owner = slot;
        Unlink(owner);
        fired = true;
        on_timer(owner);
      }
    }
    return fired;
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr int64_t kIdle = -1;
  struct Owner {
    int64_t tick = kIdle;
    uint32_t next = kNone;
    uint32_t previous = kNone;
  };

  void Link(uint32_t owner, int64_t tick) {
    uint32_t& slot = slots_[tick & (kSlots - 1)];
    owners_[owner] = {.tick = tick, .next = slot, .previous = kNone};
    if (slot != kNone) owners_[slot].previous = owner;
    slot = owner;
  }
  void Unlink(uint32_t owner) {
    Owner& o = owners_[owner];
    if (o.previous != kNone) {
      owners_[o.previous].next = o.next;
    } else {
      slots_[o.tick & (kSlots - 1)] = o.next;
    }
    if (o.next != kNone) owners_[o.next].previous = o.previous;
    o.tick = kIdle;
  }

  int64_t now_tick_ = 0;
  std::vector<Owner> owners_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(kSlots, kNone);
};

// Resolution 33 us, revolution 34 ms: for timeouts.
using TimerWheel = BasicTimerWheel<1 << 15>;
// Resolution 1 us, revolution 1 ms: for timers on the scale of the round trip.
using FineTimerWheel = BasicTimerWheel<1 << 10>;

}  // namespace suede

#endif  // SUEDE_BASE_TIMER_WHEEL_H_
