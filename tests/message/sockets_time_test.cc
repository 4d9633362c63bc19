// SPDX-License-Identifier: Apache-2.0
// Commands that are repeated, sockets that are given up, and planes that are lost.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "message/sockets.h"
#include "socket_pairs.h"

namespace suede::message {
namespace {

class SocketTimes : public Pairs {
 protected:
  // Advances in steps, and loses what XPU 0 sends; returns when it sent CONNECT, in milliseconds
  // from now on.
  std::vector<int64_t> ConnectsFor(int64_t ms, int64_t step) {
    std::vector<int64_t> found;
    const int64_t begin = now_ms;
    for (;; Advance(step)) {
      for (const Command& each : Lose(0)) {
        if (each.kind != Kind::kConnect) continue;
        found.push_back(now_ms - begin);
        last = each;
      }
      if (now_ms - begin >= ms) return found;
    }
  }

  Command last;
};

using Moments = std::vector<int64_t>;

TEST_F(SocketTimes, ASenderWithoutReceiverConnectsAtGrowingIntervals) {
  OpenSender(0, {1});
  EXPECT_EQ(ConnectsFor(1000, 1), (Moments{0, 5, 15, 35, 75, 155, 315, 475, 635, 795, 955}));
  EXPECT_EQ(last.tag, 0u);
}

TEST_F(SocketTimes, AConnectIsNotRepeatedBeforeItIsDelivered) {
  const uint32_t sender = OpenSender(0, {1});
  nodes[0]->Pump(wires[0]);
  ASSERT_EQ(wires[0].sent.size(), 1u);
  const Carried connect = wires[0].sent.front();
  wires[0].sent.clear();
  EXPECT_EQ(ConnectsFor(1000, 10), Moments{});
  nodes[0]->senders().OnCompletion(connect.tag, SUEDE_STATUS_PEER_RESET);
  EXPECT_EQ(nodes[0]->PeerStatus(sender, 0), Status::kPending);
  EXPECT_EQ(ConnectsFor(100, 10).size(), 4u);
}

TEST_F(SocketTimes, ASenderWaitsForAReceiverThatIsUnreachable) {
  const uint32_t sender = OpenSender(0, {1});
  nodes[0]->Pump(wires[0]);
  ASSERT_EQ(wires[0].sent.size(), 1u);
  nodes[0]->senders().OnCompletion(wires[0].sent[0].tag, SUEDE_STATUS_UNREACHABLE);
  EXPECT_EQ(nodes[0]->PeerStatus(sender, 0), Status::kUnreachable);
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kPending);
  wires[0].sent.clear();
  OpenReceiver(1, 0);
  Advance(5);
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOk);
}

TEST_F(SocketTimes, AConnectedSenderAsksWhileItWaits) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  OpenSender(1, {0});
  OpenReceiver(0, 1);  // asks nothing
  PumpAll();
  const Channel& channel = nodes[0]->PeerOf(sender, 0);
  ASSERT_EQ(Send(0, sender, Pattern(100)), Started::kOk);
  Lose(0);
  Advance(10);
  EXPECT_EQ(ConnectsFor(1200, 10), (Moments{500, 1000}));
  EXPECT_EQ(last.tag, nodes[1]->PeerOf(receiver, 0).tag);
  EXPECT_EQ(last.own_tag, channel.tag);
  // An answer puts the question off.
  Command credit{.kind = Kind::kCredit, .tag = channel.tag, .limit = 4096};
  Inject(1, 0, kControlVc, credit);
  EXPECT_EQ(ConnectsFor(700, 10), (Moments{500}));
  credit.received = CostOf(100);
  Inject(1, 0, kControlVc, credit);
  EXPECT_EQ(result.status, SUEDE_SOCKET_OK);
  EXPECT_EQ(ConnectsFor(5000, 10), Moments{}) << "it waits for nothing";
  ASSERT_EQ(Send(0, sender, Pattern(100)), Started::kOk);
  EXPECT_EQ(ConnectsFor(700, 10), (Moments{510}));
}

TEST_F(SocketTimes, AnEndIsAskedAboutHoweverLateItIsSent) {
  const uint32_t sender = OpenSender(0, {1});
  OpenReceiver(1, 0);
  PumpAll();
  nodes[0]->Close(sender);
  wires[0].Stop(1, kDataVc);
  EXPECT_EQ(ConnectsFor(1000, 10), Moments{});
  wires[0].stopped_xpuid = -1;
  EXPECT_EQ(ConnectsFor(700, 10), (Moments{500}));
}

TEST_F(SocketTimes, AReleasedSocketTellsItsPeerForOneSecond) {
  for (const bool is_sender : {false, true}) {
    const uint32_t socket = is_sender ? OpenSender(0, {1}) : OpenReceiver(0, 1);
    is_sender ? OpenReceiver(1, 0) : OpenSender(1, {0});
    PumpAll();
    wires[0].Stop(1, is_sender ? kDataVc : kControlVc);
    nodes[0]->Release(socket);
    EXPECT_TRUE(Lose(0).empty());
    Advance(990);
    EXPECT_EQ(nodes[0]->free_channels(), kChannels - 1);
    Advance(10);
    EXPECT_EQ(nodes[0]->free_channels(), kChannels);
    wires[0].stopped_xpuid = -1;
    EXPECT_TRUE(Lose(0).empty()) << "it is too late";
    EXPECT_FALSE(nodes[0]->HasUnsent());
    Begin(1);
  }
}

// ---- Planes that are lost.

TEST_F(SocketTimes, ASenderThatWaitsForNothingIsUnreachableWithItsPlane) {
  const uint32_t sender = OpenSender(0, {1});
  OpenReceiver(1, 0);
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(100)), Started::kOk);
  PumpAll();
  nodes[0]->OnPlaneLost(0);
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kUnreachable) << "nothing is in doubt";
}

TEST_F(SocketTimes, AReleasedSocketOfALostPlaneIsForgotten) {
  Begin(0, /*planes=*/2);
  const uint32_t receiver = OpenReceiver(0, 1, {.plane = 0});
  OpenSender(1, {0});
  PumpAll();
  wires[0].Stop(1, kControlVc);
  nodes[0]->Release(receiver);
  nodes[0]->OnPlaneLost(1);
  EXPECT_EQ(nodes[0]->free_channels(), kChannels - 1);
  nodes[0]->OnPlaneLost(0);
  EXPECT_EQ(nodes[0]->free_channels(), kChannels);
  wires[0].stopped_xpuid = -1;
  EXPECT_TRUE(Lose(0).empty());
}

TEST_F(SocketTimes, RefusalsOfALostPlaneAreForgotten) {
  Begin(0, /*planes=*/2);
  const auto connect = [&](uint16_t from, uint8_t plane) {
    Inject(from, 0, kControlVc, {.kind = Kind::kConnect, .id = from, .own_tag = 1}, plane);
  };
  for (const uint8_t plane : {uint8_t{0}, uint8_t{1}}) {
    for (const uint16_t from : {uint16_t{1}, uint16_t{2}}) connect(from, plane);
  }
  nodes[0]->OnPlaneLost(0);
  nodes[0]->Pump(wires[0]);
  ASSERT_EQ(wires[0].sent.size(), 2u);
  for (const Carried& each : wires[0].sent) EXPECT_EQ(each.to.plane, 1);
  wires[0].sent.clear();
  connect(2, 0);
  EXPECT_EQ(nodes[0]->counters().unanswered, 0u) << "its place is free";
  EXPECT_EQ(Lose(0).size(), 1u);
}

TEST_F(SocketTimes, ATargetThatWasGivenUpIsToldNothingOnALostPlane) {
  const uint32_t sender = OpenSender(0, {1, 2});
  const uint32_t quick = OpenReceiver(1, 0);
  OpenReceiver(2, 0);
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(5000), 100), Started::kOk);
  PumpAll();
  Take(1, quick);
  PumpAll();
  Advance(100);
  ASSERT_EQ(nodes[0]->PeerStatus(sender, 1), Status::kTimedOut);
  nodes[0]->OnPlaneLost(0);
  EXPECT_TRUE(Lose(0).empty());
  EXPECT_EQ(nodes[0]->PeerStatus(sender, 1), Status::kTimedOut);
  EXPECT_EQ(nodes[0]->PeerStatus(sender, 0), Status::kUnreachable);
}

}  // namespace
}  // namespace suede::message
