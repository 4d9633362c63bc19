// SPDX-License-Identifier: Apache-2.0
// Names of sockets, and how both ends find each other, or do not.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "message/sockets.h"
#include "socket_pairs.h"

namespace suede::message {
namespace {

TEST(SocketNames, DifferInAnyOfTheirParts) {
  Sockets sockets({.planes = kMaxPlanes, .channels = kMaxChannels});
  const auto open_all = [&](Opened expected) {
    for (const bool is_sender : {false, true}) {
      for (const int plane : {0, 7, 8, 15}) {
        for (const uint16_t peer : {uint16_t{0}, uint16_t{1}, uint16_t{512}, uint16_t{1023}}) {
          for (const int id : {0, 1, 0x8000, 0xffff}) {
            for (const uint32_t epoch : {0u, 1u, UINT32_MAX}) {
              uint32_t socket = 0;
              const SocketParams params{.is_sender = is_sender,
                                        .plane = static_cast<int8_t>(plane),
                                        .id = static_cast<uint16_t>(id),
                                        .epoch = epoch,
                                        .ring_bytes = kMinRingBytes,
                                        .operations = 1};
              ASSERT_EQ(sockets.Open(params, {{peer}}, &socket), expected)
                  << is_sender << " " << plane << " " << peer << " " << id << " " << epoch;
            }
          }
        }
      }
    }
  };
  open_all(Opened::kOk);
  open_all(Opened::kExists);
  uint32_t any = 0;
  EXPECT_EQ(sockets.Open({.plane = 0, .ring_bytes = kMinRingBytes}, {{kAnyXpu}}, &any),
            Opened::kOk);
  sockets.CheckInvariants();
}

TEST(SocketNames, ThePlaneIsTheOneThatIsNamedOrThatOfTheReceiver) {
  Sockets sockets({.own_xpuid = 5, .planes = 3});
  uint32_t socket = 0;
  for (const bool is_sender : {false, true}) {
    for (const int plane : {-1, 0, 1, 2}) {
      ASSERT_EQ(sockets.Open({.is_sender = is_sender,
                              .plane = static_cast<int8_t>(plane),
                              .id = static_cast<uint16_t>(plane + 1)},
                             {{7}}, &socket),
                Opened::kOk);
      const int automatic = is_sender ? 7 % 3 : 5 % 3;
      EXPECT_EQ(sockets.PeerOf(socket, 0).name.plane, plane < 0 ? automatic : plane);
    }
  }
}

TEST_F(Pairs, AnAbsentSocketIsOfAnotherEpochOrOfNone) {
  OpenReceiver(1, 2, {.id = 4, .epoch = 5});
  for (const uint16_t id : {uint16_t{3}, uint16_t{4}, uint16_t{5}}) {
    for (const uint32_t epoch : {4u, 5u, 6u}) {
      const uint32_t sender = OpenSender(2, {1}, {.id = id, .epoch = epoch});
      PumpAll();
      const Status found = epoch == 5 ? Status::kOk : Status::kEpoch;
      EXPECT_EQ(nodes[2]->PeerStatus(sender, 0), id == 4 ? found : Status::kNotOpen)
          << id << " " << epoch;
    }
  }
  const uint32_t other = OpenSender(3, {1}, {.id = 4, .epoch = 6});
  PumpAll();
  EXPECT_EQ(nodes[3]->PeerStatus(other, 0), Status::kNotOpen) << "it has a peer";
}

TEST_F(Pairs, ASocketThatClosesBeforeItIsConnectedIsAborted) {
  const uint32_t sender = OpenSender(0, {1});
  nodes[0]->Close(sender);
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kAborted);
  EXPECT_TRUE(nodes[0]->IsClosed(sender));
  EXPECT_EQ(Send(0, sender, Pattern(1)), Started::kInvalid);
  const uint32_t receiver = OpenReceiver(1, 0);
  PumpAll();
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kPending);
  nodes[1]->Close(receiver);
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kAborted);
  EXPECT_TRUE(nodes[1]->IsClosed(receiver));
  nodes[0]->Release(sender);
  const uint32_t again = OpenSender(0, {1});
  PumpAll();
  EXPECT_EQ(nodes[0]->PeerStatus(again, 0), Status::kNotOpen);
}

TEST_F(Pairs, PlacesOfReleasedSocketsAreUsedAgain) {
  for (uint32_t i = 0; i < 2 * kChannels; ++i) {
    const uint32_t sender = OpenSender(0, {1});
    const uint32_t receiver = OpenReceiver(1, 0);
    PumpAll();
    ASSERT_EQ(Send(0, sender, Pattern(5)), Started::kOk);
    PumpAll();
    ASSERT_EQ(Take(1, receiver), Pattern(5)) << "nothing of a former socket stays";
    nodes[0]->Release(sender);
    nodes[1]->Release(receiver);
    PumpAll();
    EXPECT_EQ(nodes[0]->free_channels(), kChannels);
    EXPECT_EQ(nodes[1]->free_channels(), kChannels);
  }
}

TEST_F(Connected, ANewLifeOfTheReceiverTouchesNoStreamThatHasEnded) {
  nodes[0]->Close(sender);
  PumpAll();
  ASSERT_TRUE(nodes[0]->IsClosed(sender));
  Begin(1);
  OpenReceiver(1, 0);
  PumpAll();
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOk);
  EXPECT_EQ(nodes[0]->OutcomeOf(sender), Status::kOk);
}

TEST_F(Connected, ARefusalNamesTheTagOfTheCommand) {
  const uint32_t tag = nodes[1]->PeerOf(receiver, 0).tag;
  Inject(0, 1, kDataVc, {.kind = Kind::kEnd, .tag = tag, .number = 1});  // one is missing
  EXPECT_EQ(nodes[1]->StatusOf(receiver), Status::kOrder);
  EXPECT_EQ(Refused(1, Status::kOrder), 1u);
  Take(1, receiver, Got::kFailed);
  const std::vector<Command> answers = Lose(1);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].kind, Kind::kRefuse);
  EXPECT_EQ(answers[0].status, Status::kOrder);
  EXPECT_EQ(answers[0].tag, tag);
  Command refusal = answers[0];
  refusal.tag = tag ^ 1u << 20;
  Inject(1, 0, kControlVc, refusal);
  EXPECT_EQ(nodes[0]->counters().stray, 1u);
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOk);
  Inject(1, 0, kControlVc, answers[0]);
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOrder);
}

TEST_F(Pairs, CommandsOfOthersAreCountedAndIgnored) {
  const uint8_t control[kControlBytes] = {0x89};
  nodes[1]->OnCommand({.xpuid = 0, .plane = 0, .vc = kControlVc}, control, kControlBytes, nullptr,
                      0);
  EXPECT_EQ(nodes[1]->counters().foreign, 1u);
  EXPECT_TRUE(Lose(1).empty());
}

TEST_F(Pairs, CompletionsNameTheKindAndTheChannel) {
  const uint32_t sender = OpenSender(0, {1});
  OpenReceiver(1, 0);
  std::vector<uint64_t> tags;
  const auto take = [&] {
    nodes[0]->Pump(wires[0]);
    for (const Carried& one : wires[0].sent) {
      if (one.wants_completion) tags.push_back(one.tag);
    }
    PumpAll();
  };
  take();
  const uint64_t tag = nodes[0]->PeerOf(sender, 0).tag;
  Send(0, sender, Pattern(100));
  take();
  nodes[0]->Close(sender);
  take();
  const auto named = [&](Kind kind) { return uint64_t{static_cast<uint8_t>(kind)} << 32 | tag; };
  EXPECT_EQ(tags, (std::vector{named(Kind::kConnect), named(Kind::kData), named(Kind::kEnd)}));
}

TEST_F(Connected, CompletionsOfNoChannelChangeNothing) {
  const uint32_t tag = nodes[0]->PeerOf(sender, 0).tag;
  for (const uint32_t other : {tag ^ 1u << 31, tag ^ 1u, tag | kChannels, kMaxChannels - 1}) {
    for (const Kind kind : {Kind::kConnect, Kind::kData, Kind::kEnd}) {
      nodes[0]->senders().OnCompletion(uint64_t{static_cast<uint8_t>(kind)} << 32 | other,
                                       SUEDE_STATUS_UNREACHABLE);
    }
  }
  EXPECT_EQ(nodes[0]->StatusOf(sender), Status::kOk);
}

}  // namespace
}  // namespace suede::message
