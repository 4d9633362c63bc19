// SPDX-License-Identifier: Apache-2.0
// The lcores of a switch. The first one switches: it owns the fabric::Switch, and drives the
// devices of its own ports. Each other lcore drives devices only: it moves frames between them and
// the switching lcore by a pair of rings for each port, so every frame takes one way, in order.
#ifndef SUEDE_APP_SWITCH_SWITCH_LCORE_H_
#define SUEDE_APP_SWITCH_SWITCH_LCORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/burst_ring.h"
#include "base/time.h"
#include "fabric/switch.h"
#include "port/port.h"
#include "switch/switch_mailbox.h"

namespace suede {

inline constexpr uint32_t kSwitchBurst = 32;

// A counter with one writer.
struct SwitchTally {
  std::atomic<uint64_t> value{0};
  void Add(uint64_t count) { value.store(Get() + count, std::memory_order_relaxed); }
  uint64_t Get() const { return value.load(std::memory_order_relaxed); }
};

// Frames on their way between two lcores.
using SwitchRing = BurstRing<Frame*, 256>;
struct SwitchRings {
  SwitchRing in;   // received, for the switch
  SwitchRing out;  // to be transmitted
  // The port is down: its device's lcore frees the frames that the device does not take, and counts
  // them here.
  std::atomic<bool> down{false};
  SwitchTally unsent;
};

// The cycles of an lcore: in turns with work, and in all.
struct SwitchCycles {
  SwitchTally busy;
  SwitchTally all;
  void Count(bool is_busy, uint64_t cycles) {
    all.Add(cycles);
    if (is_busy) busy.Add(cycles);
  }
};

// Frames that the device did not take are sent first the next time: none is lost.
class SwitchTransmitter {
 public:
  explicit SwitchTransmitter(Port* device) : device_(device) {}

  // Room for frames that Push takes.
  uint32_t room() const { return kSwitchBurst - count_; }
  Frame** end() { return frames_ + count_; }
  void Pushed(uint32_t count) { count_ += count; }
  bool empty() const { return count_ == 0; }
  uint32_t size() const { return count_; }
  // Gives frames to the device. Returns how many it took.
  uint32_t Send();
  // Passes frames to another lcore, which sends them. Returns how many `ring` took.
  uint32_t PassTo(SwitchRing& ring);
  // Frees the frames that the device has not taken; returns their number.
  uint32_t Drop();

 private:
  Port* const device_;
  Frame* frames_[kSwitchBurst] = {};
  uint32_t count_ = 0;
};

// An lcore that drives devices for the switching one.
class DeviceLcore {
 public:
  void AddPort(Port* device, SwitchRings* rings) {
    ports_.push_back({.device = device, .rings = rings, .sender = SwitchTransmitter(device)});
  }
  // One poll iteration. Returns whether there was anything to do.
  bool Poll(Time now);
  // From now on nothing is taken from the devices. Any thread.
  void BeginDrain() { drains_.store(true, std::memory_order_relaxed); }
  // Frames held between device and ring, as of the last poll iteration; any thread.
  uint64_t frames_inside() const { return inside_.load(std::memory_order_relaxed); }
  void CountCycles(bool busy, uint64_t cycles) { cycles_.Count(busy, cycles); }
  const SwitchCycles& cycles() const { return cycles_; }

 private:
  struct DevicePort {
    Port* device;
    SwitchRings* rings;
    SwitchTransmitter sender;
    Frame* held[kSwitchBurst] = {};  // received, where the ring was full
    uint32_t first = 0;
    uint32_t count = 0;
  };
  static bool Receive(DevicePort& port, bool drains);
  static bool Transmit(DevicePort& port);

  std::vector<DevicePort> ports_;
  std::atomic<bool> drains_{false};
  std::atomic<uint64_t> inside_{0};
  SwitchCycles cycles_;
};

class SwitchingLcore {
 public:
  // All given outlive it. Ports in the order of SwitchParams::ports: `device` is driven here where
  // `rings` is null, else by another lcore.
  SwitchingLcore(fabric::Switch* the_switch, SwitchMailbox* mailbox)
      : switch_(the_switch), mailbox_(mailbox) {}
  void AddPort(Port* device, SwitchRings* rings);

  // One poll iteration. Returns whether there was anything to do.
  bool Poll(Time now);
  void CountCycles(bool busy, uint64_t cycles) { cycles_.Count(busy, cycles); }
  const SwitchCycles& cycles() const { return cycles_; }
  // See DeviceLcore::BeginDrain.
  void BeginDrain() { drains_.store(true, std::memory_order_relaxed); }
  // Frames held here and in the switch, as of a millisecond ago; any thread.
  uint64_t frames_inside() const { return inside_.load(std::memory_order_relaxed); }

 private:
  struct SwitchPort {
    Port* device;
    SwitchRings* rings;
    SwitchTransmitter sender;
    uint64_t unsent = 0;  // of SwitchRings::unsent, that the switch has counted
  };
  bool Receive(uint32_t port, bool drains, Time now);
  bool Transmit(uint32_t port, Time now);
  uint64_t CountInside() const;
  void CheckRings();
  void ReleaseEnded();
  void GiveSpares();

  fabric::Switch* const switch_;
  SwitchMailbox* const mailbox_;
  std::vector<SwitchPort> ports_;
  // A bit for each port: ports that have frames to send, and those that may say something to their
  // neighbour at any time.
  uint64_t sending_ = 0;
  uint64_t speaking_ = 0;
  Time next_look_{};
  std::atomic<bool> drains_{false};
  std::atomic<uint64_t> inside_{0};
  SwitchCycles cycles_;
};

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_LCORE_H_
