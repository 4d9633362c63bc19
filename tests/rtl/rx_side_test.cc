// SPDX-License-Identifier: Apache-2.0
// Table 2 from SUE's side, beat by beat.
#include "rx_side.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

namespace suede::rtl {
namespace {

constexpr uint32_t kRxBeatBytes = 32;

struct RxEndpoint {
  bool is_ready = true;
  int resets = 0;
  std::deque<Command> arrived[kVcs];
};

class FakeRxLink : public RxLink {
 public:
  explicit FakeRxLink(RxEndpoint* endpoint) : endpoint_(endpoint) {}
  bool IsReady() override { return endpoint_->is_ready; }
  bool Receive(uint8_t vc, Command* command) override {
    if (endpoint_->arrived[vc].empty()) return false;
    *command = endpoint_->arrived[vc].front();
    endpoint_->arrived[vc].pop_front();
    return true;
  }
  void Reset() override { ++endpoint_->resets; }

 private:
  RxEndpoint* endpoint_;
};

class RxSideTest : public testing::Test {
 protected:
  RxSideTest() { Edge(); }
  RxSide::Out Edge(uint32_t credit = 0, bool reset_in = false) {
    return side_.Edge({.credit = static_cast<uint8_t>(credit), .reset_in = reset_in});
  }
  void Arrive(uint8_t vc, uint32_t data) {
    Command command;
    command.vc = vc;
    command.xpuid = 9;
    command.control = {static_cast<uint8_t>(data == 0 ? 1 : 0x11), static_cast<uint8_t>(data - 1)};
    for (uint32_t i = 0; i < data; ++i) command.data[i] = static_cast<uint8_t>(i + 1);
    endpoint_.arrived[vc].push_back(command);
  }

  RxEndpoint endpoint_;
  RxSide side_{kRxBeatBytes, std::make_unique<FakeRxLink>(&endpoint_)};
};

TEST_F(RxSideTest, DrivesTheBeatsOfACommandWithoutPause) {
  Arrive(2, 80);
  EXPECT_EQ(Edge().beat.valid, 0);
  RxSide::Out out = Edge(0x20 | 2 << 3);
  for (uint32_t cycle = 0; cycle < 3; ++cycle) {
    EXPECT_EQ(out.beat.valid, 2);
    EXPECT_EQ(out.beat.cycle, cycle);
    EXPECT_EQ(out.beat.vc, 2);
    EXPECT_EQ(out.beat.xpuid, 9);
    for (uint32_t i = 0; i < kRxBeatBytes; ++i) {
      const uint32_t at = cycle * kRxBeatBytes + i;
      EXPECT_EQ(out.beat.data[i], at < 80 ? at + 1 : 0);
    }
    out = Edge();
  }
  EXPECT_EQ(out.beat.valid, 0);
}

TEST_F(RxSideTest, AVcWaitsForCreditOfItsNextKindAndOthersGoOn) {
  Arrive(0, 10);
  Arrive(0, 0);
  Arrive(3, 0);
  Arrive(3, 0);
  EXPECT_EQ(Edge(0x04).beat.valid, 0);  // VC 0 needs credit for data first
  RxSide::Out out = Edge(0x04 | 3);
  EXPECT_EQ(out.beat.vc, 3);
  EXPECT_EQ(out.beat.valid, 1);
  EXPECT_EQ(Edge().beat.valid, 0);
  out = Edge(0x20);
  EXPECT_EQ(out.beat.vc, 0);
  EXPECT_EQ(out.beat.valid, 2);
  EXPECT_EQ(Edge().beat.valid, 1);
  EXPECT_EQ(Edge().beat.valid, 0);
}

TEST_F(RxSideTest, KeepsUpTo255CreditsOfAKind) {
  for (uint32_t i = 0; i < 300; ++i) Edge(0x04);
  for (uint32_t i = 0; i < 300; ++i) Arrive(0, 0);
  uint32_t driven = 0;
  for (uint32_t i = 0; i < 400; ++i) driven += Edge().beat.valid;
  EXPECT_EQ(driven, RxSide::kMaxCredit);
}

TEST_F(RxSideTest, AResetCutsTheCommandAndVoidsCredit) {
  Arrive(1, 80);
  Arrive(0, 0);
  Arrive(2, 0);
  Edge(0x24 | 1 << 3);
  Edge(0x24);
  RxSide::Out out = Edge(0x24, true);
  EXPECT_TRUE(out.reset_out);
  EXPECT_EQ(out.beat.valid, 0);
  EXPECT_EQ(endpoint_.resets, 1);
  endpoint_.is_ready = false;
  EXPECT_TRUE(Edge(0x24, true).reset_out);
  EXPECT_TRUE(Edge(0x24).reset_out);
  EXPECT_EQ(endpoint_.resets, 1);
  endpoint_.is_ready = true;
  EXPECT_FALSE(Edge(0x24).reset_out);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Edge().beat.valid, 0);
  EXPECT_EQ(Edge(0x04 | 2).beat.vc, 2);
}

TEST_F(RxSideTest, ItsOwnResetLetsTheCommandEndAndLosesNone) {
  Arrive(1, 80);
  Arrive(1, 0);
  EXPECT_EQ(Edge(0x20 | 1 << 3).beat.cycle, 0);
  endpoint_.is_ready = false;
  EXPECT_EQ(Edge().beat.cycle, 1);
  EXPECT_EQ(Edge(0x04 | 1).beat.cycle, 2);
  EXPECT_TRUE(Edge().reset_out);
  endpoint_.is_ready = true;
  EXPECT_FALSE(Edge().reset_out);
  EXPECT_EQ(Edge().beat.valid, 0);  // credit of before the reset
  EXPECT_EQ(Edge(0x04 | 1).beat.valid, 1);
}

}  // namespace
}  // namespace suede::rtl
