// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_lcore.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace suede {
namespace {

constexpr uint32_t kTxBursts = 16;  // of one port in a poll iteration
constexpr Duration kCheckInterval = std::chrono::milliseconds(1);
constexpr Duration kSoon = std::chrono::microseconds(200);  // longer than an idle lcore sleeps

}  // namespace

uint32_t SwitchTransmitter::Send() {
  if (count_ == 0) return 0;
  const uint32_t sent = device_->Give(frames_, count_);
  std::copy(frames_ + sent, frames_ + count_, frames_);
  count_ -= sent;
  return sent;
}

uint32_t SwitchTransmitter::PassTo(SwitchRing& ring) {
  uint32_t passed = 0;
  while (passed < count_ && ring.Push(frames_[passed])) ++passed;
  ring.Publish();
  std::copy(frames_ + passed, frames_ + count_, frames_);
  count_ -= passed;
  return passed;
}

uint32_t SwitchTransmitter::Drop() {
  if (count_ != 0) device_->Release(frames_, count_);
  return std::exchange(count_, 0);
}

// ---- An lcore for devices.

bool DeviceLcore::Receive(DevicePort& port, bool drains) {
  // While the ring is full, frames stay in the device, as with an overloaded switch.
  if (port.count == 0 && !drains) {
    port.first = 0;
    port.count = port.device->Receive(port.held, kSwitchBurst);
  }
  bool worked = false;
  while (port.count != 0 && port.rings->in.Push(port.held[port.first])) {
    ++port.first;
    --port.count;
    worked = true;
  }
  port.rings->in.Publish();
  return worked;
}

bool DeviceLcore::Transmit(DevicePort& port) {
  const uint32_t came = port.rings->out.Pop(port.sender.end(), port.sender.room());
  port.sender.Pushed(came);
  if (port.rings->down.load(std::memory_order_relaxed)) [[unlikely]] {
    port.rings->unsent.Add(port.sender.Drop());
    return came != 0;
  }
  return port.sender.Send() != 0 || came != 0;
}

bool DeviceLcore::Poll(Time /*now*/) {
  const bool drains = drains_.load(std::memory_order_relaxed);
  bool worked = false;
  uint64_t inside = 0;
  for (DevicePort& port : ports_) {
    worked |= Receive(port, drains);
    worked |= Transmit(port);
    inside += port.count + port.sender.size();
  }
  inside_.store(inside, std::memory_order_relaxed);
  return worked;
}

// ---- The switching lcore.

void SwitchingLcore::AddPort(Port* device, SwitchRings* rings) {
  const uint64_t bit = uint64_t{1} << ports_.size();
  const fabric::PortParams& own = switch_->params().ports[ports_.size()];
  if (own.pfc.on || own.link.on() || own.cbfc) speaking_ |= bit;
  ports_.push_back({.device = device, .rings = rings, .sender = SwitchTransmitter(device)});
}

bool SwitchingLcore::Receive(uint32_t number, bool drains, Time now) {
  SwitchPort& port = ports_[number];
  if (drains && port.rings == nullptr) return false;
  Frame* frames[kSwitchBurst];
  const uint32_t count = port.rings != nullptr ? port.rings->in.Pop(frames, kSwitchBurst)
                                               : port.device->Receive(frames, kSwitchBurst);
  if (count == 0) return false;
  switch_->Receive(number, frames, count, now);
  return true;
}

// Sends as many bursts as the device or ring takes, so that frames of several inputs do not wait
// for the next poll iteration.
bool SwitchingLcore::Transmit(uint32_t number, Time now) {
  SwitchPort& port = ports_[number];
  bool worked = false;
  if (!port.sender.empty() && switch_->port(number).is_down()) [[unlikely]]
    switch_->port(number).OnUnsent(port.sender.Drop());
  for (uint32_t burst = 0; burst < kTxBursts; ++burst) {
    const uint32_t count = switch_->Transmit(number, port.sender.end(), port.sender.room(), now);
    port.sender.Pushed(count);
    const uint32_t sent =
        port.rings == nullptr ? port.sender.Send() : port.sender.PassTo(port.rings->out);
    worked |= sent != 0 || count != 0;
    if (!port.sender.empty() || count < kSwitchBurst) break;
  }
  if (switch_->IsIdle(number) && port.sender.empty()) sending_ &= ~(uint64_t{1} << number);
  return worked;
}

void SwitchingLcore::ReleaseEnded() {
  const auto ended = switch_->ended();
  if (ended.empty()) return;
  ports_.front().device->Release(ended.data(), static_cast<uint32_t>(ended.size()));
  switch_->ClearEnded();
}

void SwitchingLcore::GiveSpares() {
  Frame* frames[kSwitchBurst];
  for (uint32_t count = 1; count != 0 && switch_->spares_wanted() != 0;) {
    count =
        ports_.front().device->Allocate(frames, std::min(switch_->spares_wanted(), kSwitchBurst));
    for (uint32_t i = 0; i < count; ++i) switch_->GiveSpare(frames[i]);
  }
}

uint64_t SwitchingLcore::CountInside() const {
  uint64_t count = switch_->frames_inside();
  for (const SwitchPort& port : ports_) count += port.sender.size();
  // Copies of the frames that links hold for retransmission have already left.
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    if (switch_->port(p).link() != nullptr) count -= switch_->port(p).link()->sender().held();
  }
  return count;
}

// Publishes to the lcores of devices which ports are down, and counts the frames that they have
// freed.
void SwitchingLcore::CheckRings() {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    SwitchPort& port = ports_[p];
    if (port.rings == nullptr) continue;
    port.rings->down.store(switch_->port(p).is_down(), std::memory_order_relaxed);
    const uint64_t unsent = port.rings->unsent.Get();
    switch_->port(p).OnUnsent(unsent - std::exchange(port.unsent, unsent));
  }
}

bool SwitchingLcore::Poll(Time now) {
  bool worked = mailbox_->Serve(*switch_, now);
  const bool drains = drains_.load(std::memory_order_relaxed);
  for (uint32_t port = 0; port < ports_.size(); ++port) worked |= Receive(port, drains, now);
  switch_->Poll(now);
  for (const uint16_t port : switch_->touched()) sending_ |= uint64_t{1} << port;
  switch_->ClearTouched();
  for (uint64_t left = sending_ | speaking_; left != 0; left &= left - 1) {
    worked |= Transmit(static_cast<uint32_t>(std::countr_zero(left)), now);
  }
  ReleaseEnded();
  if (switch_->spares_wanted() != 0) [[unlikely]]
    GiveSpares();
  if (now >= next_check_) [[unlikely]] {
    next_check_ = now + kCheckInterval;
    CheckRings();
    switch_->ShowCredit();
    inside_.store(CountInside(), std::memory_order_relaxed);
  }
  // Stays awake for frames that leave a cable or a rate limiter soon.
  return worked || switch_->deadline(now) < now + kSoon;
}

}  // namespace suede
