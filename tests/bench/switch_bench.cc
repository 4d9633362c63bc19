// SPDX-License-Identifier: Apache-2.0
// The cost of a frame in the switching lcore, without devices: two ports that send to each other,
// of 2 and of 64 configured ports with eight classes each. Least time of several runs, in turn.
// With the arguments PORTS TURNS it makes one run, for those who count instructions.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "fabric_fixture.h"
#include "switch/switch_lcore.h"

namespace suede {
namespace {

// A device with frames of its own for as many turns as it likes; the frames that another sends come
// back to it.
class LoopDevice final : public Port {
 public:
  void Fill(std::vector<Frame*> frames) { waiting_ = std::move(frames); }
  void Join(LoopDevice* other) { other_ = other; }

  uint32_t Receive(Frame** frames, uint32_t max) override {
    const auto count = std::min<uint32_t>(max, static_cast<uint32_t>(waiting_.size()));
    std::copy_n(waiting_.end() - count, count, frames);
    waiting_.resize(waiting_.size() - count);
    return count;
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count) override { return Give(frames, count); }
  uint32_t Give(Frame* const* frames, uint32_t count) override {
    other_->waiting_.insert(other_->waiting_.end(), frames, frames + count);
    sent += count;
    return count;
  }
  bool IsBusy(const Frame* /*frame*/) const override { return false; }
  uint32_t Allocate(Frame** /*frames*/, uint32_t /*count*/) override { return 0; }
  void Release(Frame* const* /*frames*/, uint32_t /*count*/) override {}
  void Hold(Frame* const* /*frames*/, uint32_t /*count*/) override { std::abort(); }
  uint32_t max_frame_bytes() const override { return 2048; }
  bool Offers(TxOffload /*offload*/) const override { return false; }
  LinkState link() const override { return {.up = true}; }

  uint64_t sent = 0;

 private:
  std::vector<Frame*> waiting_;
  LoopDevice* other_ = nullptr;
};

class Bed {
 public:
  explicit Bed(uint32_t ports) : devices_(ports) {
    fabric::SwitchParams params;
    params.buffer_bytes = 8u << 20;
    params.ports.resize(ports);
    switch_ = std::make_unique<fabric::Switch>(params);
    lcore_ = std::make_unique<SwitchingLcore>(switch_.get(), &mailbox_);
    for (LoopDevice& device : devices_) lcore_->AddPort(&device, nullptr);
    for (uint32_t p = 0; p < 2; ++p) {
      switch_->table().AddStatic(fabric::ForwardingTable::MacKey(fabric::MacNumber(p + 1), 0),
                                 static_cast<uint16_t>(p));
      std::vector<Frame*> frames;
      for (uint32_t i = 0; i < kSwitchBurst; ++i) frames.push_back(Make(p + 1, 2 - p));
      devices_[p].Fill(std::move(frames));
      devices_[p].Join(&devices_[1 - p]);
    }
  }

  // Nanoseconds of a frame.
  double Run(uint32_t turns) {
    const uint64_t before = sent();
    const auto start = std::chrono::steady_clock::now();
    for (uint32_t i = 0; i < turns; ++i) {
      now_ += std::chrono::microseconds(1);
      lcore_->Poll(now_);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    return took.count() / static_cast<double>(sent() - before);
  }

 private:
  uint64_t sent() const { return devices_[0].sent + devices_[1].sent; }
  Frame* Make(uint32_t from, uint32_t to) {
    frames_.push_back(std::make_unique<Frame>());
    Frame* const frame = frames_.back().get();
    buffers_.emplace_back(2048);
    frame->buffer = buffers_.back().data();
    frame->capacity = 2048;
    frame->data = frame->buffer + 128;
    const auto bytes = fabric::BytesOf({.from = from, .to = to});
    frame->length = static_cast<uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), frame->data);
    return frame;
  }

  std::vector<LoopDevice> devices_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<std::vector<uint8_t>> buffers_;
  std::unique_ptr<fabric::Switch> switch_;
  SwitchMailbox mailbox_;
  std::unique_ptr<SwitchingLcore> lcore_;
  Time now_ = TimeFromNs(1'000'000);
};

int Main() {
  constexpr uint32_t kRuns = 9;
  constexpr uint32_t kTurns = 50'000;
  Bed few(2);
  Bed many(64);
  double min_few = std::numeric_limits<double>::max();
  double min_many = min_few;
  for (uint32_t run = 0; run < kRuns; ++run) {
    min_few = std::min(min_few, few.Run(kTurns));
    min_many = std::min(min_many, many.Run(kTurns));
  }
  std::printf("2 ports: %.1f ns a frame\n64 ports, 2 of them active: %.1f ns a frame (%.2f)\n",
              min_few, min_many, min_many / min_few);
  return 0;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  if (argc < 3) return suede::Main();
  suede::Bed bed(static_cast<uint32_t>(std::atoi(argv[1])));
  bed.Run(static_cast<uint32_t>(std::atoi(argv[2])));
  return 0;
}
