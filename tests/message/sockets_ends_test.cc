// SPDX-License-Identifier: Apache-2.0
// Ends of channels: closed, aborted, refused or lost.
#include <gtest/gtest.h>

#include <cstdint>

#include "message/sockets.h"
#include "socket_pairs.h"
#include "suede/layout.h"

namespace suede::message {
namespace {

TEST_F(Connected, AnEndThatIsLostIsAskedAboutHoweverLongNothingWasSent) {
  Wait(5, 1000);
  nodes[0]->Close(sender);
  nodes[0]->Pump(wires[0]);
  ASSERT_EQ(wires[0].sent.size(), 1u);
  wires[0].sent.clear();
  for (int i = 0; i < 3; ++i) Advance(500);
  nodes[0]->Pump(wires[0]);
  EXPECT_FALSE(wires[0].sent.empty());
  EXPECT_FALSE(nodes[0]->IsClosed(sender));
}

TEST_F(Connected, AnAnswerToTheEndThatIsLostComesAgain) {
  nodes[0]->Close(sender);
  PumpOne(0);
  Take(1, receiver, Got::kEnd);
  nodes[1]->Pump(wires[1]);
  ASSERT_EQ(wires[1].sent.size(), 1u);
  wires[1].sent.clear();
  EXPECT_FALSE(nodes[0]->IsClosed(sender));
  Wait(3, 500);
  EXPECT_TRUE(nodes[0]->IsClosed(sender));
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOk);
}

TEST_F(Connected, AnAcceptOfAnotherLifeEndsTheStream) {
  Command accept{.kind = Kind::kAccept,
                 .tag = nodes[0]->PeerOf(sender, 0).tag,
                 .own_tag = nodes[1]->PeerOf(receiver, 0).tag,
                 .limit = 4096};
  Inject(1, 0, kControlVc, accept);
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOk) << "the answer to another CONNECT";
  accept.own_tag ^= 1u << 20;
  Inject(1, 0, kControlVc, accept);
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kReset);
  EXPECT_EQ(Refused(0, Status::kClosed), 1u);
}

TEST_F(Connected, AReceiverThatClosesFirstFailsItsSender) {
  ASSERT_EQ(Send(0, sender, Pattern(20000)), Started::kOk);
  PumpAll();
  nodes[1]->Release(receiver);
  PumpAll();
  EXPECT_EQ(result.status, SUEDE_SOCKET_CLOSED);
  EXPECT_EQ(Send(0, sender, Pattern(1)), Started::kFailed);
  EXPECT_EQ(nodes[1]->free_channels(), 16u);
}

// Either the credit for the octets taken is still on the way, or END is.
TEST_F(Pairs, AReceiverThatClosesAfterItTookEverythingFailsNothing) {
  for (const bool closes_before : {true, false}) {
    const uint32_t sender = OpenSender(0, {1});
    const uint32_t receiver = OpenReceiver(1, 0);
    PumpAll();
    ASSERT_EQ(Send(0, sender, Pattern(3000)), Started::kOk);
    PumpOne(0);
    EXPECT_EQ(Take(1, receiver), Pattern(3000));
    if (!closes_before) nodes[0]->Close(sender);
    nodes[1]->Release(receiver);
    PumpAll();
    EXPECT_EQ(result.status, SUEDE_SOCKET_OK);
    EXPECT_EQ(result.pushed_bytes, 3000u);
    EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kClosed);
    EXPECT_EQ(nodes[0]->OutcomeOf(sender), Status::kOk);
    if (closes_before) {
      EXPECT_EQ(Send(0, sender, Pattern(1)), Started::kFailed);
    }
    nodes[0]->Close(sender);
    PumpAll();
    EXPECT_TRUE(nodes[0]->IsClosed(sender));
    EXPECT_EQ(nodes[0]->OutcomeOf(sender), closes_before ? Status::kClosed : Status::kOk);
    nodes[0]->Release(sender);
    PumpAll();
    Advance(2000);
    EXPECT_EQ(nodes[0]->free_channels(), 16u);
    EXPECT_EQ(nodes[1]->free_channels(), 16u);
  }
}

TEST_F(Connected, AReceiverThatClosesBeforeAnythingWasSentFailsItsSender) {
  nodes[1]->Release(receiver);
  PumpAll();
  nodes[0]->Close(sender);
  EXPECT_EQ(nodes[0]->OutcomeOf(sender), Status::kClosed);
}

TEST_F(Connected, AReceiverThatClosesBeforeItTookEverythingFailsItsSender) {
  ASSERT_EQ(Send(0, sender, Pattern(3000)), Started::kOk);
  PumpAll();
  nodes[1]->Release(receiver);
  PumpAll();
  nodes[0]->Close(sender);
  EXPECT_EQ(nodes[0]->OutcomeOf(sender), Status::kClosed);
}

TEST_F(Connected, ASenderThatGivesUpAbortsItsReceiver) {
  ASSERT_EQ(Send(0, sender, Pattern(100)), Started::kOk);
  nodes[0]->Pump(wires[0]);
  nodes[0]->Release(sender);
  PumpAll();
  EXPECT_EQ(Take(1, receiver), Pattern(100));
  Take(1, receiver, Got::kFailed);
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kAborted);
  EXPECT_EQ(nodes[0]->free_channels(), 16u);
}

TEST_F(Connected, ANewLifeOfAPeerIsNotTheOldOne) {
  Begin(1);
  OpenReceiver(1, 0);
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kReset);
  nodes[0]->Release(sender);
  const uint32_t again = OpenSender(0, {1});
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(again), Status::kOk);
  // Now the sender's process begins anew.
  Begin(0);
  const uint32_t third = OpenSender(0, {1});
  PumpAll();
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kReset);
  EXPECT_EQ(nodes[0]->PeerStatus(third, 0), Status::kNotOpen);
  nodes[1]->Release(receiver);
  OpenReceiver(1, 0);
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(third), Status::kOk);
}

TEST_F(Connected, ASenderFindsOutThatItsReceiverIsNoMore) {
  ASSERT_EQ(Send(0, sender, Pattern(10)), Started::kOk);
  nodes[0]->Pump(wires[0]);
  wires[0].sent.clear();  // taken by a process that ended then
  Begin(1);
  PumpAll();
  EXPECT_EQ(result.status, SUEDE_SOCKET_PENDING);
  Wait(3, 500);
  EXPECT_EQ(result.status, SUEDE_SOCKET_NOT_OPEN);
}

TEST_F(Pairs, WhatTheDaemonCouldNotDeliverFailsTheTarget) {
  const uint32_t sender = OpenSender(0, {1, 2});
  OpenReceiver(1, 0);
  OpenReceiver(2, 0);
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(10)), Started::kOk);
  nodes[0]->Pump(wires[0]);
  ASSERT_EQ(wires[0].sent.size(), 2u);
  nodes[0]->senders().OnCompletion(wires[0].sent[1].tag, SUEDE_STATUS_UNREACHABLE);
  wires[0].sent.pop_back();
  PumpAll();
  EXPECT_EQ(result.status, SUEDE_SOCKET_UNREACHABLE);
  EXPECT_EQ(result.pushed_bytes, 10u) << "the other one has it";
  EXPECT_EQ(nodes[0]->PeerStatus(sender, 0), Status::kOk);
  EXPECT_EQ(nodes[0]->PeerStatus(sender, 1), Status::kUnreachable);
}

TEST_F(Pairs, APlaneThatIsLostFailsItsSockets) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(0, 1);
  const uint32_t waiting = OpenSender(0, {3}, {.id = 8});
  OpenReceiver(1, 0);
  OpenSender(1, {0});
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(10)), Started::kOk);
  nodes[0]->Pump(wires[0]);
  nodes[0]->OnPlaneLost(0);
  EXPECT_EQ(result.status, SUEDE_SOCKET_IN_DOUBT);
  EXPECT_EQ(nodes[0]->StatusOf(receiver), Status::kUnreachable);
  EXPECT_EQ(nodes[0]->StatusOf(waiting), Status::kUnreachable);
  CheckInvariants();
  wires[0].sent.clear();
  EXPECT_TRUE(Lose(0).empty());
  for (const uint32_t socket : {sender, receiver, waiting}) nodes[0]->Release(socket);
  EXPECT_EQ(nodes[0]->free_channels(), 16u);
}

}  // namespace
}  // namespace suede::message
