// SPDX-License-Identifier: Apache-2.0
// A port that takes as many frames as it is told to, and remembers which.
#ifndef SUEDE_TESTS_LINK_FAKE_PORT_H_
#define SUEDE_TESTS_LINK_FAKE_PORT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "port/port.h"

namespace suede {

class FakePort : public Port {
 public:
  uint32_t Receive(Frame** frames, uint32_t max) override {
    uint32_t count = 0;
    for (; count < max && !arrived.empty(); arrived.pop_front()) frames[count++] = arrived.front();
    return count;
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count) override {
    ++bursts;
    const uint32_t taken = std::min(count, max);
    for (uint32_t i = 0; i < count; ++i) {
      const Frame& frame = *frames[i];
      EXPECT_TRUE(frame.data >= frame.buffer &&
                  frame.data + frame.length <= frame.buffer + frame.capacity);
    }
    sent.insert(sent.end(), frames, frames + taken);
    if (keeps) busy.insert(frames, frames + taken);
    return taken;
  }
  void Flush() override { ++flushes; }
  bool IsBusy(const Frame* frame) const override {
    return busy.contains(frame) || held.contains(frame);
  }
  bool Reclaim() override { return reclaims; }
  uint32_t Allocate(Frame** frames, uint32_t count) override {
    if (empty) return 0;
    for (uint32_t i = 0; i < count; ++i) {
      frames[i] = MakeFrame();
      // As a pool's frame has them from its last use.
      std::memset(frames[i]->notes, 0xff, Frame::kNoteBytes);
      frames[i]->tx_offload = TxOffload::kUdp6Checksum;
      frames[i]->length = 77;
    }
    return count;
  }
  void Release(Frame* const* frames, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) {
      if (const auto found = held.find(frames[i]); found != held.end()) {
        held.erase(found);
      } else {
        released.push_back(frames[i]);
      }
    }
  }
  void Hold(Frame* const* frames, uint32_t count) override { held.insert(frames, frames + count); }
  uint32_t max_frame_bytes() const override { return kBytes; }
  bool Offers(TxOffload offload) const override { return offload == TxOffload::kNone || offloads; }
  LinkState link() const override { return {.up = up, .speed_bps = speed_bps}; }

  Frame* MakeFrame() {
    struct Memory {
      Frame frame;
      uint8_t bytes[kBytes];
    };
    auto memory = std::make_shared<Memory>();
    memory->frame.buffer = memory->frame.data = memory->bytes;
    memory->frame.capacity = kBytes;
    memory->frame.length = 60;
    memory_.push_back(memory);
    return &memory->frame;
  }

  uint32_t max = ~0u;   // frames that a burst may take
  bool keeps = false;   // taken frames stay busy
  bool reclaims = true;
  bool empty = false;  // its pool
  bool up = true;
  bool offloads = false;
  uint64_t speed_bps = 0;
  uint32_t bursts = 0;
  uint32_t flushes = 0;
  std::vector<Frame*> sent;
  std::vector<Frame*> released;
  std::set<const Frame*> busy;
  std::multiset<const Frame*> held;  // once for each reference beyond the first
  std::deque<Frame*> arrived;

 private:
  static constexpr uint32_t kBytes = 2048;
  std::vector<std::shared_ptr<void>> memory_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_LINK_FAKE_PORT_H_
