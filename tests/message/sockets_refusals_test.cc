// SPDX-License-Identifier: Apache-2.0
// Commands and calls that are refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "message/sockets.h"
#include "socket_pairs.h"

namespace suede::message {
namespace {

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

TEST_F(Connected, AnswersOfOthersAreStray) {
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
  wires[1].Stop(2, kControlVc);
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

TEST_F(Connected, CommandsOutOfPlaceAreRefused) {
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

TEST_F(Connected, EndTravelsBehindTheData) {
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
