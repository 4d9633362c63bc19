// SPDX-License-Identifier: Apache-2.0
#include "message/sockets.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "socket_pairs.h"

namespace suede::message {
namespace {

TEST_F(Pairs, WhoeverOpensLaterFindsTheOther) {
  const uint32_t sender = OpenSender(0, {1});
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kPending);
  EXPECT_EQ(nodes[0]->PeerStatus(sender, 0), Status::kNotOpen);
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOk);
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kOk);
  const uint32_t first = OpenReceiver(1, 0, {.id = 9});
  PumpAll();
  const uint32_t second = OpenSender(0, {1}, {.id = 9});
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(second), Status::kOk);
  EXPECT_EQ(nodes[1]->StatusOf(first), Status::kOk);
}

TEST_F(Pairs, OneThatTakesAnySenderIsFoundInTime) {
  const uint32_t sender = OpenSender(2, {1});
  PumpAll();
  const uint32_t receiver = OpenReceiver(1, kAnyXpu);
  PumpAll();
  EXPECT_EQ(nodes[2]->StatusOf(sender), Status::kPending);
  Advance(10);
  PumpAll();
  EXPECT_EQ(nodes[2]->StatusOf(sender), Status::kOk);
  EXPECT_EQ(nodes[1]->PeerOf(receiver, 0).name.xpuid, 2);
  // The receiver has its sender: another sender finds none.
  const uint32_t other = OpenSender(3, {1});
  PumpAll();
  EXPECT_EQ(nodes[3]->PeerStatus(other, 0), Status::kNotOpen);
}

TEST_F(Connected, AStreamIsOctetsAndEndsBehindTheLast) {
  const Octets octets = Pattern(3000);
  ASSERT_EQ(Send(0, sender, octets), Started::kOk);
  nodes[0]->Close(sender);
  PumpAll();
  EXPECT_EQ(result.status, SUEDE_SOCKET_OK);
  EXPECT_EQ(result.pushed_bytes, 3000u);
  EXPECT_TRUE(nodes[0]->IsClosed(sender));
  Octets room(1000);
  uint32_t bytes = 0;
  ASSERT_EQ(nodes[1]->receivers().Receive(receiver, room.data(), 1000, &bytes), Got::kOctets);
  EXPECT_EQ(room, Octets(octets.begin(), octets.begin() + 1000));
  EXPECT_EQ(Take(1, receiver), Octets(octets.begin() + 1000, octets.end()));
  Take(1, receiver, Got::kEnd);
  EXPECT_EQ(nodes[0]->counters().sent_bytes, 3000u);
  EXPECT_EQ(nodes[0]->counters().sent_commands, 12u);
  EXPECT_EQ(nodes[1]->counters().received_bytes, 3000u);
  EXPECT_EQ(nodes[1]->counters().received_commands, 12u);
}

TEST_F(Pairs, ASlowReaderStopsItsSenderAndNobodyElse) {
  const uint32_t slow = OpenSender(0, {1});
  const uint32_t slow_receiver = OpenReceiver(1, 0);
  const uint32_t quick = OpenSender(0, {1}, {.id = 1});  // the same VC
  const uint32_t quick_receiver = OpenReceiver(1, 0, {.id = 1});
  PumpAll();
  const Octets octets = Pattern(20000);
  suede_socket_result slow_result = {};
  ASSERT_EQ(
      nodes[0]->senders().Send(slow, octets.data(), octets.size(), kNever, &slow_result, nullptr),
      Started::kOk);
  PumpAll();
  EXPECT_EQ(slow_result.status, SUEDE_SOCKET_PENDING);
  EXPECT_EQ(nodes[0]->PeerOf(slow, 0).sent, 15u * 264) << "what the ring has room for";
  for (int round = 0; round < 50; ++round) {
    const Octets small = Pattern(1000, static_cast<uint8_t>(round));
    ASSERT_EQ(Send(0, quick, small), Started::kOk);
    PumpAll();
    EXPECT_EQ(result.status, SUEDE_SOCKET_OK);
    EXPECT_EQ(Take(1, quick_receiver), small);
  }
  EXPECT_EQ(slow_result.status, SUEDE_SOCKET_PENDING);
  // The slow receiver has lost nothing.
  Octets got;
  while (got.size() < octets.size()) {
    const Octets more = Take(1, slow_receiver);
    got.insert(got.end(), more.begin(), more.end());
    PumpAll();
  }
  EXPECT_EQ(got, octets);
  EXPECT_EQ(slow_result.status, SUEDE_SOCKET_OK);
  EXPECT_EQ(Refused(1, Status::kCredit), 0u);
}

TEST_F(Connected, AFullRingEndsASendInTimeAndTheStreamGoesOnBehindIt) {
  const Octets octets = Pattern(20000);
  ASSERT_EQ(Send(0, sender, octets, 100), Started::kOk);
  PumpAll();
  Advance(99);
  EXPECT_EQ(result.status, SUEDE_SOCKET_PENDING);
  Advance(1);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
  EXPECT_EQ(result.pushed_bytes, 15u * 256);
  EXPECT_TRUE(nodes[0]->senders().operations(sender)->is_empty());
  EXPECT_EQ(nodes[0]->senders().operations(sender)->TakeFailure(), Status::kTimedOut);
  EXPECT_EQ(Take(1, receiver), Octets(octets.begin(), octets.begin() + 15 * 256));
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(5)), Started::kOk);
  PumpAll();
  EXPECT_EQ(result.status, SUEDE_SOCKET_OK);
  EXPECT_EQ(Take(1, receiver), Pattern(5));
}

TEST_F(Connected, ASendThatItsDeadlineHasEndedWaitsForNoAcknowledgement) {
  ASSERT_EQ(Send(0, sender, Pattern(1000), 100), Started::kOk);
  PumpOne(0);  // and the receiver says nothing
  EXPECT_FALSE(nodes[0]->senders().operations(sender)->is_empty());
  EXPECT_EQ(nodes[0]->senders().operations(sender)->open(), 1u);
  Advance(100);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
  EXPECT_EQ(result.pushed_bytes, 1000u);
  EXPECT_TRUE(nodes[0]->senders().operations(sender)->is_empty());
  EXPECT_EQ(nodes[0]->senders().operations(sender)->open(), 0u);
  EXPECT_EQ(nodes[0]->senders().operations(sender)->TakeFailure(), Status::kTimedOut);
  Advance(100);
  PumpAll();
  EXPECT_EQ(nodes[0]->senders().operations(sender)->TakeFailure(), Status::kOk)
      << "it is told once";
  EXPECT_EQ(Take(1, receiver), Pattern(1000));
}

TEST_F(Connected, ADeadlineCountsHoweverLongNothingWasSent) {
  Wait(5, 1000);
  wires[0].Stop(1, nodes[0]->PeerOf(sender, 0).traits.vc);
  ASSERT_EQ(Send(0, sender, Pattern(5), 20), Started::kOk);
  PumpAll();
  Advance(19);
  EXPECT_EQ(result.status, SUEDE_SOCKET_PENDING);
  Advance(1);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
  EXPECT_EQ(result.pushed_bytes, 0u);
}

TEST_F(Pairs, TimesThatTheDaemonTakesNothingAreCounted) {
  wires[0].Stop(1, kControlVc);
  OpenSender(0, {1});
  nodes[0]->Pump(wires[0]);
  const uint64_t before = nodes[0]->counters().blocked;
  EXPECT_GT(before, 0u);
  EXPECT_TRUE(nodes[0]->HasUnsent());
  nodes[0]->Pump(wires[0]);
  EXPECT_GT(nodes[0]->counters().blocked, before);
  EXPECT_TRUE(wires[0].sent.empty());
  wires[0].stopped_xpuid = -1;
  const uint64_t all = nodes[0]->counters().blocked;
  nodes[0]->Pump(wires[0]);
  EXPECT_EQ(nodes[0]->counters().blocked, all);
  EXPECT_EQ(wires[0].sent.size(), 1u);
  EXPECT_FALSE(nodes[0]->HasUnsent());
}

TEST_F(Connected, DataAndEndThatTheDaemonDoesNotTakeWaitAndAreCounted) {
  for (const bool closes : {false, true}) {
    wires[0].Stop(1, kDataVc);
    if (closes) {
      nodes[0]->Close(sender);
    } else {
      ASSERT_EQ(Send(0, sender, Pattern(5)), Started::kOk);
    }
    for (uint64_t i = 0; i < 2; ++i) {
      const uint64_t before = nodes[0]->counters().blocked;
      EXPECT_TRUE(Lose(0).empty());
      EXPECT_EQ(nodes[0]->counters().blocked, before + 1);
      EXPECT_TRUE(nodes[0]->HasUnsent());
    }
    wires[0].stopped_xpuid = -1;
    PumpAll();
    EXPECT_FALSE(nodes[0]->HasUnsent());
  }
  EXPECT_EQ(Take(1, receiver), Pattern(5));
  Take(1, receiver, Got::kEnd);
  EXPECT_TRUE(nodes[0]->IsClosed(sender));
}

TEST_F(Connected, TimesThatAReceiverHasNoRoomAreCounted) {
  ASSERT_EQ(Send(0, sender, Pattern(15 * 256)), Started::kOk);
  PumpAll();
  EXPECT_EQ(nodes[0]->counters().starved, 0u);
  ASSERT_EQ(Send(0, sender, Pattern(500)), Started::kOk);
  PumpAll();
  EXPECT_GT(nodes[0]->counters().starved, 0u);
}

// The room of a quarter of the ring is worth telling, and less is not.
TEST_F(Connected, CreditIsToldNowAndThen) {
  for (int i = 0; i < 12; ++i) ASSERT_EQ(Send(0, sender, Pattern(100)), Started::kOk);
  PumpAll();
  Octets room(800);
  uint32_t bytes = 0;
  ASSERT_EQ(nodes[1]->receivers().Receive(receiver, room.data(), 800, &bytes), Got::kOctets);
  ASSERT_EQ(bytes, 800u);
  ASSERT_LT(8 * CostOf(100), 1024u);
  nodes[1]->Pump(wires[1]);
  EXPECT_TRUE(wires[1].sent.empty());
  ASSERT_EQ(nodes[1]->receivers().Receive(receiver, room.data(), 200, &bytes), Got::kOctets);
  ASSERT_GE(10 * CostOf(100), 1024u);
  nodes[1]->Pump(wires[1]);
  EXPECT_EQ(wires[1].sent.size(), 1u);
}

// However much there is to send to another.
TEST_F(Pairs, ReceiversHaveTheirTurns) {
  std::vector<uint32_t> senders;
  for (const uint16_t to : {uint16_t{1}, uint16_t{2}}) {
    senders.push_back(OpenSender(0, {to}));
    Open(to, {.ring_bytes = 65536}, {0});
  }
  PumpAll();
  const Octets octets = Pattern(50'000);
  for (const uint32_t sender : senders) ASSERT_EQ(Send(0, sender, octets), Started::kOk);
  for (const uint32_t so_far : {64u, 128u}) {
    nodes[0]->Pump(wires[0]);
    std::array<uint32_t, kXpus> commands{};
    for (const Carried& one : wires[0].sent) ++commands[one.to.xpuid];
    EXPECT_EQ(commands[1], so_far);
    EXPECT_EQ(commands[2], so_far);
  }
}

TEST_F(Pairs, ReceiversHaveTheirTurnsWhereTheDaemonTakesLittle) {
  const uint32_t senders[] = {OpenSender(0, {1}), OpenSender(0, {2})};
  for (const uint16_t to : {uint16_t{1}, uint16_t{2}}) Open(to, {.ring_bytes = 65536}, {0});
  PumpAll();
  for (const uint32_t sender : senders) ASSERT_EQ(Send(0, sender, Pattern(50'000)), Started::kOk);
  std::array<uint32_t, kXpus> commands{};
  for (int i = 0; i < 8; ++i) {
    wires[0].room = 8;
    nodes[0]->Pump(wires[0]);
    for (const Carried& one : wires[0].sent) ++commands[one.to.xpuid];
    wires[0].sent.clear();
  }
  EXPECT_EQ(commands[1], 32u);
  EXPECT_EQ(commands[2], 32u);
}

// It is for the sender to ask.
TEST_F(Pairs, AReceiverThatWaitsAsksOnce) {
  OpenReceiver(1, 0);
  nodes[1]->Pump(wires[1]);
  EXPECT_EQ(wires[1].sent.size(), 1u);
  wires[1].sent.clear();
  for (int i = 0; i < 5; ++i) {
    Advance(1000);
    nodes[1]->Pump(wires[1]);
  }
  EXPECT_TRUE(wires[1].sent.empty());
}

TEST_F(Pairs, ADatagramIsWholeOrNotAtAll) {
  const SocketParams datagrams{.is_datagram = true};
  const uint32_t sender = OpenSender(0, {1}, datagrams);
  const uint32_t receiver = OpenReceiver(1, 0, datagrams);
  PumpAll();
  EXPECT_EQ(Send(0, sender, Pattern(2000)), Started::kTooLong);
  for (const size_t bytes : {0, 1, 256, 257, 1900}) {
    ASSERT_EQ(Send(0, sender, Pattern(bytes)), Started::kOk);
    PumpAll();
    EXPECT_EQ(Take(1, receiver), Pattern(bytes));
    PumpAll();
  }
  uint32_t bytes = 0;
  uint8_t room[4];
  ASSERT_EQ(Send(0, sender, Pattern(5)), Started::kOk);
  PumpAll();
  EXPECT_EQ(nodes[1]->receivers().Receive(receiver, room, 4, &bytes), Got::kTooLong);
  EXPECT_EQ(bytes, 5u);
  EXPECT_EQ(Take(1, receiver), Pattern(5));
}

TEST_F(Pairs, ADatagramThatIsGivenUpMidwayLeavesNothing) {
  const SocketParams datagrams{.is_datagram = true};
  const uint32_t sender = OpenSender(0, {1}, datagrams);
  const uint32_t receiver = OpenReceiver(1, 0, datagrams);
  PumpAll();
  for (int i = 0; i < 2; ++i) ASSERT_EQ(Send(0, sender, Pattern(1900)), Started::kOk);
  ASSERT_EQ(Send(0, sender, Pattern(1900), 50), Started::kOk);
  PumpAll();
  Advance(50);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Take(1, receiver), Pattern(1900));
  Take(1, receiver, Got::kNothing);
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(600, 9)), Started::kOk);
  nodes[0]->Close(sender);
  PumpAll();
  EXPECT_EQ(Take(1, receiver), Pattern(600, 9));
  Take(1, receiver, Got::kEnd);
  EXPECT_EQ(nodes[1]->counters().torn, 0u) << "it had found no credit at all";
  // A message of which a part had credit.
  const uint32_t second = OpenSender(0, {2}, datagrams);
  const uint32_t second_receiver = OpenReceiver(2, 0, datagrams);
  PumpAll();
  ASSERT_EQ(Send(0, second, Pattern(1900)), Started::kOk);
  ASSERT_EQ(Send(0, second, Pattern(1000)), Started::kOk);
  ASSERT_EQ(Send(0, second, Pattern(1900), 50), Started::kOk);
  PumpAll();
  Advance(50);
  EXPECT_EQ(Take(2, second_receiver), Pattern(1900));
  EXPECT_EQ(Take(2, second_receiver), Pattern(1000));
  Take(2, second_receiver, Got::kNothing);
  PumpAll();
  ASSERT_EQ(Send(0, second, Pattern(3)), Started::kOk);
  PumpAll();
  EXPECT_EQ(Take(2, second_receiver), Pattern(3));
  EXPECT_EQ(nodes[2]->counters().torn, 1u);
}

TEST_F(Pairs, AMulticastIsCompleteWhenAllHaveIt) {
  const uint32_t sender = OpenSender(0, {1, 2, 3});
  const uint32_t receivers[] = {0, OpenReceiver(1, 0), OpenReceiver(2, 0), OpenReceiver(3, 0)};
  PumpAll();
  ASSERT_EQ(nodes[0]->StatusOf(sender), Status::kOk);
  const Octets octets = Pattern(6000);
  ASSERT_EQ(Send(0, sender, octets), Started::kOk);
  PumpAll();
  Octets got[4];
  const auto read = [&](uint16_t xpuid) {
    for (int i = 0; i < 4; ++i) {
      TakeMore(xpuid, receivers[xpuid], &got[xpuid]);
      PumpAll();
    }
  };
  read(1);
  read(2);
  EXPECT_EQ(result.status, SUEDE_SOCKET_PENDING);
  EXPECT_EQ(result.pushed_bytes, 0u);
  read(3);
  EXPECT_EQ(result.status, SUEDE_SOCKET_OK);
  for (uint16_t xpuid = 1; xpuid < 4; ++xpuid) EXPECT_EQ(got[xpuid], octets);
}

TEST_F(Pairs, ASlowTargetIsGivenUpAtTheDeadlineAndTheOthersGoOn) {
  const uint32_t sender = OpenSender(0, {1, 2});
  const uint32_t quick = OpenReceiver(1, 0);
  const uint32_t slow = OpenReceiver(2, 0);
  PumpAll();
  const Octets octets = Pattern(6000);
  ASSERT_EQ(Send(0, sender, octets, 100), Started::kOk);
  Octets got;
  for (int i = 0; i < 4; ++i) {
    PumpAll();
    TakeMore(1, quick, &got);
  }
  EXPECT_EQ(got, octets);
  Advance(100);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
  EXPECT_EQ(result.pushed_bytes, 6000u);
  EXPECT_EQ(nodes[0]->PeerStatus(sender, 0), Status::kOk);
  EXPECT_EQ(nodes[0]->PeerStatus(sender, 1), Status::kTimedOut);
  PumpAll();
  EXPECT_EQ(Take(2, slow), Octets(octets.begin(), octets.begin() + 15 * 256));
  Take(2, slow, Got::kFailed);
  EXPECT_EQ(nodes[2]->StatusOf(slow), Status::kAborted);
  // The failure is reported with the next operation, whose data the other receiver gets.
  ASSERT_EQ(Send(0, sender, Pattern(9)), Started::kOk);
  PumpAll();
  EXPECT_EQ(Take(1, quick), Pattern(9));
  EXPECT_EQ(result.pushed_bytes, 9u);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
}

TEST_F(Connected, RoomThatIsOfferedIsFilledInPlace) {
  Octets room(600);
  ASSERT_TRUE(nodes[1]->receivers().OfferBuffer(receiver, room.data(), 600));
  ASSERT_EQ(Send(0, sender, Pattern(800)), Started::kOk);
  PumpAll();
  ASSERT_EQ(nodes[1]->receivers().WithdrawBuffer(receiver), 512u);
  EXPECT_EQ(nodes[1]->counters().spilled_bytes, 288u);
  EXPECT_FALSE(nodes[1]->receivers().OfferBuffer(receiver, room.data(), 600))
      << "there is something before it";
  room.resize(512);
  const Octets rest = Take(1, receiver);
  room.insert(room.end(), rest.begin(), rest.end());
  EXPECT_EQ(room, Pattern(800));
}

TEST_F(Connected, RoomThatIsFilledNeedsNoRing) {
  Octets room(512);
  for (uint8_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(nodes[1]->receivers().OfferBuffer(receiver, room.data(), 512));
    EXPECT_EQ(nodes[1]->receivers().Filled(receiver), 0u);
    EXPECT_FALSE(nodes[1]->receivers().OfferBuffer(receiver, room.data(), 512)) << "one at a time";
    ASSERT_EQ(Send(0, sender, Pattern(512, i)), Started::kOk);
    PumpAll();
    EXPECT_EQ(result.status, SUEDE_SOCKET_OK);
    EXPECT_EQ(nodes[1]->receivers().Filled(receiver), 512u);
    ASSERT_EQ(nodes[1]->receivers().WithdrawBuffer(receiver), 512u);
    EXPECT_EQ(room, Pattern(512, i));
  }
  EXPECT_EQ(nodes[1]->counters().spilled_bytes, 0u);
  const Octets before = room;
  ASSERT_EQ(Send(0, sender, Pattern(8, 99)), Started::kOk);
  PumpAll();
  EXPECT_EQ(room, before) << "it was taken back";
  EXPECT_EQ(Take(1, receiver), Pattern(8, 99));
}

}  // namespace
}  // namespace suede::message
