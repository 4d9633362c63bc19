// SPDX-License-Identifier: Apache-2.0
// Table 1 from SUE's side, beat by beat.
#include "tx_side.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace suede::rtl {
namespace {

constexpr uint32_t kTxBeatBytes = 32;

struct TxEndpoint {
  bool is_ready = true;
  bool has_credit = true;
  int resets = 0;
  std::vector<Command> sent;
};

class FakeTxLink : public TxLink {
 public:
  explicit FakeTxLink(TxEndpoint* endpoint) : endpoint_(endpoint) {}
  bool IsReady() override { return endpoint_->is_ready; }
  bool Send(const Command& command) override {
    if (!endpoint_->has_credit) return false;
    endpoint_->sent.push_back(command);
    return true;
  }
  void Flush() override {}
  void Reset() override { ++endpoint_->resets; }
  int64_t TakeLost() override { return -1; }
  uint64_t pending() const override { return 0; }

 private:
  TxEndpoint* endpoint_;
};

class TxSideTest : public testing::Test {
 protected:
  // Returns the output of an edge, and counts the credit in it.
  TxSide::Out Edge(const TxSide::In& in = {}) {
    const TxSide::Out out = side_.Edge(in);
    for (uint32_t kind = 0; kind < kKinds; ++kind) {
      const int vc = CreditBits::Decode(out.credit, kind);
      if (vc >= 0) ++credit_[kind][vc];
    }
    return out;
  }
  // Until all free slots are credit.
  void Rest() {
    for (uint32_t i = 0; i < 2 * kVcs * TxSide::kSlots; ++i) Edge();
  }
  // The beats of a command with `data` bytes on VC 1 to XPU 5.
  static std::vector<TxSide::In> Beats(uint32_t data) {
    Command command;
    command.control = {static_cast<uint8_t>(data == 0 ? 3 : 0x13), static_cast<uint8_t>(data - 1),
                       7};
    std::vector<TxSide::In> beats;
    for (uint32_t cycle = 0; cycle < command.beats(kTxBeatBytes); ++cycle) {
      TxSide::In in;
      in.beat = {.valid = static_cast<uint8_t>(data == 0 ? 1 : 2),
                 .cycle = static_cast<uint8_t>(cycle),
                 .vc = 1,
                 .xpuid = 5,
                 .control = command.control,
                 .data = {}};
      for (uint32_t i = 0; i < kTxBeatBytes; ++i) {
        in.beat.data[i] = static_cast<uint8_t>(cycle * kTxBeatBytes + i);
      }
      beats.push_back(in);
    }
    return beats;
  }

  TxEndpoint endpoint_;
  TxSide side_{"test", kTxBeatBytes, std::make_unique<FakeTxLink>(&endpoint_)};
  uint32_t credit_[kKinds][kVcs] = {};
};

TEST_F(TxSideTest, GivesEachSlotAsCreditOnceAfterReset) {
  endpoint_.is_ready = false;
  EXPECT_TRUE(Edge().reset_out);
  endpoint_.is_ready = true;
  const TxSide::Out first = Edge();
  EXPECT_FALSE(first.reset_out);
  EXPECT_EQ(first.credit, 0x24);
  Rest();
  for (const auto& of_kind : credit_) {
    for (const uint32_t credit : of_kind) EXPECT_EQ(credit, TxSide::kSlots);
  }
}

TEST_F(TxSideTest, AssemblesBeatsWithPauses) {
  Rest();
  for (const TxSide::In& beat : Beats(80)) {
    Edge(beat);
    Edge();
  }
  ASSERT_EQ(endpoint_.sent.size(), 1u);
  const Command& command = endpoint_.sent[0];
  EXPECT_EQ(command.number, 0u);
  EXPECT_EQ(command.vc, 1);
  EXPECT_EQ(command.xpuid, 5);
  EXPECT_FALSE(command.is_error);
  ASSERT_EQ(command.data_bytes(), 80u);
  for (uint32_t i = 0; i < 80; ++i) EXPECT_EQ(command.data[i], i);
  for (uint32_t i = 80; i < 256; ++i) EXPECT_EQ(command.data[i], 0);
  Rest();
  EXPECT_EQ(credit_[1][1], TxSide::kSlots + 1);
}

TEST_F(TxSideTest, AnErrorAtAnyBeatMarksTheCommand) {
  Rest();
  for (size_t at = 0; at < 3; ++at) {
    std::vector<TxSide::In> beats = Beats(80);
    beats[at].err = true;
    for (const TxSide::In& beat : beats) Edge(beat);
  }
  for (const TxSide::In& beat : Beats(80)) Edge(beat);
  ASSERT_EQ(endpoint_.sent.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(endpoint_.sent[i].is_error, i < 3) << i;
}

TEST_F(TxSideTest, GivesCreditBackOnlyWhenTheEndpointHasTheCommand) {
  endpoint_.has_credit = false;
  Rest();
  for (uint32_t i = 0; i < TxSide::kSlots; ++i) Edge(Beats(0)[0]);
  Rest();
  EXPECT_EQ(credit_[0][1], TxSide::kSlots);
  EXPECT_EQ(side_.broken(), 0u);
  Edge(Beats(0)[0]);
  EXPECT_EQ(side_.broken(), 1u);  // without credit
  endpoint_.has_credit = true;
  Rest();
  EXPECT_EQ(endpoint_.sent.size(), TxSide::kSlots);
  EXPECT_EQ(credit_[0][1], 2 * TxSide::kSlots);
}

TEST_F(TxSideTest, DiscardsACommandThatBreaksARule) {
  using Change = std::function<void(std::vector<TxSide::In>*)>;
  const Change changes[] = {
      [](auto* beats) { (*beats)[0].beat.cycle = 1; },
      [](auto* beats) { (*beats)[1].beat.cycle = 2; },
      [](auto* beats) { (*beats)[1].beat.vc = 2; },
      [](auto* beats) { (*beats)[2].beat.xpuid = 6; },
      [](auto* beats) { (*beats)[2].beat.control[17] = 1; },
      [](auto* beats) { (*beats)[1].beat.valid = 1; },
      [](auto* beats) { (*beats)[0].beat.valid = 3; },
      [](auto* beats) { (*beats)[0].beat.valid = 1; },
      [](auto* beats) {
        for (TxSide::In& in : *beats) in.beat.control[0] = 0x10;
      },
      [](auto* beats) {
        for (TxSide::In& in : *beats) in.beat.control[0] = 0x1a;
      },
      [](auto* beats) { beats->pop_back(); },
  };
  Rest();
  uint64_t broken = 0;
  for (const Change& change : changes) {
    std::vector<TxSide::In> beats = Beats(80);
    change(&beats);
    for (const TxSide::In& beat : beats) Edge(beat);
    // The next command is whole, where it does not have to end the broken one.
    for (const TxSide::In& beat : Beats(0)) Edge(beat);
    if (beats.size() < 3) {
      for (const TxSide::In& beat : Beats(0)) Edge(beat);
    }
    EXPECT_EQ(side_.broken(), ++broken) << "change " << broken;
    EXPECT_EQ(endpoint_.sent.size(), broken);
  }
  for (const Command& command : endpoint_.sent) EXPECT_FALSE(command.has_data());
  Rest();
  EXPECT_EQ(credit_[0][1] - broken, TxSide::kSlots);
}

TEST_F(TxSideTest, AResetDiscardsWhatIsIncompleteOrInSlots) {
  Rest();
  endpoint_.has_credit = false;
  Edge(Beats(0)[0]);
  Edge(Beats(0)[0]);
  Edge(Beats(80)[0]);
  TxSide::In reset;
  reset.reset_in = true;
  for (int i = 0; i < 3; ++i) {
    const TxSide::Out out = Edge(reset);
    EXPECT_TRUE(out.reset_out);
    EXPECT_EQ(out.credit, 0);
  }
  EXPECT_EQ(endpoint_.resets, 1);
  EXPECT_EQ(side_.TakeLost(), 0);
  EXPECT_EQ(side_.TakeLost(), 1);
  EXPECT_EQ(side_.TakeLost(), -1);
  endpoint_.has_credit = true;
  EXPECT_FALSE(Edge(Beats(80)[1]).reset_out);  // a beat in reset is ignored
  Rest();
  EXPECT_TRUE(endpoint_.sent.empty());
  EXPECT_EQ(side_.broken(), 0u);
  for (const TxSide::In& beat : Beats(40)) Edge(beat);
  ASSERT_EQ(endpoint_.sent.size(), 1u);
  EXPECT_EQ(endpoint_.sent[0].number, 2u);
}

TEST_F(TxSideTest, IsInResetWhileTheEndpointIs) {
  Rest();
  Edge(Beats(80)[0]);
  endpoint_.is_ready = false;
  EXPECT_TRUE(Edge(Beats(80)[1]).reset_out);
  endpoint_.is_ready = true;
  EXPECT_FALSE(Edge().reset_out);
  EXPECT_EQ(endpoint_.resets, 0);
  Edge(Beats(80)[2]);
  EXPECT_EQ(side_.broken(), 1u);
  EXPECT_TRUE(endpoint_.sent.empty());
}

}  // namespace
}  // namespace suede::rtl
