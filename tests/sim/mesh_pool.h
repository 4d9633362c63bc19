// SPDX-License-Identifier: Apache-2.0
// The pool of all devices of a mesh, whose memory grows with the frames in use.
#ifndef SUEDE_TESTS_SIM_MESH_POOL_H_
#define SUEDE_TESTS_SIM_MESH_POOL_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "port/port.h"

namespace suede {

class MeshPool : public Port {
 public:
  static constexpr uint32_t kMaxFrameBytes = 1514;

  explicit MeshPool(uint32_t frames) : max_frames_(frames) {}

  uint32_t Receive(Frame** /*frames*/, uint32_t /*max*/) override { return 0; }
  uint32_t Transmit(Frame* const* /*frames*/, uint32_t /*count*/) override { return 0; }
  bool IsBusy(const Frame* frame) const override { return Of(frame)->references > 1; }
  uint32_t Allocate(Frame** frames, uint32_t count) override {
    uint32_t got = 0;
    for (; got < count; ++got) {
      if (free_.empty() && !Grow()) break;
      frames[got] = free_.back();
      free_.pop_back();
      frames[got]->length = 0;
      Of(frames[got])->references = 1;
    }
    refused_ += count - got;
    max_out_ = std::max(max_out_, out());
    return got;
  }
  void Release(Frame* const* frames, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) {
      if (--Of(frames[i])->references == 0) free_.push_back(frames[i]);
    }
  }
  void Hold(Frame* const* frames, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) ++Of(frames[i])->references;
  }
  uint32_t max_frame_bytes() const override { return kMaxFrameBytes; }
  bool Offers(TxOffload offload) const override { return offload == TxOffload::kNone; }
  LinkState link() const override { return {.up = true, .speed_bps = 0}; }

  uint32_t out() const { return static_cast<uint32_t>(frames_.size() - free_.size()); }
  uint32_t max_out() const { return max_out_; }
  uint64_t refused() const { return refused_; }

 private:
  struct Pooled {
    Frame frame;
    uint32_t references = 0;
    std::array<uint8_t, 2048> bytes;
  };
  // A frame is the first member of what holds it.
  static Pooled* Of(const Frame* frame) {
    return reinterpret_cast<Pooled*>(const_cast<Frame*>(frame));
  }
  bool Grow() {
    if (frames_.size() == max_frames_) return false;
    Pooled& pooled = *frames_.emplace_back(std::make_unique<Pooled>());
    pooled.frame.buffer = pooled.bytes.data();
    pooled.frame.capacity = static_cast<uint32_t>(pooled.bytes.size());
    free_.push_back(&pooled.frame);
    return true;
  }

  const uint32_t max_frames_;
  std::vector<std::unique_ptr<Pooled>> frames_;
  std::vector<Frame*> free_;
  uint32_t max_out_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_MESH_POOL_H_
