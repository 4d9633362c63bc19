// SPDX-License-Identifier: Apache-2.0
// The lcores of a switch. The first lcore switches: it owns the fabric::Switch, and drives the
// devices of its own ports. Each other lcore drives only devices: it moves frames between them and
// the switching lcore by a pair of rings for each port, so that every frame takes one path, in
// order.
#ifndef SUEDE_APP_SWITCH_SWITCH_LCORE_H_
#define SUEDE_APP_SWITCH_SWITCH_LCORE_H_

#include <atomic>
#include <cstdint>
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

// Carries frames between two lcores.
using SwitchRing = BurstRing<Frame*, 256>;
struct SwitchRings {
  SwitchRing in;   // received, for the switch
  SwitchRing out;  // to be transmitted
  // Set while the port is down: the device's lcore then frees frames that the device does not take,
  // and counts them here.
  std::atomic<bool> down{false};
  SwitchTally unsent;
};

// The cycles of an lcore: in poll iterations with work, and in total.
struct SwitchCycles {
  SwitchTally busy;
  SwitchTally all;
  void Count(bool is_busy, uint64_t cycles) {
    all.Add(cycles);
    if (is_busy) busy.Add(cycles);
  }
};

// Sends frames on a device. Frames that the device does not take are sent first next time, so that
// none is lost.
class SwitchTransmitter {
 public:
  explicit SwitchTransmitter(Port* device) : device_(device) {}

  // Returns the number of frames that Pushed may add at end().
  uint32_t room() const { return kSwitchBurst - count_; }
  Frame** end() { return frames_ + count_; }
  void Pushed(uint32_t count) { count_ += count; }
  bool empty() const { return count_ == 0; }
  uint32_t size() const { return count_; }
  // Passes frames to the device. Returns the number taken.
  uint32_t Send();
  // Passes frames to another lcore for transmission. Returns the number that `ring` took.
  uint32_t PassTo(SwitchRing& ring);
  // Frees the frames that the device has not taken. Returns their number.
  uint32_t Drop();

 private:
  Port* const device_;
  Frame* frames_[kSwitchBurst] = {};
  uint32_t count_ = 0;
};

// An lcore that drives devices for the switching lcore.
class DeviceLcore {
 public:
  void AddPort(Port* device, SwitchRings* rings) {
    ports_.push_back({.device = device, .rings = rings, .sender = SwitchTransmitter(device)});
  }
  // Runs one poll iteration. Returns whether there was work.
  bool Poll(Time now);
  // Stops receiving from the devices. Any thread.
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
    Frame* held[kSwitchBurst] = {};  // received while the ring was full
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
  // All arguments must outlive this. Ports are added in the order of SwitchParams::ports. With null
  // `rings` this lcore drives `device`, else another lcore.
  SwitchingLcore(fabric::Switch* the_switch, SwitchMailbox* mailbox)
      : switch_(the_switch), mailbox_(mailbox) {}
  void AddPort(Port* device, SwitchRings* rings);

  // Runs one poll iteration. Returns whether there was work.
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
    uint64_t unsent = 0;  // part of SwitchRings::unsent already counted by the switch
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
  // A bit for each port: sending_ for ports with frames to send, speaking_ for ports that may send
  // link or PFC frames at any time.
  uint64_t sending_ = 0;
  uint64_t speaking_ = 0;
  Time next_check_{};
  std::atomic<bool> drains_{false};
  std::atomic<uint64_t> inside_{0};
  SwitchCycles cycles_;
};

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_LCORE_H_
