// SPDX-License-Identifier: Apache-2.0
// The lcores of a switch, on devices that are lists of frames.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "fabric_fixture.h"
#include "switch/switch_lcore.h"

namespace suede {
namespace {

// Makes frames, and knows them all.
class Frames {
 public:
  Frame* Make(const std::vector<uint8_t>& bytes) {
    frames_.push_back(std::make_unique<Frame>());
    buffers_.emplace_back(4096);
    Frame* const frame = frames_.back().get();
    frame->buffer = buffers_.back().data();
    frame->capacity = 4096;
    frame->data = frame->buffer + 128;
    frame->length = static_cast<uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), frame->data);
    return frame;
  }

 private:
  std::vector<std::unique_ptr<Frame>> frames_;
  std::deque<std::vector<uint8_t>> buffers_;
};

class Device final : public Port {
 public:
  explicit Device(Frames& frames) : frames_(frames) {}

  uint32_t Receive(Frame** frames, uint32_t max) override {
    uint32_t count = 0;
    for (; count < max && !waiting.empty(); ++count) {
      frames[count] = waiting.front();
      waiting.pop_front();
    }
    return count;
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count) override {
    const uint32_t taken = std::min(count, takes);
    sent.insert(sent.end(), frames, frames + taken);
    takes -= taken;
    return taken;
  }
  bool IsBusy(const Frame* /*frame*/) const override { return false; }
  uint32_t Allocate(Frame** frames, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) frames[i] = frames_.Make({});
    return count;
  }
  void Release(Frame* const* /*frames*/, uint32_t count) override { released += count; }
  void Hold(Frame* const* /*frames*/, uint32_t /*count*/) override { std::abort(); }
  uint32_t max_frame_bytes() const override { return 2048; }
  bool Offers(TxOffload /*offload*/) const override { return false; }
  LinkState link() const override { return {.up = true}; }

  std::deque<Frame*> waiting;
  std::vector<Frame*> sent;
  uint32_t takes = UINT32_MAX;
  uint64_t released = 0;

 private:
  Frames& frames_;
};

constexpr Time kNow = TimeFromNs(1'000'000);

// Addresses 1, 2, ... are behind ports 0, 1, ...
class SwitchLcoreTest : public testing::Test {
 protected:
  static constexpr uint32_t kPorts = 4;

  void Build(bool with_rings) {
    fabric::SwitchParams params;
    params.learns = false;
    params.ports.resize(kPorts);
    the_switch = std::make_unique<fabric::Switch>(params);
    lcore = std::make_unique<SwitchingLcore>(the_switch.get(), &mailbox);
    for (uint32_t p = 0; p < kPorts; ++p) {
      the_switch->table().AddStatic(fabric::ForwardingTable::MacKey(fabric::MacNumber(p + 1), 0),
                                    static_cast<uint16_t>(p));
      devices.push_back(std::make_unique<Device>(frames));
      rings.push_back(with_rings ? std::make_unique<SwitchRings>() : nullptr);
      lcore->AddPort(devices[p].get(), rings[p].get());
      if (with_rings) io->AddPort(devices[p].get(), rings[p].get());
    }
  }
  void Clear() {
    lcore.reset();
    io.emplace();
    devices.clear();
    rings.clear();
    came.clear();
  }
  void Arrive(uint32_t port, uint32_t to, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t bytes = 2 + next_++ % 500;
      Frame* const frame =
          frames.Make(fabric::BytesOf({.from = port + 1, .to = to + 1, .bytes = bytes}));
      came.push_back(frame);
      devices[port]->waiting.push_back(frame);
    }
  }

  Frames frames;
  SwitchMailbox mailbox;
  std::unique_ptr<fabric::Switch> the_switch;
  std::unique_ptr<SwitchingLcore> lcore;
  std::optional<DeviceLcore> io{std::in_place};
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<std::unique_ptr<SwitchRings>> rings;
  std::vector<Frame*> came;  // in order

 private:
  uint32_t next_ = 0;
};

// No queue grows only because several inputs bring more in a turn than one burst.
TEST_F(SwitchLcoreTest, AnOutputTakesWhatAllInputsBringInATurn) {
  Build(false);
  for (uint32_t p = 1; p < kPorts; ++p) Arrive(p, 0, kSwitchBurst);
  lcore->Poll(kNow);
  EXPECT_EQ(devices[0]->sent.size(), (kPorts - 1) * kSwitchBurst);
  EXPECT_EQ(the_switch->buffer().used(), 0u);
}

TEST_F(SwitchLcoreTest, FramesThatADeviceRefusesAreSentFirstTheNextTime) {
  Build(false);
  devices[1]->takes = 5;
  Arrive(0, 1, kSwitchBurst);
  lcore->Poll(kNow);
  EXPECT_EQ(devices[1]->sent.size(), 5u);
  devices[1]->takes = UINT32_MAX;
  Arrive(0, 1, kSwitchBurst);
  lcore->Poll(kNow);
  lcore->Poll(kNow);
  EXPECT_EQ(devices[1]->sent, came);
  EXPECT_EQ(devices[1]->released, 2 * kSwitchBurst);  // the reference went with each, once
}

// A cable that is pulled leaves nothing behind: no drain waits for it, and who plugs it in again
// gets no old frames.
TEST_F(SwitchLcoreTest, FramesThatADeviceRefusesEndWhereItsPortGoesDown) {
  for (const bool with_rings : {false, true}) {
    SCOPED_TRACE(with_rings);
    Build(with_rings);
    Time now = kNow;
    const auto turn = [&](int turns) {
      for (int i = 0; i < turns; ++i) {
        now += std::chrono::milliseconds(1);
        io->Poll(now);
        lcore->Poll(now);
        io->Poll(now);
      }
    };
    const auto inside = [&] {
      size_t count = lcore->frames_inside() + io->frames_inside();
      for (const auto& ring : rings)
        count += ring != nullptr ? ring->in.size() + ring->out.size() : 0;
      return count;
    };
    devices[1]->takes = 5;
    Arrive(0, 1, 3 * kSwitchBurst);
    turn(5);
    ASSERT_EQ(devices[1]->sent.size(), 5u);
    ASSERT_EQ(inside(), 3 * kSwitchBurst - 5);
    the_switch->SetDown(1, true);
    turn(3);
    EXPECT_EQ(inside(), 0u);
    uint64_t dropped = the_switch->port(1).counters().Get(SwitchPortCounter::kTxDown);
    for (uint32_t c = 0; c < fabric::kClasses; ++c) {
      dropped += the_switch->port(1).counters(c).Get(SwitchClassCounter::kDownDrop);
    }
    EXPECT_EQ(dropped, 3 * kSwitchBurst - 5);
    uint64_t released = 0;
    for (const auto& device : devices) released += device->released;
    EXPECT_EQ(released, 3 * kSwitchBurst);
    the_switch->SetDown(1, false);
    devices[1]->takes = UINT32_MAX;
    turn(2);
    Arrive(0, 1, 1);
    turn(2);
    ASSERT_EQ(devices[1]->sent.size(), 6u);
    EXPECT_EQ(devices[1]->sent.back(), came.back());
    Clear();
  }
}

// Rings, a device that takes little and bursts of all sizes change no order and lose nothing.
TEST_F(SwitchLcoreTest, TwoLcoresKeepTheOrder) {
  Build(true);
  for (uint32_t turn = 0; turn < 400; ++turn) {
    Arrive(0, 1, turn < 200 ? turn % 40 : 0);
    devices[1]->takes = turn % 3 == 0 ? turn % 30 : UINT32_MAX;
    io->Poll(kNow);
    if (turn % 7 != 0) lcore->Poll(kNow);
  }
  EXPECT_EQ(devices[1]->sent, came);
}

// A ring that is full leaves frames with the device, and none is dropped.
TEST_F(SwitchLcoreTest, AFullRingHoldsFramesBack) {
  Build(true);
  Arrive(0, 1, 1000);
  for (int turn = 0; turn < 50; ++turn) io->Poll(kNow);
  EXPECT_GT(devices[0]->waiting.size(), 600u);
  for (int turn = 0; turn < 200; ++turn) {
    lcore->Poll(kNow);
    io->Poll(kNow);
  }
  EXPECT_EQ(devices[1]->sent, came);
}

}  // namespace
}  // namespace suede
