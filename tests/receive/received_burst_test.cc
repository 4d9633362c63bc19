// SPDX-License-Identifier: Apache-2.0
// Series of the frames of a burst, in each encapsulation; their errors and R-CRCs.
#include "receive/received_burst.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "fake_port.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

// Forwarding addresses of 16 bits are XPU ids, which afh2c derives from them.
constexpr NetAddress kOwn{.low = 9};
constexpr NetAddress kPeers[] = {{.low = 1}, {.low = 2}};

class ReceivedBurstTest : public ::testing::TestWithParam<Encap> {
 protected:
  ReceivedBurstTest() : port_(&driver_, Params(), /*packet_lane=*/nullptr) {}

  static PortParams Params() {
    PortParams params;
    params.rules.encap = GetParam();
    return params;
  }

  // Adds a frame of a peer; `commands` is the first byte of its commands.
  Frame* Add(uint32_t peer, Psn psn, uint8_t vc, uint8_t commands = 0) {
    const HeaderTemplate header =
        MakeTemplate(GetParam(), {.source = kPeers[peer], .destination = kOwn});
    uint8_t bytes[16] = {};
    bytes[0] = commands;
    Frame* frame = driver_.MakeFrame();
    const std::span<uint8_t> built = BuildFrame(
        header, {.op = RhOp::kAck, .xpuid = static_cast<uint16_t>(peer + 1), .psn = psn, .vc = vc},
        bytes, {frame->buffer, frame->capacity});
    frame->data = built.data();
    frame->length = static_cast<uint32_t>(built.size());
    frames_.push_back(frame);
    return frame;
  }
  uint64_t Parse() {
    return burst_.Parse(port_, frames_.data(), static_cast<uint32_t>(frames_.size()));
  }

  FakePort driver_;
  PortContext port_;
  std::vector<Frame*> frames_;
  ReceivedBurst burst_;
};

TEST_P(ReceivedBurstTest, FramesOfOneFlowAreASeries) {
  uint64_t bytes = 0;
  for (uint16_t psn = 0; psn < ReceivedBurst::kMaxFrames; ++psn) {
    const auto commands = static_cast<uint8_t>(psn);
    bytes += Add(0, Psn(psn), 1, commands)->length;
  }
  EXPECT_EQ(Parse(), bytes);
  ASSERT_EQ(burst_.count(), ReceivedBurst::kMaxFrames);
  for (uint32_t i = 0; i < burst_.count(); ++i) {
    ASSERT_TRUE(burst_.has_next());
    ASSERT_EQ(burst_.Next(), i);
    EXPECT_EQ(burst_.series_index(i), burst_.series_index(0));
    EXPECT_EQ(burst_.rh(i).psn(), Psn(static_cast<uint16_t>(i)));
    EXPECT_TRUE(burst_.RcrcIsGood(i));
    EXPECT_EQ(*burst_.CommandsAt(i), i);
    EXPECT_GE(burst_.CommandBytesAt(i), 16u);
  }
  EXPECT_FALSE(burst_.has_next());
  EXPECT_EQ(burst_.series(0).source, kPeers[0]);
  EXPECT_FALSE(burst_.has_sealed());
  EXPECT_FALSE(burst_.has_marks());
}

TEST_P(ReceivedBurstTest, SeriesEndsWithThePeerAndTheVc) {
  Add(0, Psn(7), 0);
  Add(0, Psn(8), 0);
  Add(1, Psn(7), 0);
  Add(1, Psn(8), 2);
  Add(0, Psn(9), 0);
  Parse();
  EXPECT_EQ(burst_.series_index(0), burst_.series_index(1));
  for (uint32_t i = 2; i < burst_.count(); ++i) {
    EXPECT_NE(burst_.series_index(i), burst_.series_index(i - 1)) << i;
  }
  EXPECT_EQ(burst_.rh(3).vc(), 2);
  EXPECT_EQ(burst_.series(4).source, burst_.series(0).source);
}

TEST_P(ReceivedBurstTest, DamagedPduHarmsOnlyItself) {
  for (uint16_t psn = 0; psn < 5; ++psn) Add(0, Psn(psn), 0);
  frames_[2]->data[frames_[2]->length - 1] ^= 1;
  Parse();
  for (uint32_t i = 0; i < 5; ++i) {
    burst_.Next();
    const bool is_good = burst_.series(i).error() == FrameError::kNone && burst_.RcrcIsGood(i);
    EXPECT_EQ(is_good, i != 2) << i;
  }
}

TEST_P(ReceivedBurstTest, FrameWithAnErrorIsASeriesOfItsOwn) {
  Add(0, Psn(1), 0);
  Add(0, Psn(2), 0)->length = 16;
  Add(0, Psn(3), 0);
  Parse();
  EXPECT_EQ(burst_.series(0).error(), FrameError::kNone);
  EXPECT_EQ(burst_.series(1).error(), FrameError::kTruncated);
  EXPECT_EQ(burst_.series(2).error(), FrameError::kNone);
  EXPECT_NE(burst_.series_index(1), burst_.series_index(0));
  EXPECT_EQ(burst_.rh(2).psn(), Psn(3));
}

TEST_P(ReceivedBurstTest, SeriesHasThePlaceOfItsDestination) {
  Add(0, Psn(1), 0);
  Parse();
  EXPECT_EQ(burst_.place(0).instance, PortContext::Location::kNowhere);
  frames_.clear();
  Add(0, Psn(1), 0);
  Add(1, Psn(1), 0);
  port_.AddLocation(kOwn, {.instance = 3, .plane = PlaneIndex(1)});
  Parse();
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(burst_.place(i).instance, 3u);
    EXPECT_EQ(burst_.place(i).plane, 1u);
  }
}

TEST_P(ReceivedBurstTest, NextBurstRemembersNothing) {
  Add(0, Psn(1), 0)->length = 16;
  Parse();
  frames_.clear();
  Add(1, Psn(5), 3);
  Parse();
  ASSERT_EQ(burst_.count(), 1u);
  EXPECT_EQ(burst_.Next(), 0u);
  EXPECT_EQ(burst_.series(0).error(), FrameError::kNone);
  EXPECT_TRUE(burst_.RcrcIsGood(0));
  burst_.Clear();
  EXPECT_FALSE(burst_.has_next());
}

INSTANTIATE_TEST_SUITE_P(Of, ReceivedBurstTest,
                         ::testing::Values(Encap::kUdp4, Encap::kUdp6, Encap::kAfh1, Encap::kAfh1s,
                                           Encap::kAfh2, Encap::kAfh2c),
                         [](const auto& of) { return std::string(TraitsOf(of.param).name); });

}  // namespace
}  // namespace suede
