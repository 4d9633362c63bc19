// SPDX-License-Identifier: Apache-2.0
// A port with a pool of frames and a far end that the test plays.
#ifndef SUEDE_TESTS_ROUTER_POOL_H_
#define SUEDE_TESTS_ROUTER_POOL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "port/port.h"

namespace suede {

class TestPort : public Port {
 public:
  static constexpr uint32_t kCapacity = 2304;

  explicit TestPort(uint32_t frames) {
    for (uint32_t i = 0; i < frames; ++i) {
      auto& frame = frames_.emplace_back(std::make_unique<Frame>());
      memory_.push_back(std::make_unique<std::vector<uint8_t>>(kCapacity));
      frame->buffer = memory_.back()->data();
      frame->capacity = kCapacity;
      free_.push_back(frame.get());
    }
  }

  uint32_t Receive(Frame** frames, uint32_t max) override {
    uint32_t count = 0;
    while (count < max && !arrived.empty()) {
      frames[count++] = arrived.front();
      arrived.pop_front();
    }
    return count;
  }
  uint32_t Transmit(Frame* const* /*frames*/, uint32_t /*count*/) override { return 0; }
  uint32_t Give(Frame* const* frames, uint32_t count) override {
    uint32_t taken = 0;
    while (taken < count && sent.size() < room) sent.push_back(frames[taken++]);
    return taken;
  }
  bool IsBusy(const Frame* /*frame*/) const override { return false; }
  uint32_t Allocate(Frame** frames, uint32_t count) override {
    uint32_t got = 0;
    while (got < count && !free_.empty()) {
      frames[got++] = free_.back();
      free_.pop_back();
    }
    return got;
  }
  void Release(Frame* const* frames, uint32_t count) override {
    free_.insert(free_.end(), frames, frames + count);
  }
  void Hold(Frame* const* /*frames*/, uint32_t /*count*/) override {}
  uint32_t max_frame_bytes() const override { return 2048; }
  bool Offers(TxOffload offload) const override { return offload == TxOffload::kNone; }
  LinkState link() const override { return {.up = up, .speed_bps = 0}; }

  uint32_t free() const { return static_cast<uint32_t>(free_.size()); }

  bool up = true;
  size_t room = SIZE_MAX;  // frames that `sent` may hold
  std::deque<Frame*> arrived;
  std::vector<Frame*> sent;

 private:
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> memory_;
  std::vector<Frame*> free_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_ROUTER_POOL_H_
