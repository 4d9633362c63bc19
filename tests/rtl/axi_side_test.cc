// SPDX-License-Identifier: Apache-2.0
// Valid, ready and reset of the AXI4 interfaces above a port that comes and goes.
#include "axi_side.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace suede::rtl {
namespace {

class FakePort final : public AxiPort {
 public:
  bool Poll() override {
    ++polls;
    is_up_ = will_be_up;
    return is_up_;
  }
  bool is_up() const override { return is_up_; }

  uint32_t Credit(uint32_t) const override { return credit; }
  void SendAw(const suede_axi_address& address) override {
    EXPECT_TRUE(is_up_);
    EXPECT_NE(credit, 0u);
    --credit;
    aws.push_back(address.address);
  }
  void SendW(const suede_axi_write_beat& beat) override { ws.push_back(beat.last); }
  void SendAr(const suede_axi_address& address) override { ars.push_back(address.address); }
  bool TakeB(suede_axi_write_response* to) override {
    EXPECT_TRUE(is_up_);
    return Take(bs, &to->id);
  }
  bool TakeR(suede_axi_read_beat* to) override { return Take(rs, &to->id); }
  void ResetSubordinate() override { ++resets; }

  bool TakeAw(suede_axi_address* to) override { return Take(issued, &to->id); }
  bool TakeW(suede_axi_write_beat*) override { return false; }
  bool TakeAr(suede_axi_address*) override { return false; }
  bool SendB(const suede_axi_write_response& response) override {
    EXPECT_TRUE(is_up_);
    answers.push_back(response.id);
    return true;
  }
  bool SendR(const suede_axi_read_beat& beat) override {
    answers.push_back(beat.id);
    return true;
  }
  void ResetManager(bool in_reset) override { manager_resets.push_back(in_reset); }

  bool will_be_up = true;
  uint32_t credit = 2;
  int polls = 0;
  int resets = 0;
  std::vector<bool> manager_resets;
  std::vector<uint64_t> aws, ars;
  std::vector<uint8_t> ws;
  std::vector<uint32_t> answers;
  std::deque<uint32_t> bs, rs, issued;

 private:
  static bool Take(std::deque<uint32_t>& from, uint32_t* id) {
    if (from.empty()) return false;
    *id = from.front();
    from.pop_front();
    return true;
  }

  bool is_up_ = false;
};

AxiRequests Aw(uint64_t address) {
  AxiRequests in;
  in.aw_valid = true;
  in.aw.address = address;
  return in;
}

TEST(AxiSubordinateSide, ReadyIsCredit) {
  FakePort port;
  AxiSubordinateSide side(&port);
  EXPECT_FALSE(side.aw().ready());
  side.Edge(false, Aw(1));  // READY was low
  EXPECT_TRUE(port.aws.empty());
  EXPECT_TRUE(side.aw().ready());
  side.Edge(false, Aw(1));
  EXPECT_TRUE(side.aw().ready());
  side.Edge(false, Aw(2));
  EXPECT_EQ(port.aws, (std::vector<uint64_t>{1, 2}));
  EXPECT_FALSE(side.aw().ready());
  side.Edge(false, Aw(3));
  EXPECT_EQ(port.aws.size(), 2u);
  port.credit = 1;
  side.Edge(false, Aw(3));
  EXPECT_TRUE(side.aw().ready());
  EXPECT_EQ(port.aws.size(), 2u);
}

TEST(AxiSubordinateSide, KeepsATransferWhileThePortIsAway) {
  FakePort port;
  AxiSubordinateSide side(&port);
  side.Edge(false, {});
  ASSERT_TRUE(side.aw().ready());
  // The other module's edge finds that the daemon has gone.
  port.will_be_up = false;
  port.Poll();
  side.Edge(false, Aw(7));
  EXPECT_TRUE(port.aws.empty());
  EXPECT_FALSE(side.aw().ready());
  side.Edge(false, Aw(8));
  port.will_be_up = true;
  side.Edge(false, Aw(8));
  EXPECT_EQ(port.aws, (std::vector<uint64_t>{7}));
  EXPECT_TRUE(side.aw().ready());
}

TEST(AxiSubordinateSide, HoldsValidUntilReady) {
  FakePort port;
  AxiSubordinateSide side(&port);
  port.bs = {4, 5};
  side.Edge(false, {});
  AxiRequests ready;
  ready.b_ready = true;
  port.will_be_up = false;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(side.b().valid());
    EXPECT_EQ(side.b().transfer().id, 4u);
    side.Edge(false, {});
  }
  side.Edge(false, ready);
  EXPECT_FALSE(side.b().valid());
  port.will_be_up = true;
  side.Edge(false, ready);
  EXPECT_EQ(side.b().transfer().id, 5u);
  EXPECT_TRUE(side.b().valid());
  side.Edge(false, ready);
  EXPECT_FALSE(side.b().valid());
}

TEST(AxiSubordinateSide, IsSilentInReset) {
  FakePort port;
  AxiSubordinateSide side(&port);
  port.bs = {4, 5};
  side.Edge(false, {});
  ASSERT_TRUE(side.b().valid());
  const int polls = port.polls;
  for (int i = 0; i < 3; ++i) {
    side.Edge(true, Aw(1));
    EXPECT_FALSE(side.b().valid());
    EXPECT_FALSE(side.aw().ready());
  }
  EXPECT_EQ(port.resets, 1);
  EXPECT_EQ(port.polls, polls + 3);
  EXPECT_TRUE(port.aws.empty());
  side.Edge(false, Aw(1));
  EXPECT_TRUE(port.aws.empty());
  EXPECT_TRUE(side.aw().ready());
}

TEST(AxiManagerSide, IsSilentInReset) {
  FakePort port;
  AxiManagerSide side("left", &port);
  port.issued = {1, 2};
  side.Edge(false, {});
  EXPECT_TRUE(side.aw().valid());
  EXPECT_TRUE(side.b().ready());
  side.Edge(true, {});
  EXPECT_FALSE(side.aw().valid());
  EXPECT_FALSE(side.b().ready());
  side.Edge(true, {});
  EXPECT_EQ(port.manager_resets, (std::vector<bool>{true}));
  EXPECT_EQ(port.issued.size(), 1u);
  side.Edge(false, {});
  EXPECT_EQ(port.manager_resets, (std::vector<bool>{true, false}));
  EXPECT_EQ(side.aw().transfer().id, 2u);
}

TEST(AxiManagerSide, AnswersWaitWhileThePortIsAway) {
  FakePort port;
  AxiManagerSide side("left", &port);
  side.Edge(false, {});
  AxiAnswers b;
  b.b_valid = true;
  b.b.id = 9;
  side.Edge(false, b);
  EXPECT_EQ(port.answers, (std::vector<uint32_t>{9}));
  port.will_be_up = false;
  port.Poll();
  b.b.id = 10;
  side.Edge(false, b);
  EXPECT_FALSE(side.b().ready());
  EXPECT_EQ(port.answers.size(), 1u);
  port.will_be_up = true;
  side.Edge(false, {});
  EXPECT_EQ(port.answers, (std::vector<uint32_t>{9, 10}));
}

}  // namespace
}  // namespace suede::rtl
