// SPDX-License-Identifier: Apache-2.0
// A simulated device with several queue pairs.
#ifndef SUEDE_TESTS_SIM_STEERED_DEVICE_H_
#define SUEDE_TESTS_SIM_STEERED_DEVICE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sim/sim.h"

namespace suede {

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
  // Shows `sent` each frame that is given to a queue.
  void OnSent(std::function<void(uint32_t queue, const Frame&)> sent) { sent_ = std::move(sent); }

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
      for (uint32_t i = 0; device_->sent_ && i < count; ++i) device_->sent_(number_, *frames[i]);
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
  std::function<void(uint32_t queue, const Frame&)> sent_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::deque<Frame*>> waiting_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_STEERED_DEVICE_H_
