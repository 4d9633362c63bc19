// SPDX-License-Identifier: Apache-2.0
// A simulated device with several queue pairs.
#ifndef SUEDE_TESTS_PIPELINE_STEERED_DEVICE_H_
#define SUEDE_TESTS_PIPELINE_STEERED_DEVICE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "bench.h"

namespace suede {

// The XPU that a frame of udp4 is from, or for.
inline uint32_t SourceOf(const Frame& frame) { return frame.data[29] - (IpOf(0) & 0xff); }
inline uint32_t DestinationOf(const Frame& frame) { return frame.data[33] - (IpOf(0) & 0xff); }

// A device with several queue pairs, whose received frames come by the one that a test names.
class SteeredDevice {
 public:
  // The queue that a frame comes by.
  using Steer = std::function<uint32_t(const Frame&)>;

  SteeredDevice(SimPort* wire, uint32_t pairs, Steer steer)
      : wire_(wire), steer_(std::move(steer)), waiting_(pairs) {
    for (uint32_t i = 0; i < pairs; ++i) queues_.push_back(std::make_unique<Queue>(this, i));
  }
  Port* queue(uint32_t number) { return queues_[number].get(); }
  SimPort* wire() { return wire_; }
  // XPUs whose frames have left by the queue.
  const std::set<uint32_t>& senders(uint32_t number) const { return queues_[number]->senders; }

 private:
  class Queue final : public Port {
   public:
    Queue(SteeredDevice* device, uint32_t number) : device_(device), number_(number) {}
    uint32_t Receive(Frame** frames, uint32_t max) override {
      device_->Sort();
      uint32_t count = 0;
      for (std::deque<Frame*>& mine = device_->waiting_[number_]; count < max && !mine.empty();) {
        frames[count++] = mine.front();
        mine.pop_front();
      }
      return count;
    }
    uint32_t Transmit(Frame* const* frames, uint32_t count) override {
      for (uint32_t i = 0; i < count; ++i) senders.insert(SourceOf(*frames[i]));
      return device_->wire_->Transmit(frames, count);
    }
    bool IsBusy(const Frame* frame) const override { return device_->wire_->IsBusy(frame); }
    uint32_t Allocate(Frame** frames, uint32_t count) override {
      return device_->wire_->Allocate(frames, count);
    }
    void Release(Frame* const* frames, uint32_t count) override {
      device_->wire_->Release(frames, count);
    }
    void Hold(Frame* const* frames, uint32_t count) override {
      device_->wire_->Hold(frames, count);
    }
    uint32_t max_frame_bytes() const override { return SimPort::kMaxFrameBytes; }
    bool Offers(TxOffload offload) const override { return device_->wire_->Offers(offload); }
    LinkState link() const override { return device_->wire_->link(); }

    std::set<uint32_t> senders;

   private:
    SteeredDevice* const device_;
    const uint32_t number_;
  };
  void Sort() {
    Frame* frame;
    while (wire_->Receive(&frame, 1) == 1) waiting_[steer_(*frame)].push_back(frame);
  }

  SimPort* const wire_;
  const Steer steer_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::deque<Frame*>> waiting_;
};

// Pipelines that share a device.
class SteeredTest : public ByHandTest {
 protected:
  Host& NewHost() {
    hosts.push_back(std::make_unique<Host>());
    hosts.back()->number = static_cast<uint32_t>(hosts.size() - 1);
    hosts.back()->pipeline = std::make_unique<Pipeline>();
    return *hosts.back();
  }
  // A peer is its XPU, and the XPU whose MAC address it has.
  InstanceParams ParamsOf(uint32_t xpu, uint32_t pair,
                          const std::vector<std::pair<uint32_t, uint32_t>>& peers) const {
    InstanceParams p = params;
    p.xpuid = static_cast<uint16_t>(xpu);
    p.secret = {p.xpuid, 1};
    p.planes = {{.port = pair, .address = {.low = IpOf(xpu)}}};
    for (const auto& [peer, mac] : peers) {
      p.peers.push_back({.xpuid = static_cast<uint16_t>(peer),
                         .planes = {{.address = {.low = IpOf(peer)}, .mac = MacOf(mac)}},
                         .plain = peers_are_plain});
    }
    return p;
  }
  uint64_t OfLcore(uint32_t host, Counter counter) const {
    return hosts[host]->pipeline->port_counters().Get(counter);
  }
  std::vector<uint8_t> FrameBetween(uint32_t from, uint32_t to) const {
    ReliabilityHeader rh = Rh();
    rh.xpuid = static_cast<uint16_t>(from);
    return Build(rh, Command(1), from, to);
  }

  std::unique_ptr<SteeredDevice> device;
  std::unique_ptr<PacketLane> lane;
  bool peers_are_plain = false;
};

}  // namespace suede

#endif  // SUEDE_TESTS_PIPELINE_STEERED_DEVICE_H_
