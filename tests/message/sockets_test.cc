// SPDX-License-Identifier: Apache-2.0
#include "message/sockets.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "socket_pairs.h"
#include "suede/layout.h"

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

TEST_F(Pairs, AStreamIsOctetsAndEndsBehindTheLast) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
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

TEST_F(Pairs, AFullRingEndsASendInTimeAndTheStreamGoesOnBehindIt) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
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

TEST_F(Pairs, ASendThatItsDeadlineHasEndedWaitsForNoAcknowledgement) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
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

TEST_F(Pairs, ADeadlineCountsHoweverLongNothingWasSent) {
  const uint32_t sender = OpenSender(0, {1});
  OpenReceiver(1, 0);
  PumpAll();
  for (int i = 0; i < 5; ++i) {
    Advance(1000);
    PumpAll();
  }
  wires[0].stopped_xpuid = 1;
  wires[0].stopped_vc = nodes[0]->PeerOf(sender, 0).traits.vc;
  ASSERT_EQ(Send(0, sender, Pattern(5), 20), Started::kOk);
  PumpAll();
  Advance(19);
  EXPECT_EQ(result.status, SUEDE_SOCKET_PENDING);
  Advance(1);
  EXPECT_EQ(result.status, SUEDE_SOCKET_TIMED_OUT);
  EXPECT_EQ(result.pushed_bytes, 0u);
}

TEST_F(Pairs, AnEndThatIsLostIsAskedAboutHoweverLongNothingWasSent) {
  const uint32_t sender = OpenSender(0, {1});
  OpenReceiver(1, 0);
  PumpAll();
  for (int i = 0; i < 5; ++i) {
    Advance(1000);
    PumpAll();
  }
  nodes[0]->Close(sender);
  nodes[0]->Pump(wires[0]);
  ASSERT_EQ(wires[0].sent.size(), 1u);
  wires[0].sent.clear();
  for (int i = 0; i < 3; ++i) Advance(500);
  nodes[0]->Pump(wires[0]);
  EXPECT_FALSE(wires[0].sent.empty());
  EXPECT_FALSE(nodes[0]->IsClosed(sender));
}

TEST_F(Pairs, AnAnswerToTheEndThatIsLostComesAgain) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
  nodes[0]->Close(sender);
  PumpOne(0);
  Take(1, receiver, Got::kEnd);
  nodes[1]->Pump(wires[1]);
  ASSERT_EQ(wires[1].sent.size(), 1u);
  wires[1].sent.clear();
  EXPECT_FALSE(nodes[0]->IsClosed(sender));
  for (int i = 0; i < 3; ++i) {
    Advance(500);
    PumpAll();
  }
  EXPECT_TRUE(nodes[0]->IsClosed(sender));
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOk);
}

TEST_F(Pairs, AnAcceptOfAnotherLifeEndsTheStream) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
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

TEST_F(Pairs, TimesThatTheDaemonTakesNothingAreCounted) {
  wires[0].stopped_xpuid = 1;
  wires[0].stopped_vc = kControlVc;
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

TEST_F(Pairs, DataAndEndThatTheDaemonDoesNotTakeWaitAndAreCounted) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
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

TEST_F(Pairs, TimesThatAReceiverHasNoRoomAreCounted) {
  const uint32_t sender = OpenSender(0, {1});
  OpenReceiver(1, 0);
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(15 * 256)), Started::kOk);
  PumpAll();
  EXPECT_EQ(nodes[0]->counters().starved, 0u);
  ASSERT_EQ(Send(0, sender, Pattern(500)), Started::kOk);
  PumpAll();
  EXPECT_GT(nodes[0]->counters().starved, 0u);
}

// The room of a quarter of the ring is worth telling, and less is not.
TEST_F(Pairs, CreditIsToldNowAndThen) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
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

TEST_F(Pairs, WhoSendsMoreThanWasGrantedIsRefusedAndCounted) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  const uint32_t other = OpenSender(2, {1});
  const uint32_t other_receiver = OpenReceiver(1, 2);
  PumpAll();
  const uint32_t tag = nodes[0]->PeerOf(sender, 0).peer_tag;
  const Octets octets = Pattern(256);
  for (uint32_t number = 0; number < 30; ++number) {
    Inject(0, 1, 1,
           {.kind = Kind::kData,
            .tag = tag,
            .number = number,
            .data = octets.data(),
            .data_bytes = 256});
  }
  EXPECT_EQ(Refused(1, Status::kCredit), 15u) << "the first one, and those behind it";
  // The octets that had credit are there, and the socket has failed behind them.
  Octets got;
  while (got.size() < 15 * 256) {
    const Octets more = Take(1, receiver);
    got.insert(got.end(), more.begin(), more.end());
  }
  Take(1, receiver, Got::kFailed);
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kCredit);
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kCredit);
  ASSERT_EQ(Send(2, other, octets), Started::kOk);
  PumpAll();
  EXPECT_EQ(Take(1, other_receiver), octets);
}

TEST_F(Pairs, DataOfAnotherEpochTouchesNothing) {
  const uint32_t sender = OpenSender(0, {1}, {.epoch = 7});
  const uint32_t receiver = OpenReceiver(1, 0, {.epoch = 7});
  PumpAll();
  const uint32_t tag = nodes[0]->PeerOf(sender, 0).peer_tag;
  const Octets octets = Pattern(4);
  const Command late{
      .kind = Kind::kData, .tag = tag, .epoch = 6, .data = octets.data(), .data_bytes = 4};
  Inject(0, 1, 1, late);
  EXPECT_EQ(Refused(1, Status::kEpoch), 1u);
  Take(1, receiver, Got::kNothing);
  // A command with a tag of a former life is refused by its epoch, too.
  Command former = late;
  former.tag = tag ^ 0x80000000;
  Inject(0, 1, 1, former);
  EXPECT_EQ(Refused(1, Status::kEpoch), 2u);
  EXPECT_EQ(nodes[1]->counters().received_bytes, 0u);
  ASSERT_EQ(Send(0, sender, octets), Started::kOk);
  nodes[0]->Pump(wires[0]);
  for (; !wires[0].sent.empty(); wires[0].sent.pop_front()) Deliver(0, wires[0].sent.front());
  EXPECT_EQ(Take(1, receiver), octets);
}

TEST_F(Pairs, EpochsAreApart) {
  const uint32_t old_sender = OpenSender(0, {1}, {.epoch = 1});
  const uint32_t new_receiver = OpenReceiver(1, 0, {.epoch = 2});
  PumpAll();
  EXPECT_EQ(nodes[0]->PeerStatus(old_sender, 0), Status::kEpoch);
  const uint32_t old_receiver = OpenReceiver(1, 0, {.epoch = 1});
  const uint32_t new_sender = OpenSender(0, {1}, {.epoch = 2});
  PumpAll();
  const Octets one = Pattern(10, 1);
  const Octets two = Pattern(10, 2);
  ASSERT_EQ(Send(0, new_sender, two), Started::kOk);
  ASSERT_EQ(Send(0, old_sender, one), Started::kOk);
  PumpAll();
  EXPECT_EQ(Take(1, old_receiver), one);
  EXPECT_EQ(Take(1, new_receiver), two);
}

TEST_F(Pairs, BothEndsAgreeOnTypePrivacyAndVc) {
  OpenReceiver(1, 0, {.id = 1});
  OpenReceiver(1, 0, {.id = 2});
  OpenReceiver(1, 0, {.id = 3});
  const uint32_t datagram = OpenSender(0, {1}, {.is_datagram = true, .id = 1});
  const uint32_t vc = OpenSender(0, {1}, {.vc = 2, .id = 2});
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(datagram), Status::kMismatch);
  EXPECT_EQ(nodes[0]->StatusOf(vc), Status::kMismatch);
  nodes[0]->Release(datagram);
  nodes[0]->Release(vc);
  const uint32_t alone = OpenSender(0, {1}, {.is_private = true, .id = 3});
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(alone), Status::kMismatch);
}

TEST_F(Pairs, APrivateStreamHasItsVcAlone) {
  const uint32_t alone = OpenSender(0, {1, 2}, {.is_private = true, .id = 1});
  Open(0, {.is_sender = true, .id = 2}, {3}, Opened::kBusy);
  Open(0, {.is_sender = true, .vc = 2, .id = 2}, {3});
  Open(0, {.is_sender = true, .is_private = true, .vc = 2, .id = 3}, {3}, Opened::kBusy);
  OpenReceiver(0, 1, {.id = 2});  // the other direction
  nodes[0]->Release(alone);
  Open(0, {.is_sender = true, .id = 2}, {1});
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
      Octets room(10000);
      uint32_t bytes = 0;
      nodes[xpuid]->receivers().Receive(receivers[xpuid], room.data(), 10000, &bytes);
      got[xpuid].insert(got[xpuid].end(), room.begin(), room.begin() + bytes);
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
    Octets room(10000);
    uint32_t bytes = 0;
    nodes[1]->receivers().Receive(quick, room.data(), 10000, &bytes);
    got.insert(got.end(), room.begin(), room.begin() + bytes);
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

TEST_F(Pairs, AReceiverThatClosesFirstFailsItsSender) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
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

TEST_F(Pairs, AReceiverThatClosesBeforeAnythingWasSentFailsItsSender) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
  nodes[1]->Release(receiver);
  PumpAll();
  nodes[0]->Close(sender);
  EXPECT_EQ(nodes[0]->OutcomeOf(sender), Status::kClosed);
}

TEST_F(Pairs, AReceiverThatClosesBeforeItTookEverythingFailsItsSender) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(3000)), Started::kOk);
  PumpAll();
  nodes[1]->Release(receiver);
  PumpAll();
  nodes[0]->Close(sender);
  EXPECT_EQ(nodes[0]->OutcomeOf(sender), Status::kClosed);
}

TEST_F(Pairs, ASenderThatGivesUpAbortsItsReceiver) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(100)), Started::kOk);
  nodes[0]->Pump(wires[0]);
  nodes[0]->Release(sender);
  PumpAll();
  EXPECT_EQ(Take(1, receiver), Pattern(100));
  Take(1, receiver, Got::kFailed);
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kAborted);
  EXPECT_EQ(nodes[0]->free_channels(), 16u);
}

TEST_F(Pairs, ANewLifeOfAPeerIsNotTheOldOne) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
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

TEST_F(Pairs, ASenderFindsOutThatItsReceiverIsNoMore) {
  const uint32_t sender = OpenSender(0, {1});
  OpenReceiver(1, 0);
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(10)), Started::kOk);
  nodes[0]->Pump(wires[0]);
  wires[0].sent.clear();  // taken by a process that ended then
  Begin(1);
  PumpAll();
  EXPECT_EQ(result.status, SUEDE_SOCKET_PENDING);
  for (int i = 0; i < 3; ++i) {
    Advance(500);
    PumpAll();
  }
  EXPECT_EQ(result.status, SUEDE_SOCKET_NOT_OPEN);
}

TEST_F(Pairs, AnswersOfOthersAreStray) {
  const uint32_t sender = OpenSender(0, {1});
  OpenReceiver(1, 0);
  PumpAll();
  ASSERT_EQ(Send(0, sender, Pattern(20000)), Started::kOk);
  PumpAll();
  const Channel& channel = nodes[0]->PeerOf(sender, 0);
  const uint64_t limit = channel.limit;
  const Command credit{.kind = Kind::kCredit, .tag = channel.tag, .limit = 8000, .received = 0};
  Inject(2, 0, kControlVc, credit);  // of another XPU
  Command much = credit;
  much.limit = 1 << 20;  // more than the ring has
  Inject(1, 0, kControlVc, much);
  Command received = credit;
  received.received = 20000;  // more than was sent
  Inject(1, 0, kControlVc, received);
  Inject(1, 0, kControlVc, {.kind = Kind::kClosed, .tag = channel.tag});
  Inject(2, 0, kControlVc, {.kind = Kind::kRefuse, .status = Status::kClosed, .tag = channel.tag});
  EXPECT_EQ(nodes[0]->counters().stray, 5u);
  // A limit grows, up to what was sent and the ring.
  much.received = static_cast<uint32_t>(channel.acknowledged);
  const auto max = static_cast<uint32_t>(channel.sent) + 4096;
  for (const uint32_t bad : {4095u, max + 1}) {
    much.limit = bad;
    Inject(1, 0, kControlVc, much);
  }
  EXPECT_EQ(nodes[0]->counters().stray, 7u);
  EXPECT_EQ(channel.limit, limit);
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOk);
  EXPECT_EQ(result.status, SUEDE_SOCKET_PENDING);
  much.limit = max;
  Inject(1, 0, kControlVc, much);
  EXPECT_EQ(channel.limit, max);
  // A socket that waits has neither sent anything nor ended.
  const uint32_t waiting = OpenSender(0, {3});
  const uint32_t tag = nodes[0]->PeerOf(waiting, 0).tag;
  Inject(3, 0, kControlVc, {.kind = Kind::kCredit, .tag = tag});
  Inject(3, 0, kControlVc, {.kind = Kind::kClosed, .tag = tag});
  EXPECT_EQ(nodes[0]->counters().stray, 9u);
  EXPECT_EQ(nodes[0]->StatusOf(waiting), Status::kPending);
}

TEST_F(Pairs, AFloodOfWhatIsRefusedTakesOnePlace) {
  wires[1].stopped_xpuid = 2;
  wires[1].stopped_vc = kControlVc;
  const Octets octets = Pattern(256);
  for (uint32_t number = 0; number < 1000; ++number) {
    Inject(2, 1, 1,
           {.kind = Kind::kData, .id = 5, .tag = number, .data = octets.data(), .data_bytes = 256});
    Inject(2, 1, kControlVc, {.kind = Kind::kConnect, .id = 6, .own_tag = number});
  }
  nodes[1]->Pump(wires[1]);
  EXPECT_EQ(Refused(1, Status::kNotOpen), 2000u);
  EXPECT_EQ(nodes[1]->counters().unanswered, 1999u);
  EXPECT_TRUE(wires[1].sent.empty());
  // Other senders are answered meanwhile.
  const uint32_t sender = OpenSender(0, {1});
  OpenReceiver(1, 0);
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOk);
  wires[1].stopped_xpuid = -1;
  nodes[1]->Pump(wires[1]);
  ASSERT_EQ(wires[1].sent.size(), 1u) << "one answer, to the first";
  EXPECT_EQ(wires[1].sent[0].to.xpuid, 2);
  EXPECT_EQ(wires[1].sent[0].to.vc, kControlVc);
  Command answer;
  ASSERT_EQ(ParseCommand(wires[1].sent[0].control.data(), kControlBytes, nullptr, 0, &answer),
            Parsed::kCommand);
  EXPECT_EQ(answer.kind, Kind::kRefuse);
  EXPECT_EQ(answer.status, Status::kNotOpen);
  EXPECT_EQ(answer.id, 5);
}

TEST_F(Pairs, CommandsOutOfPlaceAreRefused) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
  const uint32_t tag = nodes[0]->PeerOf(sender, 0).peer_tag;
  const Octets octets = Pattern(8);
  Inject(0, 1, 1, {.kind = Kind::kConnect, .own_tag = 1});  // on a VC of data
  EXPECT_EQ(Refused(1, Status::kMalformed), 1u);
  Command data{.kind = Kind::kData, .tag = tag, .data = octets.data(), .data_bytes = 8};
  Inject(0, 1, 2, data);  // on another VC
  EXPECT_EQ(Refused(1, Status::kMismatch), 1u);
  Inject(3, 1, 1, data);  // of another XPU
  EXPECT_EQ(Refused(1, Status::kNotOpen), 1u);
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kOk);
  data.number = 1;  // one is missing
  Inject(0, 1, 1, data);
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kOrder);
  Take(1, receiver, Got::kFailed);
}

// The receiver would wait for data for ever, and its sender for a good answer.
TEST_F(Pairs, AnAcceptWithALimitOutOfRangeIsRefused) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  nodes[0]->Pump(wires[0]);
  const Carried connect = wires[0].sent.front();
  wires[0].sent.clear();
  Deliver(0, connect);
  nodes[1]->Pump(wires[1]);
  wires[1].sent.clear();  // the ACCEPT, in place of which others come
  const uint32_t tag = nodes[0]->PeerOf(sender, 0).tag;
  const uint32_t own_tag = nodes[1]->PeerOf(receiver, 0).tag;
  uint32_t refused = 0;
  for (const uint32_t limit : {0u, 4095u, (1u << 30) + 1}) {
    Inject(1, 0, kControlVc,
           {.kind = Kind::kAccept, .tag = tag, .own_tag = own_tag, .limit = limit});
    EXPECT_EQ(Refused(0, Status::kMalformed), ++refused);
    EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kPending);
    PumpOne(0);
  }
  EXPECT_EQ(nodes[0]->counters().stray, 0u);
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kAborted);
}

TEST_F(Pairs, EndTravelsBehindTheData) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
  const Channel& channel = nodes[0]->PeerOf(sender, 0);
  Inject(0, 1, kControlVc, {.kind = Kind::kEnd, .tag = channel.peer_tag});
  EXPECT_EQ(Refused(1, Status::kMismatch), 1u);
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kOk);
  const uint64_t progress = nodes[1]->progress();
  Inject(0, 1, channel.traits.vc, {.kind = Kind::kEnd, .tag = channel.peer_tag});
  EXPECT_EQ(Refused(1, Status::kMismatch), 1u);
  EXPECT_NE(nodes[1]->progress(), progress) << "who waits for octets looks again";
  Take(1, receiver, Got::kEnd);
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

TEST_F(Pairs, RoomThatIsOfferedIsFilledInPlace) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
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

TEST_F(Pairs, RoomThatIsFilledNeedsNoRing) {
  const uint32_t sender = OpenSender(0, {1});
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
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

TEST_F(Pairs, CallsOutOfRange) {
  Open(0, {.is_sender = true}, {}, Opened::kInvalid);
  Open(0, {.is_sender = true}, {kAnyXpu}, Opened::kInvalid);
  Open(0, {.is_sender = true}, {1, 1}, Opened::kInvalid);
  Open(0, {.is_sender = false}, {1, 2}, Opened::kInvalid);
  Open(0, {.is_sender = true, .plane = 1}, {1}, Opened::kInvalid);
  Open(0, {.is_sender = true, .vc = 0}, {1}, Opened::kInvalid);
  Open(0, {.is_sender = true, .is_datagram = true, .is_private = true}, {1}, Opened::kInvalid);
  Open(0, {.ring_bytes = 4088}, {1}, Opened::kInvalid);
  Open(0, {.ring_bytes = 4100}, {1}, Opened::kInvalid);
  const uint32_t sender = OpenSender(0, {1}, {.operations = 2});
  Open(0, {.is_sender = true}, {2, 1}, Opened::kExists);
  EXPECT_EQ(Send(0, sender, Pattern(1)), Started::kNotConnected);
  OpenReceiver(1, 0);
  PumpAll();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Send(0, sender, Pattern(1)), Started::kOk);
  EXPECT_EQ(Send(0, sender, Pattern(1)), Started::kNoRoom);
  for (uint16_t id = 1; id < 15; ++id) OpenSender(0, {1}, {.id = id});
  Open(0, {.is_sender = true, .id = 99}, {1, 2}, Opened::kNoRoom);
  OpenSender(0, {1}, {.id = 15});
  // Arguments at the ends of their ranges find no room now, others are still invalid.
  struct Case {
    SocketParams params;
    std::vector<uint16_t> peers;
    Opened expected;
  };
  const Case cases[] = {
      {{.is_sender = true, .id = 99}, {1}, Opened::kNoRoom},
      {{.is_sender = true, .id = 99}, {0, 1023}, Opened::kNoRoom},
      {{.is_sender = true, .id = 99}, {1, 1024}, Opened::kInvalid},
      {{.is_sender = true, .id = 99}, {1, 2, 1}, Opened::kInvalid},
      {{.is_sender = true, .id = 99, .operations = 1}, {1}, Opened::kNoRoom},
      {{.is_sender = true, .id = 99, .operations = 0}, {1}, Opened::kInvalid},
      {{.is_sender = true, .plane = 0, .id = 99}, {1}, Opened::kNoRoom},
      {{.is_sender = true, .plane = -2, .id = 99}, {1}, Opened::kInvalid},
      {{.is_sender = true, .vc = 2, .id = 99}, {1}, Opened::kNoRoom},
      {{.is_sender = true, .vc = -2, .id = 99}, {1}, Opened::kInvalid},
      {{.is_sender = true, .vc = 4, .id = 99}, {1}, Opened::kInvalid},
      {{.id = 99}, {kAnyXpu}, Opened::kNoRoom},
      {{.id = 99}, {kAnyXpu + 1}, Opened::kInvalid},
      {{.id = 99, .ring_bytes = kMinRingBytes}, {1}, Opened::kNoRoom},
      {{.id = 99, .ring_bytes = kMaxRingBytes}, {1}, Opened::kNoRoom},
      {{.id = 99, .ring_bytes = kMaxRingBytes + 8}, {1}, Opened::kInvalid},
  };
  for (const Case& each : cases) Open(0, each.params, each.peers, each.expected);
}

}  // namespace
}  // namespace suede::message
