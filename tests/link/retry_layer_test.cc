// SPDX-License-Identifier: Apache-2.0
// The layer of link-level retry in the product's stack: references, bursts, busy frames.
#include "link/retry_layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "fake_port.h"
#include "link/link.h"

namespace suede {
namespace {

LinkParams Params(uint64_t boot) {
  LinkParams params;
  params.retry.on = true;
  params.retry.window_frames = 4;
  params.secret = {boot, 1};
  return params;
}

class RetryLayerTest : public ::testing::Test {
 protected:
  Pdu* Stage(uint8_t marker) {
    EXPECT_TRUE(link.frames().Has(1));
    Pdu* pdu = link.frames().NewPdu();
    Frame* frame = FrameOf(pdu);
    frame->data = frame->buffer + Frame::kCommandOffset;
    frame->length = 100;
    std::memset(frame->data, marker, frame->length);
    link.Stage(pdu, 0);
    return pdu;
  }
  void Turn() {
    link.Transmit(counters, now);
    link.frames().Flush();
  }
  // Frames that the port of one end took go to the other.
  static void Carry(FakePort& from, FakePort& to) {
    for (const Frame* frame : from.sent) {
      Frame* copy = to.MakeFrame();
      copy->length = frame->length;
      std::memcpy(copy->data, frame->data, frame->length);
      to.arrived.push_back(copy);
    }
    from.sent.clear();
  }
  std::vector<Frame*> Receive(Link& at) {
    Frame* frames[2 * kBurst];
    return {frames, frames + at.Receive(frames, now)};
  }
  std::vector<Frame*> Receive(RetryLayer& at) {
    Frame* frames[kBurst];
    return {frames, frames + at.Receive(frames, kBurst, now)};
  }
  void Exchange() {
    Turn();
    Carry(port, far_port);
    heard = Receive(far);
    far.Transmit(counters, now);
    Carry(far_port, port);
    EXPECT_TRUE(Receive(link).empty());
  }
  void Agree() {
    for (int i = 0; i < 8; ++i) {
      now += std::chrono::microseconds(200);
      Exchange();
    }
    ASSERT_TRUE(end().numbers());
    port.released.clear();
  }
  const LinkEnd& end() const { return *link.end(); }
  uint64_t Count(LinkCounter counter) const { return end().counters().Get(counter); }

  Time now = TimeFromNs(1'000'000'000);
  FakePort port;
  FakePort far_port;
  Link link{&port, Params(1)};
  Link far{&far_port, Params(2)};
  CounterBlock counters;
  std::vector<Frame*> heard;
};

TEST_F(RetryLayerTest, ALayerThatIsOffHasNoEndAndChangesNothing) {
  FakePort plain;
  Link off{&plain};
  EXPECT_EQ(off.end(), nullptr);
  EXPECT_EQ(off.max_frame_bytes(), plain.max_frame_bytes());
  EXPECT_EQ(link.max_frame_bytes() + kLinkShimBytes, port.max_frame_bytes());
  off.Transmit(counters, now);
  EXPECT_TRUE(plain.sent.empty());
  EXPECT_EQ(plain.flushes, 1u);
}

TEST_F(RetryLayerTest, AFrameIsHeldUntilTheNeighbourHasIt) {
  Agree();
  Frame* const frame = FrameOf(Stage(7));
  Turn();
  EXPECT_EQ(frame->length, 108u);
  EXPECT_EQ(port.held.count(frame), 1u);
  EXPECT_TRUE(link.IsBusy(frame));
  Carry(port, far_port);
  heard = Receive(far);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0]->length, 100u);
  EXPECT_TRUE(std::all_of(heard[0]->data, heard[0]->data + 100, [](uint8_t b) { return b == 7; }));
  now += std::chrono::microseconds(10);
  far.Transmit(counters, now);
  Carry(far_port, port);
  EXPECT_TRUE(Receive(link).empty()) << "an ACK goes no further up";
  EXPECT_FALSE(link.IsBusy(frame));
  EXPECT_EQ(std::ranges::count(port.released, frame), 0) << "it is its owner's";
}

TEST_F(RetryLayerTest, ItsOwnerMayReleaseAFrameThatIsHeld) {
  Agree();
  Pdu* const pdu = Stage(7);
  Frame* const frame = FrameOf(pdu);
  Turn();
  link.frames().ReleasePdu(pdu);
  link.frames().Flush();
  EXPECT_EQ(end().sender().held(), 1u);
  EXPECT_EQ(std::ranges::count(port.released, frame), 0);
  Exchange();
  now += std::chrono::microseconds(10);
  Exchange();
  EXPECT_EQ(end().sender().held(), 0u);
  EXPECT_EQ(std::ranges::count(port.released, frame), 1);
}

TEST_F(RetryLayerTest, AFrameThatIsStagedAgainWhileItIsHeldIsNotSentTwice) {
  Agree();
  Pdu* const pdu = Stage(7);
  Turn();
  ASSERT_EQ(port.sent.size(), 1u);
  ASSERT_TRUE(link.IsBusy(FrameOf(pdu)));
  link.StageBusy(pdu);
  Turn();
  EXPECT_EQ(port.sent.size(), 1u);
  EXPECT_TRUE(link.empty());
  EXPECT_FALSE(pdu->note.staged());
  EXPECT_EQ(Count(LinkCounter::kLlrTxHeld), 1u);
  EXPECT_EQ(port.held.count(FrameOf(pdu)), 1u);
}

TEST_F(RetryLayerTest, AFullWindowTakesNoMoreAndLosesNothing) {
  Agree();
  for (uint8_t i = 0; i < 6; ++i) Stage(i);
  Turn();
  EXPECT_EQ(port.sent.size(), 4u);
  EXPECT_EQ(link.staged().size(), 2u);
  EXPECT_EQ(Count(LinkCounter::kLlrTxFull), 1u);
  Exchange();
  EXPECT_EQ(heard.size(), 4u);
  Exchange();
  EXPECT_EQ(heard.size(), 2u);
  EXPECT_TRUE(link.empty());
}

TEST_F(RetryLayerTest, WhatThePortDoesNotTakeLeavesInOrderLater) {
  Agree();
  port.max = 1;
  Stage(1);
  Stage(2);
  Turn();
  EXPECT_TRUE(link.empty()) << "the layer has both";
  port.max = 0;
  Stage(3);
  Turn();
  EXPECT_EQ(link.staged().size(), 1u) << "while one waits no more are taken";
  port.max = ~0u;
  Turn();
  ASSERT_EQ(port.sent.size(), 3u);
  for (uint8_t i = 0; i < 3; ++i) EXPECT_EQ(port.sent[i]->data[0], i + 1);
}

// Frames of 100 octets, 124 of them with what is around them; the shim is 8 more.
TEST_F(RetryLayerTest, TheDeviceIsGivenNoMoreThanItSendsUntilTheNextTurn) {
  Agree();
  port.speed_bps = 1'000'000'000;  // 1056 ns for a frame
  now += std::chrono::milliseconds(1);
  Turn();
  for (uint8_t i = 1; i <= 4; ++i) Stage(i);
  Turn();
  EXPECT_EQ(port.sent.size(), 1u);
  EXPECT_EQ(link.staged().size(), 3u) << "the link holds none that the device may not have";
  now += Duration(1000);
  Turn();
  EXPECT_EQ(port.sent.size(), 3u) << "turns are 1000 ns apart: one frame does not last";
  now += Duration(1000);
  Turn();
  ASSERT_EQ(port.sent.size(), 4u);
  for (uint8_t i = 0; i < 4; ++i) EXPECT_EQ(port.sent[i]->data[0], i + 1);
}

// A frame of the link's own takes the device as long as any other.
TEST_F(RetryLayerTest, AFrameOfTheLinkIsCountedForTheDevice) {
  Agree();
  port.speed_bps = 1'000'000'000;
  now += std::chrono::milliseconds(20);  // a HELLO is due
  Stage(1);
  Turn();
  EXPECT_EQ(port.sent.size(), 1u) << "the HELLO alone";
  EXPECT_TRUE(end().ToSend(0) == nullptr);
  now += std::chrono::microseconds(10);
  Turn();
  EXPECT_EQ(port.sent.size(), 2u);
}

TEST_F(RetryLayerTest, ALostFrameIsSentAgainBehindItsNack) {
  Agree();
  Stage(1);
  Stage(2);
  Turn();
  ASSERT_EQ(port.sent.size(), 2u);
  port.sent.erase(port.sent.begin());
  Carry(port, far_port);
  EXPECT_TRUE(Receive(far).empty());
  far.Transmit(counters, now);
  Carry(far_port, port);
  EXPECT_TRUE(Receive(link).empty());
  EXPECT_EQ(Count(LinkCounter::kLlrReplays), 1u);
  Exchange();
  EXPECT_EQ(heard.size(), 2u);
  EXPECT_EQ(Count(LinkCounter::kLlrTxReplayed), 2u);
}

// The far endpoint may refuse what the neighbour has, and a device may keep a frame for long.
TEST_F(RetryLayerTest, AFrameThatTheNeighbourHasIsSentAgainThoughTheDeviceKeepsIt) {
  Agree();
  port.keeps = true;
  Pdu* const pdu = Stage(7);
  Exchange();
  now += std::chrono::microseconds(10);
  Exchange();
  ASSERT_EQ(end().sender().held(), 0u);
  ASSERT_TRUE(link.IsBusy(FrameOf(pdu)));
  link.StageBusy(pdu);
  Turn();
  EXPECT_TRUE(link.empty());
  Carry(port, far_port);
  heard = Receive(far);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0]->length, 100u);
  EXPECT_TRUE(std::all_of(heard[0]->data, heard[0]->data + 100, [](uint8_t b) { return b == 7; }));
  EXPECT_EQ(Count(LinkCounter::kLlrTxFrames), 2u);
  EXPECT_EQ(Count(LinkCounter::kLlrTxStale), 0u);
  EXPECT_EQ(port.held.count(FrameOf(pdu)), 0u) << "its copy is held";
}

TEST_F(RetryLayerTest, ACopyOfAFrameThatFillsItsBufferFits) {
  Agree();
  port.keeps = true;
  Pdu* const pdu = Stage(7);
  Frame* const frame = FrameOf(pdu);
  frame->data = frame->buffer + 64;
  frame->length = frame->capacity - 64;
  Exchange();
  now += std::chrono::microseconds(10);
  Exchange();
  ASSERT_TRUE(link.IsBusy(frame));
  link.StageBusy(pdu);
  port.sent.clear();
  Turn();
  ASSERT_EQ(port.sent.size(), 1u);
  const Frame* const copy = port.sent[0];
  EXPECT_NE(copy, frame);
  EXPECT_EQ(copy->length, frame->length);
  EXPECT_LE(copy->data + copy->length, copy->buffer + copy->capacity);
}

// A frame with the shim of a session that is over, which the device still reads.
TEST_F(RetryLayerTest, AFrameWithAFormerSessionsShimIsSentAsACopyWithout) {
  Agree();
  Pdu* const pdu = Stage(7);
  port.keeps = true;
  Turn();
  port.sent.clear();
  now += std::chrono::milliseconds(100);
  Turn();
  EXPECT_EQ(end().sender().held(), 0u);
  ASSERT_TRUE(link.IsBusy(FrameOf(pdu)));
  port.sent.clear();
  link.StageBusy(pdu);
  Turn();
  EXPECT_EQ(std::ranges::count(port.sent, FrameOf(pdu)), 0);
  EXPECT_EQ(std::ranges::count_if(port.sent, [](const Frame* f) { return f->data[13] == 7; }), 1);
  EXPECT_EQ(Count(LinkCounter::kLlrTxStale), 0u);
  EXPECT_TRUE(link.empty());
  // There is no frame for a copy.
  port.sent.clear();
  port.empty = true;
  link.StageBusy(pdu);
  Turn();
  EXPECT_EQ(std::ranges::count_if(port.sent, [](const Frame* f) { return f->data[13] == 7; }), 0);
  EXPECT_EQ(Count(LinkCounter::kLlrTxStale), 1u);
  EXPECT_TRUE(link.empty());
}

TEST_F(RetryLayerTest, AFrameThatIsGivenUpGoesBackInTheSameTurn) {
  Agree();
  Frame* const frame = FrameOf(Stage(7));
  Turn();
  ASSERT_EQ(port.held.count(frame), 1u);
  now += std::chrono::milliseconds(100);
  Turn();
  EXPECT_EQ(Count(LinkCounter::kLlrGivenUp), 1u);
  EXPECT_EQ(port.held.count(frame), 0u) << "nothing has to be received first";
  EXPECT_FALSE(link.IsBusy(frame));
}

TEST_F(RetryLayerTest, ABurstWithoutNumbersGoesToThePortAsOne) {
  Turn();  // the first HELLO
  ASSERT_FALSE(end().numbers());
  port.sent.clear();
  const uint32_t before = port.bursts;
  for (uint8_t i = 1; i <= 3; ++i) Stage(i);
  Turn();
  EXPECT_EQ(port.bursts, before + 1);
  ASSERT_EQ(port.sent.size(), 3u);
  for (uint8_t i = 0; i < 3; ++i) {
    EXPECT_EQ(port.sent[i]->data[0], i + 1);
    EXPECT_EQ(port.sent[i]->length, 100u) << "no shim";
  }
}

TEST_F(RetryLayerTest, ADeviceIsAskedForNothingOfAFrameWithAShim) {
  port.offloads = true;
  EXPECT_TRUE(link.Offers(TxOffload::kNone));
  EXPECT_FALSE(link.Offers(TxOffload::kUdp6Checksum));
  FakePort plain;
  Link off{&plain};
  EXPECT_TRUE(off.Offers(TxOffload::kNone));
  EXPECT_FALSE(off.Offers(TxOffload::kUdp6Checksum));
  plain.offloads = true;
  EXPECT_TRUE(off.Offers(TxOffload::kUdp6Checksum));
}

TEST_F(RetryLayerTest, ALinkFrameWaitsForThePort) {
  port.max = 0;
  Turn();
  EXPECT_EQ(link.frames_kept(), 1u);
  EXPECT_TRUE(port.released.empty());
  now += std::chrono::milliseconds(100);
  Turn();
  EXPECT_EQ(link.frames_kept(), 1u) << "it is the only one";
  port.max = ~0u;
  Turn();
  EXPECT_EQ(link.frames_kept(), 0u);
  ASSERT_EQ(port.sent.size(), 2u) << "one that has waited, and one that is due";
  for (Frame* frame : port.sent) {
    EXPECT_EQ(frame->length, LinkHelloBody::kBytes);
    EXPECT_EQ(frame->tx_offload, TxOffload::kNone);
    EXPECT_EQ(std::ranges::count(port.released, frame), 1);
  }
  EXPECT_EQ(Count(LinkCounter::kTxHellos), 2u);
}

TEST_F(RetryLayerTest, ALinkFrameWaitsForAFrameOfThePool) {
  port.empty = true;
  Turn();
  EXPECT_TRUE(port.sent.empty());
  EXPECT_EQ(Count(LinkCounter::kTxHellos), 0u);
  port.empty = false;
  Turn();
  EXPECT_EQ(port.sent.size(), 1u);
}

// It has no room for the shim.
TEST_F(RetryLayerTest, AFrameThatIsTooLongForANumberLeavesWithout) {
  Agree();
  Frame* const plain = FrameOf(Stage(7));
  Stage(8);
  plain->data = plain->buffer;
  plain->length = port.max_frame_bytes();
  Turn();
  ASSERT_EQ(port.sent.size(), 2u);
  EXPECT_EQ(port.sent[0], plain);
  EXPECT_EQ(plain->length, port.max_frame_bytes());
  EXPECT_EQ(port.sent[1]->length, 108u);
  EXPECT_EQ(Count(LinkCounter::kLlrTxPlain), 1u);
  EXPECT_EQ(end().sender().held(), 1u);
  // A port that does not take it has it later.
  port.max = 0;
  Pdu* const again = Stage(9);
  FrameOf(again)->data = FrameOf(again)->buffer;
  FrameOf(again)->length = port.max_frame_bytes();
  Turn();
  EXPECT_EQ(link.staged().size(), 1u);
  EXPECT_EQ(Count(LinkCounter::kLlrTxPlain), 1u);
  port.max = ~0u;
  Turn();
  EXPECT_TRUE(link.empty());
  EXPECT_EQ(Count(LinkCounter::kLlrTxPlain), 2u);
}

// A layer above sees the frames of credit-based flow control, and sends its own without a number.
TEST_F(RetryLayerTest, FramesOfCreditPassThrough) {
  LinkParams params = Params(3);
  params.credit.cbfc = true;
  FakePort near;
  RetryLayer one(&near, params);
  params.secret = {4, 4};
  FakePort away;
  RetryLayer other(&away, params);
  for (int i = 0; i < 8; ++i) {
    now += std::chrono::microseconds(200);
    one.Flush(now);
    Carry(near, away);
    Receive(other);
    other.Flush(now);
    Carry(away, near);
    Receive(one);
  }
  ASSERT_TRUE(one.end()->numbers());
  Frame* update = near.MakeFrame();
  update->length = kMinLinkFrameBytes;
  one.end()->Begin(LinkKind::kCfUpdate, 3, update->data);
  new (update->notes) TxNote(TxNote::OneShot(TxNote::kNoCredit));
  EXPECT_EQ(one.Transmit(&update, 1, now), 1u);
  EXPECT_EQ(update->length, kMinLinkFrameBytes);
  Carry(near, away);
  const std::vector<Frame*> came = Receive(other);
  ASSERT_EQ(came.size(), 1u);
  EXPECT_TRUE(other.end()->IsLinkFrame(*came[0]));
  EXPECT_EQ(LoadLinkWord(came[0]->data).sequence, 3u);
}

}  // namespace
}  // namespace suede
