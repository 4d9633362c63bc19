// SPDX-License-Identifier: Apache-2.0
// A port whose other end is in the same thread: copies each frame once on the way, as memif does,
// and costs little else. For benchmarks of the code between ring and port.
#ifndef SUEDE_TESTS_BENCH_LOOP_PORT_H_
#define SUEDE_TESTS_BENCH_LOOP_PORT_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/fifo.h"
#include "port/port.h"

namespace suede {

// The frames of one side's ports.
class LoopPool {
 public:
  static constexpr uint32_t kMaxFrameBytes = 4400;

  explicit LoopPool(uint32_t frames) {
    constexpr size_t kBytes = sizeof(Frame) + Frame::kCommandOffset + kMaxFrameBytes +
                              Frame::kSlackBytes + 64;
    stride_ = (kBytes + 63) / 64 * 64;
    memory_.reset(static_cast<uint8_t*>(std::aligned_alloc(64, stride_ * frames)));
    for (uint32_t i = 0; i < frames; ++i) {
      auto* frame = new (memory_.get() + stride_ * i) Frame;
      frame->buffer = reinterpret_cast<uint8_t*>(frame + 1);
      frame->capacity = static_cast<uint32_t>(stride_ - sizeof(Frame));
      free_.push_back(frame);
    }
  }
  std::vector<Frame*>& free() { return free_; }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  size_t stride_;
  std::unique_ptr<uint8_t, Free> memory_;
  std::vector<Frame*> free_;
};

class LoopPort : public Port {
 public:
  static constexpr uint32_t kMaxFrameBytes = LoopPool::kMaxFrameBytes;

  explicit LoopPort(LoopPool* pool) : free_(pool->free()) { arrived_.Reserve(1024); }
  void ConnectTo(LoopPort* other) { other_ = other; }

  uint32_t Receive(Frame** frames, uint32_t max) override {
    uint32_t count = 0;
    for (; count < max && !arrived_.empty(); arrived_.pop_front()) {
      frames[count++] = arrived_.front();
    }
    return count;
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count) override {
    uint32_t taken = 0;
    while (taken < count && other_->Take(*frames[taken])) ++taken;
    return taken;
  }
  bool IsBusy(const Frame*) const override { return false; }
  uint32_t Allocate(Frame** frames, uint32_t count) override {
    uint32_t given = 0;
    for (; given < count && !free_.empty(); free_.pop_back()) frames[given++] = free_.back();
    return given;
  }
  void Release(Frame* const* frames, uint32_t count) override {
    free_.insert(free_.end(), frames, frames + count);
  }
  // Frames have one reference here.
  void Hold(Frame* const* /*frames*/, uint32_t /*count*/) override { std::abort(); }
  uint32_t max_frame_bytes() const override { return kMaxFrameBytes; }
  bool Offers(TxOffload offload) const override { return offload == TxOffload::kNone; }
  LinkState link() const override { return {.up = true, .speed_bps = 0}; }

 protected:
  // A copy of the frame arrives here. False where there is no room for it.
  bool Take(const Frame& frame) {
    if (arrived_.size() >= 1024 || free_.empty()) return false;
    Frame* const copy = free_.back();
    free_.pop_back();
    copy->data = copy->buffer + Frame::kCommandOffset;
    copy->length = frame.length;
    std::memcpy(copy->data, frame.data, copy->length);
    arrived_.push_back(copy);
    return true;
  }
  static bool Give(LoopPort& to, const Frame& frame) { return to.Take(frame); }

 private:
  std::vector<Frame*>& free_;
  Fifo<Frame*> arrived_;
  LoopPort* other_ = nullptr;
};

// One that has several others, and sends to each the frames of udp4 for the addresses whose low
// bits are those of one of its XPUs: kXpus in a row.
class FanPort : public LoopPort {
 public:
  static constexpr uint32_t kXpus = 256;

  using LoopPort::LoopPort;
  void AddOther(LoopPort* other) { others_.push_back(other); }

  uint32_t Transmit(Frame* const* frames, uint32_t count) override {
    constexpr uint32_t kDestinationOffset = 30;
    uint32_t taken = 0;
    for (; taken < count; ++taken) {
      const uint8_t* const address = frames[taken]->data + kDestinationOffset;
      const uint32_t xpu = (address[2] & 0x0fu) << 8 | address[3];
      if (!Give(*others_[xpu / kXpus], *frames[taken])) break;
    }
    return taken;
  }

 private:
  std::vector<LoopPort*> others_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_BENCH_LOOP_PORT_H_
