// SPDX-License-Identifier: Apache-2.0
// A pool of frames for tests, which ends the process if a frame is returned twice.
#ifndef SUEDE_TESTS_MEMIF_FRAME_POOL_H_
#define SUEDE_TESTS_MEMIF_FRAME_POOL_H_

#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

#include "port/port.h"

namespace suede::memif {

class FramePool : public Port {
 public:
  explicit FramePool(uint32_t count, uint32_t frame_bytes = 4096) : frame_bytes_(frame_bytes) {
    for (uint32_t i = 0; i < count; ++i) {
      auto frame = std::make_unique<Frame>();
      memory_.emplace_back(frame_bytes + Frame::kCommandOffset + Frame::kSlackBytes);
      frame->buffer = memory_.back().data();
      frame->capacity = static_cast<uint32_t>(memory_.back().size());
      free_.insert(frame.get());
      frames_.push_back(std::move(frame));
    }
  }
  uint32_t free() const { return static_cast<uint32_t>(free_.size()); }

  uint32_t Allocate(Frame** frames, uint32_t count) override {
    uint32_t n = 0;
    for (; n < count && !free_.empty(); ++n) {
      frames[n] = *free_.begin();
      frames[n]->length = 0;
      frames[n]->data = frames[n]->buffer + Frame::kCommandOffset;
      free_.erase(free_.begin());
    }
    return n;
  }
  void Release(Frame* const* frames, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) {
      if (!free_.insert(frames[i]).second) std::abort();
    }
  }
  uint32_t Receive(Frame**, uint32_t) override { return 0; }
  uint32_t Transmit(Frame* const*, uint32_t) override { return 0; }
  bool IsBusy(const Frame*) const override { return false; }
  void Hold(Frame* const*, uint32_t) override {}
  uint32_t max_frame_bytes() const override { return frame_bytes_; }
  bool Offers(TxOffload) const override { return false; }
  LinkState link() const override { return {}; }

 private:
  const uint32_t frame_bytes_;
  std::vector<std::vector<uint8_t>> memory_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::set<Frame*> free_;
};

}  // namespace suede::memif

#endif  // SUEDE_TESTS_MEMIF_FRAME_POOL_H_
