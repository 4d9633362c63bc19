// SPDX-License-Identifier: Apache-2.0
// The burst being staged: places in front and for data, frames that a port does not take, withdrawn
// PDUs, one-shot frames.
#include <random>
#include <set>

#include "link_fixture.h"

namespace suede {
namespace {

using Frames = std::vector<Frame*>;

class StagingTest : public LinkTest {};

TEST_F(StagingTest, FrontGoesBeforeData) {
  Frame* d0 = FrameOf(Data());
  Frame* f0 = Front();
  Frame* d1 = FrameOf(Data());
  Frame* f1 = Front();
  EXPECT_EQ(Turn(), (Frames{f0, f1, d0, d1}));
  EXPECT_TRUE(link.empty());
  EXPECT_EQ(Count(Counter::kTxFrames), 4u);
  EXPECT_EQ(Count(Counter::kTxFrameBytes), 2 * 60u + 2 * 100u);
  EXPECT_EQ(Count(Counter::kTxPortFull), 0u);
}

TEST_F(StagingTest, FrontAndDataHaveRoomOfTheirOwn) {
  EXPECT_EQ(link.room(), kEveryVc);
  for (uint32_t i = 0; i < kBurst; ++i) Data();
  EXPECT_EQ(link.room(), 0u);
  EXPECT_FALSE(link.HasRoom(0));
  for (uint32_t i = 0; i < kFront; ++i) {
    ASSERT_TRUE(link.HasFrontRoom());
    Front();
  }
  EXPECT_FALSE(link.HasFrontRoom());
  EXPECT_EQ(Turn().size(), kBurst + kFront);
  EXPECT_TRUE(link.HasFrontRoom());
  EXPECT_TRUE(link.HasRoom(3));
}

// A port that takes nothing will have no room in the next poll iteration either.
TEST_F(StagingTest, RoomInFrontIsUsedUpWhileThePortTakesFrames) {
  const auto fill = [&] {
    while (link.HasFrontRoom()) Front();
  };
  EXPECT_FALSE(link.IsFrontUsedUp());
  fill();
  EXPECT_TRUE(link.IsFrontUsedUp());
  link.set_down(true);
  EXPECT_FALSE(link.IsFrontUsedUp());
  link.set_down(false);
  EXPECT_TRUE(Turn(0).empty());
  EXPECT_FALSE(link.IsFrontUsedUp());
  EXPECT_EQ(Turn(1).size(), 1u);
  fill();
  EXPECT_TRUE(link.IsFrontUsedUp());
  EXPECT_TRUE(Turn(0).empty());
  EXPECT_EQ(Turn().size(), kFront);
  fill();
  EXPECT_TRUE(link.IsFrontUsedUp());
}

TEST_F(StagingTest, ALinkThatIsDownHasNoRoomAndKeepsWhatIsStaged) {
  Frame* data = FrameOf(Data());
  link.set_down(true);
  EXPECT_EQ(link.room(), 0u);
  EXPECT_FALSE(link.HasFrontRoom());
  EXPECT_EQ(Turn(), Frames{});
  EXPECT_EQ(port.bursts, 0u);
  link.set_down(false);
  EXPECT_EQ(Turn(), Frames{data});
}

TEST_F(StagingTest, RoomIsOfFramesOfData) {
  EXPECT_EQ(link.RoomOf(2), kBurst);
  Front();
  Data();
  EXPECT_EQ(link.RoomOf(2), kBurst - 1);
  link.set_down(true);
  EXPECT_EQ(link.RoomOf(2), 0u);
  link.set_down(false);
  for (uint32_t i = 1; i < kBurst; ++i) Data();
  EXPECT_EQ(link.RoomOf(2), 0u);
}

TEST_F(StagingTest, DataLeadsAfterABurstOfFrontOnly) {
  Frame* d0 = FrameOf(Data());
  Frame* d1 = FrameOf(Data());
  Frame* f0 = Front();
  Frame* f1 = Front();
  EXPECT_EQ(Turn(1), Frames{f0});
  Frame* f2 = Front();
  EXPECT_EQ(Turn(2), (Frames{d0, f1}));
  // A frame of data has left, so the front goes first again.
  EXPECT_EQ(Turn(), (Frames{f2, d1}));
}

TEST_F(StagingTest, DataLeadsStillWhereThePortTookNothing) {
  Frame* d0 = FrameOf(Data());
  Frame* f0 = Front();
  Frame* f1 = Front();
  EXPECT_EQ(Turn(1), Frames{f0});
  EXPECT_EQ(Turn(0), Frames{});
  EXPECT_EQ(Turn(1), Frames{d0});
  EXPECT_EQ(Turn(), Frames{f1});
  EXPECT_EQ(Count(Counter::kTxPortFull), 3u);
}

// However many frames the port takes, each kind leaves in order and once. The port takes a frame
// now and then, and often none.
TEST_F(StagingTest, FrontIsNotPassedAgainAndAgainWhereThePortTakesNothing) {
  Frame* d0 = FrameOf(Data());
  Data();
  Frame* f0 = Front();
  EXPECT_EQ(Turn(0), Frames{});
  EXPECT_EQ(Turn(1), Frames{f0});
  Frame* f1 = Front();
  EXPECT_EQ(Turn(0), Frames{});
  EXPECT_EQ(Turn(1), Frames{d0});
  EXPECT_EQ(Turn(0), Frames{});
  EXPECT_EQ(Turn(1), Frames{f1});
}

TEST_F(StagingTest, WhatThePortDidNotTakeIsKeptInOrder) {
  std::mt19937 random(1);
  Frames front, data, taken;
  std::set<Frame*> is_front;
  for (int turn = 0; turn < 2000; ++turn) {
    for (auto i = random() % 4; i != 0 && link.HasFrontRoom(); --i) {
      front.push_back(Front());
      is_front.insert(front.back());
    }
    for (auto i = random() % 4; i != 0 && link.room() != 0; --i) {
      data.push_back(FrameOf(Data()));
    }
    const Frames sent = Turn(static_cast<uint32_t>(random() % 5));
    taken.insert(taken.end(), sent.begin(), sent.end());
  }
  const Frames rest = Turn();
  taken.insert(taken.end(), rest.begin(), rest.end());
  EXPECT_TRUE(link.empty());
  Frames front_taken, data_taken;
  for (Frame* frame : taken) (is_front.contains(frame) ? front_taken : data_taken).push_back(frame);
  EXPECT_EQ(front_taken, front);
  EXPECT_EQ(data_taken, data);
  EXPECT_EQ(Count(Counter::kTxFrames), taken.size());
}

TEST_F(StagingTest, RetransmissionsHaveHalfOfThePlacesThatAreLeft) {
  EXPECT_EQ(link.ShareOfRetransmissions(false), kBurst / 2);
  Data();
  // With an odd number of places, retransmissions have one more, every other time.
  const uint32_t larger = link.ShareOfRetransmissions(false);
  const uint32_t smaller = link.ShareOfRetransmissions(false);
  EXPECT_EQ(larger, 1 + (kBurst - 1) / 2 + 1);
  EXPECT_EQ(smaller, larger - 1);
  EXPECT_EQ(link.ShareOfRetransmissions(true), kBurst);
  EXPECT_TRUE(link.HasRoomBelow(2));
  EXPECT_FALSE(link.HasRoomBelow(1));
  link.set_down(true);
  EXPECT_FALSE(link.HasRoomBelow(2));
}

TEST_F(StagingTest, WithdrawnPdusDoNotLeave) {
  Pdu* first = Data();
  Pdu* second = Data();
  Pdu* third = Data();
  lane.Send(std::vector<uint8_t>(60, 0xff), now);
  ASSERT_TRUE(link.StagePacket(counters));
  Link::Withdraw(first);
  Link::Withdraw(third);
  link.RemoveWithdrawn();
  EXPECT_FALSE(first->note.staged());
  EXPECT_TRUE(second->note.staged());
  EXPECT_EQ(link.staged().size(), 2u);
  const Frames sent = Turn();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0], FrameOf(second));
  // Its frame is the owner's, who may stage it again.
  EXPECT_FALSE(Released(FrameOf(first)));
  link.Stage(first, 0);
  EXPECT_EQ(Turn(), Frames{FrameOf(first)});
}

// ---- The owner of a frame that the port has taken.

TEST_F(StagingTest, AOneShotFrameIsReleasedOnceThePortHasTakenIt) {
  Front();  // the first is kept to see when it leaves
  Turn();
  Frame* frame = Front();
  EXPECT_EQ(Turn(0), Frames{});
  EXPECT_FALSE(Released(frame));
  EXPECT_EQ(Turn(), Frames{frame});
  EXPECT_TRUE(Released(frame));
}

TEST_F(StagingTest, AKeptPduIsNot) {
  Pdu* pdu = Data();
  EXPECT_EQ(pdu->note.kind, TxKind::kKept);
  Turn();
  EXPECT_FALSE(pdu->note.staged());
  EXPECT_TRUE(port.released.empty());
  link.frames().ReleasePdu(pdu);
  link.frames().Flush();
  EXPECT_TRUE(Released(FrameOf(pdu)));
}

TEST_F(StagingTest, APduThatEndsWhileStagedTurnsOneShot) {
  Front();
  Turn();
  Pdu* pdu = Data(2);
  link.frames().ReleasePdu(pdu);
  link.frames().Flush();
  EXPECT_EQ(pdu->note.kind, TxKind::kOneShot);
  EXPECT_EQ(pdu->note.link_vc, 2u);
  EXPECT_FALSE(Released(FrameOf(pdu)));
  EXPECT_EQ(Turn(), Frames{FrameOf(pdu)});
  EXPECT_TRUE(Released(FrameOf(pdu)));
}

TEST_F(StagingTest, APduThatIsHeldForItsFrameIsNotReleased) {
  Pdu* pdu = Data();
  Turn();
  pdu->held = true;
  link.frames().ReleasePdu(pdu);
  link.frames().Flush();
  EXPECT_FALSE(Released(FrameOf(pdu)));
}

TEST_F(StagingTest, AManagementPacketIsOneShotAndInFrontOfTheTurnsData) {
  EXPECT_FALSE(link.StagePacket(counters));
  std::vector<uint8_t> arp(60, 0xff);
  ASSERT_TRUE(lane.Send(arp, now) && lane.Send(arp, now));
  EXPECT_TRUE(link.StagePacket(counters));
  Frame* data = FrameOf(Data());
  const Frames sent = Turn();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1], data);
  EXPECT_EQ(std::vector<uint8_t>(sent[0]->data, sent[0]->data + sent[0]->length), arp);
  EXPECT_EQ(Count(Counter::kMgmtTxPackets), 1u);
  EXPECT_TRUE(link.StagePacket(counters));  // the second, a turn later
  const Frames next = Turn();
  EXPECT_TRUE(Released(next[0]));
  EXPECT_EQ(NoteOf(next[0]).link_vc, TxNote::kNoCredit);
}

TEST_F(StagingTest, AManagementPacketWaitsForAPlaceAFrameAndAPort) {
  port.empty = true;
  ASSERT_TRUE(lane.Send(std::vector<uint8_t>(60, 0xff), now));
  EXPECT_FALSE(link.StagePacket(counters));
  port.empty = false;
  link.set_down(true);
  EXPECT_FALSE(link.StagePacket(counters));
  link.set_down(false);
  for (uint32_t i = 0; i < kBurst; ++i) Data();
  EXPECT_FALSE(link.StagePacket(counters));
  Turn(1);
  EXPECT_EQ(Count(Counter::kMgmtTxPackets), 0u);
  EXPECT_TRUE(link.StagePacket(counters));
  const Frames sent = Turn();
  ASSERT_EQ(sent.size(), kBurst);
  EXPECT_EQ(sent.back()->tx_offload, TxOffload::kNone);
  EXPECT_FALSE(link.StagePacket(counters)) << "there was one";
}

// Frames go back to the port together: at the end of the turn, or where there are many.
TEST_F(StagingTest, ReleasedFramesGoBackTogether) {
  Frames frames;
  for (uint32_t i = 0; i < 2 * kBurst; ++i) {
    ASSERT_TRUE(link.frames().Has(1));
    frames.push_back(link.frames().New());
  }
  for (Frame* frame : frames) {
    EXPECT_TRUE(port.released.empty());
    link.frames().Release(frame);
  }
  EXPECT_EQ(port.released, frames);
  link.frames().Flush();
  EXPECT_EQ(port.released, frames);
  EXPECT_EQ(link.frames_kept(), 0u);
}

TEST_F(StagingTest, ManyFramesAreAtHandAtOnce) {
  EXPECT_TRUE(link.frames().Has(kBurst));
  EXPECT_EQ(link.frames_kept(), kBurst);
  std::set<Frame*> frames;
  frames.insert(link.frames().New());
  EXPECT_TRUE(link.frames().Has(kBurst)) << "the pool gives more";
  EXPECT_EQ(link.frames_kept(), 2 * kBurst - 1);
  for (uint32_t i = 1; i < 2 * kBurst; ++i) frames.insert(link.frames().New());
  EXPECT_EQ(frames.size(), 2 * kBurst);
  port.empty = true;
  EXPECT_FALSE(link.frames().Has(1));
}

TEST_F(StagingTest, TheLayersHaveTheirTurnWithOrWithoutABurst) {
  Turn();
  EXPECT_EQ(port.flushes, 1u);
  EXPECT_EQ(port.bursts, 0u);
  link.set_down(true);
  Turn();
  EXPECT_EQ(port.flushes, 2u);
  link.set_down(false);
  Data();
  Turn();
  EXPECT_EQ(port.flushes, 3u);
  EXPECT_EQ(port.bursts, 1u);
}

}  // namespace
}  // namespace suede
