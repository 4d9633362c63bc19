// SPDX-License-Identifier: Apache-2.0
// Receivers without room (docs/control-pdus.md, NOT_READY and READY): nothing is lost, and the
// sender goes on as soon as there is room.
#include "bench.h"

namespace suede {
namespace {

template <typename Message>
const Message* As(const ControlMessage& message) {
  return std::get_if<Message>(&message);
}

class NotReadyTest : public ByHandTest {
 protected:
  static constexpr uint8_t kVc = 2;

  // The control PDUs among the host's frames.
  std::vector<ControlMessage> TakeControl() {
    std::vector<ControlMessage> all;
    for (const Sent& sent : TakeSent()) {
      if (sent.rh.ver != static_cast<uint8_t>(RhVersion::kControl)) continue;
      EXPECT_EQ(sent.rh.op, RhOp::kNothing);
      EXPECT_EQ(sent.rh.xpuid, 0);
      EXPECT_EQ(sent.rh.partition, kPartition);
      EXPECT_EQ(sent.dscp, params.ack_class.dscp);
      ControlMessage message;
      EXPECT_EQ(DecodeControl(sent.commands.data(), static_cast<uint32_t>(sent.commands.size()),
                              message),
                ControlError::kNone);
      all.push_back(message);
    }
    return all;
  }
  // A PDU of one command, with the PSN as its seed.
  void InjectPdu(uint16_t psn) {
    Inject({Build(Rh(psn, kVc), Command(static_cast<uint8_t>(psn)))});
  }
  static uint8_t FirstByte(uint16_t psn) { return static_cast<uint8_t>(psn * 3); }
};

TEST_F(NotReadyTest, RefusedPduIsAnsweredAndReadyFollowsOnceThereIsRoom) {
  shape.rx_lines = 64;
  params.ack_class.dscp = 46;
  params.transport.not_ready_backoff = microseconds(700);
  Start();
  Client& client = Attach(*host);
  Meet();
  uint16_t psn = 0;
  while (host->Count(Counter::kRxNotReady) == 0) InjectPdu(psn++);
  const uint16_t refused = --psn;
  ASSERT_GT(refused, 0);

  std::vector<ControlMessage> messages = TakeControl();
  ASSERT_EQ(messages.size(), 1u);
  const NotReady* not_ready = As<NotReady>(messages[0]);
  ASSERT_NE(not_ready, nullptr);
  EXPECT_EQ(not_ready->vc, kVc);
  EXPECT_EQ(not_ready->expected, Psn(refused));
  EXPECT_EQ(not_ready->backoff_us, 700u);

  // Without room, no READY is sent; and a PDU behind the refused one causes no NACK.
  Inject({Build(Rh(refused + 1, kVc), Command(1))});
  Run(milliseconds(1));
  EXPECT_TRUE(TakeControl().empty());
  EXPECT_EQ(host->Count(Counter::kTxNacks), 0u);

  EXPECT_EQ(client.Receive(kVc).size(), refused);
  Run(microseconds(10));
  messages = TakeControl();
  ASSERT_EQ(messages.size(), 1u);
  const Ready* ready = As<Ready>(messages[0]);
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->vc, kVc);
  EXPECT_EQ(ready->expected, Psn(refused));

  InjectPdu(refused);
  EXPECT_EQ(client.Receive(kVc), std::vector<uint8_t>{FirstByte(refused)});
  EXPECT_TRUE(TakeControl().empty());
}

TEST_F(NotReadyTest, ReadyEndsASendersPauseAtOnce) {
  params.transport.rto_initial = params.transport.rto_max = std::chrono::seconds(1);
  Start();
  Meet();
  Client& client = Attach(*host);
  const Psn first = FirstPsn();
  client.Send(TestCommand(8, 16, 1), 1, kVc, SUEDE_RECORD_TRANSMIT_NOW);
  client.Send(TestCommand(8, 16, 2), 1, kVc, SUEDE_RECORD_TRANSMIT_NOW);
  Run(microseconds(100));
  ASSERT_EQ(TakeSent().size(), 2u);
  Inject({Control(NotReady{.vc = kVc, .expected = first, .backoff_us = 500'000})});
  Run(milliseconds(5));
  EXPECT_TRUE(TakeSent().empty());

  // A READY with another PSN is a straggler.
  Inject({Control(Ready{.vc = kVc, .expected = first.Next()})});
  EXPECT_TRUE(TakeSent().empty());
  Inject({Control(Ready{.vc = kVc, .expected = first})});
  const std::vector<Sent> sent = TakeSent();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].rh.psn, first);
  EXPECT_EQ(sent[1].rh.psn, first.Next());
  EXPECT_EQ(host->Count(Counter::kRtoFired), 0u);
}

TEST_F(NotReadyTest, TrafficResumesBeforeTheBackOffEnds) {
  plain_peers = false;
  params.counts_credit = false;
  shape.rx_lines = 64;
  params.transport.not_ready_backoff = milliseconds(400);
  params.transport.rto_initial = params.transport.rto_max = std::chrono::seconds(1);
  Host& a = AddHost(0, 2);
  Host& b = AddHost(1, 2);
  Client& sender = Attach(a);
  Client& receiver = Attach(b);
  for (int i = 0; i < 100; ++i) {
    sender.Send(TestCommand(8, 16, 1), 1, kVc, SUEDE_RECORD_TRANSMIT_NOW);
  }
  ASSERT_TRUE(RunUntil([&] { return a.Count(Counter::kPauses) != 0; }));
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] { return (got += receiver.Receive(kVc).size()) == 100; },
                       milliseconds(10)));
  EXPECT_GT(b.Count(Counter::kRxNotReady), 0u);
  EXPECT_EQ(a.Count(Counter::kRtoFired), 0u);
}

TEST_F(NotReadyTest, PdusBeyondTheUnclaimedLimitAreRefusedUntilTheVcIsClaimed) {
  params.unclaimed_pdus = 4;
  Start();
  Meet();
  Client& client = Attach(*host, 0);
  for (uint16_t psn = 0; psn < 4; ++psn) InjectPdu(psn);
  EXPECT_TRUE(TakeControl().empty());
  InjectPdu(4);
  std::vector<ControlMessage> messages = TakeControl();
  ASSERT_EQ(messages.size(), 1u);
  const NotReady* not_ready = As<NotReady>(messages[0]);
  ASSERT_NE(not_ready, nullptr);
  EXPECT_EQ(not_ready->vc, kVc);
  EXPECT_EQ(not_ready->expected, Psn(4));
  EXPECT_EQ(host->Count(Counter::kRxUnclaimed), 4u);
  EXPECT_EQ(host->Count(Counter::kRxNotReady), 1u);
  EXPECT_EQ(host->Count(Counter::kRxPdus), 4u);

  EXPECT_EQ(Ask(*host, request::Claim{.vc_mask = 1 << kVc, .client = client.number}),
            LcoreStatus::kDone);
  Run(microseconds(10));
  messages = TakeControl();
  ASSERT_EQ(messages.size(), 1u);
  const Ready* ready = As<Ready>(messages[0]);
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->expected, Psn(4));
  InjectPdu(4);
  EXPECT_EQ(client.Receive(kVc), (std::vector<uint8_t>{0, 3, 6, 9, 12}));
}

TEST_F(NotReadyTest, NothingIsLostWhereAClaimComesLate) {
  plain_peers = false;
  params.unclaimed_pdus = 4;
  Host& a = AddHost(0, 2);
  Host& b = AddHost(1, 2);
  Client& sender = Attach(a);
  Client& receiver = Attach(b, 0);
  std::vector<uint8_t> want;
  for (uint8_t i = 0; i < 50; ++i) {
    sender.Send(TestCommand(8, 16, i), 1, kVc, SUEDE_RECORD_TRANSMIT_NOW);
    want.push_back(static_cast<uint8_t>(i * 3));
  }
  Run(milliseconds(20));
  EXPECT_EQ(b.Count(Counter::kRxUnclaimed), 4u);
  EXPECT_EQ(a.Count(Counter::kUnreachable), 0u);
  Ask(b, request::Claim{.vc_mask = 1 << kVc, .client = receiver.number});
  std::vector<uint8_t> got;
  EXPECT_TRUE(RunUntil([&] {
    const std::vector<uint8_t> more = receiver.Receive(kVc);
    got.insert(got.end(), more.begin(), more.end());
    return got.size() >= want.size();
  }));
  EXPECT_EQ(got, want);
  ExpectNoFramesOut();
}

}  // namespace
}  // namespace suede
