// SPDX-License-Identifier: Apache-2.0
// Settings that change while PDUs are on their way: each takes effect, and nothing that is in
// flight is lost over it.
#include "lcore/settings.h"

#include "bench.h"
#include "lcore/snapshot.h"

namespace suede {
namespace {

using std::chrono::seconds;

class SettingsTest : public ByHandTest {
 protected:
  // XPU 1 by hand; no HELLO, and nothing that is not asked for for a long time.
  void StartByHand() {
    params.transport.rto_initial = params.transport.rto_max = seconds(1);
    Start();
    client = &Attach(*host);
  }
  void StartPair() {
    host = &AddHost(0, 2);
    far = &AddHost(1, 2);
    client = &Attach(*host);
    far_client = &Attach(*far);
  }
  // Gives a host other settings than it began with.
  void Change(Host& of, const std::function<void(Settings&)>& change) {
    SettingsChange& request = *requests_.emplace_back(std::make_unique<SettingsChange>());
    request.settings = {.partition = params.partition,
                        .classes = params.classes,
                        .ack_class = params.ack_class,
                        .pack_limit_bytes = params.pack_limit_bytes,
                        .inflight_pdus = params.inflight_pdus,
                        .unclaimed_pdus = params.unclaimed_pdus,
                        .transport = params.transport};
    change(request.settings);
    request.done = false;
    of.pipeline->mailbox().requests.Push(request::ChangeSettings{.settings = &request});
    ASSERT_TRUE(RunUntil([&] { return request.done.load(); }));
    LcoreReply reply;
    EXPECT_FALSE(of.pipeline->mailbox().replies.Pop(reply));  // `done` is the answer
  }
  // Sends commands that take a PDU each.
  void SendPdus(uint64_t first, uint64_t count) {
    for (uint64_t tag = first; tag < first + count; ++tag) {
      client->Send(TestCommand(8, 16, static_cast<uint8_t>(tag)), 1, 0,
                   SUEDE_RECORD_COMPLETION | SUEDE_RECORD_TRANSMIT_NOW, tag);
    }
  }
  // The data PDUs that came to XPU 1 in a while.
  std::vector<Sent> TakeData(Duration time = microseconds(50)) {
    Run(time);
    std::vector<Sent> data;
    for (Sent& sent : TakeSent()) {
      const bool is_data = sent.rh.ver == static_cast<uint8_t>(RhVersion::kData);
      if (is_data && !sent.commands.empty() && (sent.commands[0] & 0xf) != 0) {
        data.push_back(std::move(sent));
      }
    }
    return data;
  }
  void Acknowledge(uint16_t psn) {
    ReliabilityHeader rh = Rh();
    rh.op = RhOp::kAck;
    rh.rpsn = Psn(psn);
    Inject({Build(rh, {})});
  }
  void ExpectAllDelivered(uint64_t count) {
    EXPECT_EQ(Statuses(*client, count), std::vector<int>(count, SUEDE_STATUS_OK));
    std::vector<uint8_t> want;
    for (uint64_t tag = 0; tag < count; ++tag) want.push_back(static_cast<uint8_t>(tag * 3));
    EXPECT_EQ(far_client->Receive(), want);
  }

  Client* client = nullptr;
  Host* far = nullptr;
  Client* far_client = nullptr;

 private:
  std::vector<std::unique_ptr<SettingsChange>> requests_;
};

TEST_F(SettingsTest, SmallerWindowHoldsBackUntilItHasEmptied) {
  StartByHand();
  SendPdus(0, 8);
  ASSERT_EQ(TakeData().size(), 8u);
  Change(*host, [](Settings& s) { s.transport.window_pdus = 2; });
  SendPdus(8, 8);
  EXPECT_EQ(TakeData().size(), 0u);
  Acknowledge(5);  // two are in flight still
  EXPECT_EQ(TakeData().size(), 0u);
  Acknowledge(7);
  EXPECT_EQ(TakeData().size(), 2u);
}

TEST_F(SettingsTest, LargerWindowIsUsedAtOnce) {
  params.transport.window_pdus = 2;
  StartByHand();
  SendPdus(0, 8);
  ASSERT_EQ(TakeData().size(), 2u);
  Change(*host, [](Settings& s) { s.transport.window_pdus = 6; });
  EXPECT_EQ(TakeData().size(), 4u);
}

TEST_F(SettingsTest, LargerWindowOfBytesIsUsedAtOnce) {
  params.transport.window_bytes = 48;
  StartByHand();
  SendPdus(0, 8);  // of 24 bytes
  ASSERT_EQ(TakeData().size(), 2u);
  Change(*host, [](Settings& s) { s.transport.window_bytes = 96; });
  EXPECT_EQ(TakeData().size(), 2u);
}

TEST_F(SettingsTest, MoreInFlightOfAnInstanceIsUsedAtOnce) {
  params.inflight_pdus = 3;
  StartByHand();
  SendPdus(0, 8);
  ASSERT_EQ(TakeData().size(), 3u);
  Change(*host, [](Settings& s) { s.inflight_pdus = 5; });
  EXPECT_EQ(TakeData().size(), 2u);
  Change(*host, [](Settings& s) { s.inflight_pdus = 1; });
  Acknowledge(3);
  EXPECT_EQ(TakeData().size(), 0u);
  Acknowledge(4);
  EXPECT_EQ(TakeData().size(), 1u);
}

TEST_F(SettingsTest, ShorterTimeoutEndsAWaitThatHasBegun) {
  StartByHand();
  SendPdus(0, 1);
  ASSERT_EQ(TakeData().size(), 1u);
  EXPECT_EQ(TakeData(milliseconds(5)).size(), 0u);
  Change(*host, [](Settings& s) {
    s.transport.rto_initial = microseconds(300);
    s.transport.rto_max = microseconds(300);
  });
  EXPECT_EQ(TakeData(microseconds(400)).size(), 1u);
  EXPECT_EQ(host->Count(Counter::kRtoFired), 1u);
}

TEST_F(SettingsTest, LongerTimeoutHoldsForTheNextPdu) {
  StartByHand();
  Change(*host,
         [](Settings& s) { s.transport.rto_initial = s.transport.rto_max = microseconds(200); });
  SendPdus(0, 1);
  ASSERT_EQ(TakeData().size(), 1u);
  EXPECT_EQ(TakeData(microseconds(300)).size(), 1u);
  Change(*host, [](Settings& s) { s.transport.rto_initial = s.transport.rto_max = seconds(1); });
  TakeData(milliseconds(1));
  EXPECT_EQ(TakeData(milliseconds(20)).size(), 0u);
}

TEST_F(SettingsTest, FewerTriesMakeAPeerUnreachable) {
  params.transport.max_tries = 200;
  Start();
  client = &Attach(*host);
  SendPdus(0, 1);
  Run(milliseconds(30));
  EXPECT_EQ(host->Count(Counter::kUnreachable), 0u);
  Change(*host, [](Settings& s) { s.transport.max_tries = 2; });
  EXPECT_EQ(Statuses(*client, 1), std::vector<int>{SUEDE_STATUS_IN_DOUBT});
}

TEST_F(SettingsTest, ShorterHelloTimeoutEndsAWaitThatHasBegun) {
  params.transport.hello_timeout = seconds(1);
  plain_peers = false;
  Start();
  client = &Attach(*host);
  SendPdus(0, 1);
  Run(milliseconds(5));
  EXPECT_EQ(host->Count(Counter::kTxControlPdus), 1u);
  Change(*host, [](Settings& s) { s.transport.hello_timeout = microseconds(50); });
  Run(microseconds(100));
  EXPECT_GE(host->Count(Counter::kTxControlPdus), 2u);
}

TEST_F(SettingsTest, AckDelayHoldsForWhatIsOwedAlready) {
  params.transport.ack_delay = milliseconds(400);
  StartByHand();
  Inject({Build(Rh(0), Command(1))});
  Run(milliseconds(1));
  EXPECT_EQ(host->Count(Counter::kTxAcks), 0u);
  Change(*host, [](Settings& s) { s.transport.ack_delay = microseconds(10); });
  Run(microseconds(20));
  EXPECT_EQ(host->Count(Counter::kTxAcks), 1u);
  Change(*host, [](Settings& s) { s.transport.ack_delay = milliseconds(2); });
  Inject({Build(Rh(1), Command(2))});
  Run(milliseconds(1));
  EXPECT_EQ(host->Count(Counter::kTxAcks), 1u);
  Run(milliseconds(2));
  EXPECT_EQ(host->Count(Counter::kTxAcks), 2u);
}

TEST_F(SettingsTest, AckEveryPdus) {
  params.transport.ack_delay = milliseconds(400);
  StartByHand();
  Change(*host, [](Settings& s) { s.transport.ack_every_pdus = 2; });
  Inject({Build(Rh(0), Command(1))});
  EXPECT_EQ(host->Count(Counter::kTxAcks), 0u);
  Inject({Build(Rh(1), Command(2))});
  EXPECT_EQ(host->Count(Counter::kTxAcks), 1u);
}

TEST_F(SettingsTest, NackTimeout) {
  params.transport.nack_timeout = seconds(1);
  StartByHand();
  Inject({Build(Rh(1), Command(1))});  // 0 is missing
  Inject({Build(Rh(2), Command(2))});
  EXPECT_EQ(host->Count(Counter::kTxNacks), 1u);
  Change(*host, [](Settings& s) { s.transport.nack_timeout = microseconds(1); });
  Inject({Build(Rh(3), Command(3))});
  EXPECT_EQ(host->Count(Counter::kTxNacks), 2u);
}

TEST_F(SettingsTest, NotReadyBackoffAndUnclaimedPdus) {
  StartByHand();
  Ask(*host, request::Unclaim{.vc_mask = 0xf, .client = client->number});
  Change(*host, [](Settings& s) {
    s.unclaimed_pdus = 2;
    s.transport.not_ready_backoff = microseconds(777);
  });
  TakeSent();
  for (uint16_t psn = 0; psn < 3; ++psn) Inject({Build(Rh(psn), Command(1))});
  EXPECT_EQ(host->Count(Counter::kRxUnclaimed), 2u);
  EXPECT_EQ(host->Count(Counter::kRxNotReady), 1u);
  uint32_t backoff_us = 0;
  for (const Sent& sent : TakeSent()) {
    ControlMessage message;
    if (sent.rh.ver != static_cast<uint8_t>(RhVersion::kControl)) continue;
    DecodeControl(sent.commands.data(), static_cast<uint32_t>(sent.commands.size()), message);
    if (const auto* not_ready = std::get_if<NotReady>(&message)) backoff_us = not_ready->backoff_us;
  }
  EXPECT_EQ(backoff_us, 777u);
}

TEST_F(SettingsTest, PackLimitHoldsForTheNextPdu) {
  StartByHand();
  Change(*host, [](Settings& s) { s.pack_limit_bytes = 276; });
  for (uint64_t tag = 0; tag < 24; ++tag) client->SendTagged(tag, 1);  // of 24 bytes each
  const std::vector<Sent> small = TakeData();
  ASSERT_EQ(small.size(), 3u);
  for (const Sent& sent : small) EXPECT_LE(sent.commands.size(), 276u);
  Change(*host, [](Settings& s) { s.pack_limit_bytes = 4000; });
  for (uint64_t tag = 24; tag < 48; ++tag) client->SendTagged(tag, 1);
  EXPECT_EQ(TakeData().size(), 1u);
}

TEST_F(SettingsTest, ClassesAreThoseOfTheNextFrame) {
  StartByHand();
  SendPdus(0, 1);
  EXPECT_EQ(TakeData().at(0).dscp, 0);
  Change(*host, [](Settings& s) {
    s.classes[0].dscp = 33;
    s.ack_class.dscp = 44;
  });
  SendPdus(1, 1);
  EXPECT_EQ(TakeData().at(0).dscp, 33);
  Inject({Build(Rh(0), Command(1))});
  Run(milliseconds(1));
  const std::vector<Sent> acks = TakeSent();
  ASSERT_EQ(acks.size(), 1u);
  EXPECT_EQ(acks[0].dscp, 44);
}

TEST_F(SettingsTest, EveryInstanceOfTheLcoreTakesThem) {
  constexpr uint32_t kSecond = 10;
  StartByHand();
  InstanceParams second = params;
  second.xpuid = kSecond;
  second.planes = {{.port = 0, .address = {.low = IpOf(kSecond)}}};
  second.peers = {
      {.xpuid = 1, .planes = {{.address = {.low = IpOf(1)}, .mac = MacOf(1)}}, .plain = true}};
  host->pipeline->AddInstance(second);
  client = &Attach(*host, 0xf, 1);
  Change(*host, [](Settings& s) { s.classes[0].dscp = 33; });
  SendPdus(0, 1);
  const std::vector<Sent> data = TakeData();
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(data[0].source, kSecond);
  EXPECT_EQ(data[0].dscp, 33);
}

TEST_F(SettingsTest, PartitionIsThatOfTheNextFrameBothWays) {
  StartByHand();
  Change(*host, [](Settings& s) { s.partition = 9; });
  SendPdus(0, 1);
  EXPECT_EQ(TakeData().at(0).rh.partition, 9);
  Inject({Build(Rh(0), Command(1))});
  EXPECT_EQ(host->Count(Counter::kRxPartition), 1u);
  ReliabilityHeader rh = Rh(0);
  rh.partition = 9;
  Inject({Build(rh, Command(1))});
  EXPECT_EQ(host->Count(Counter::kRxPdus), 1u);
}

TEST_F(SettingsTest, WhatIsInFlightArrivesInAnotherPartition) {
  StartPair();
  SendPdus(0, 32);
  Run(microseconds(30));
  Change(*host, [](Settings& s) { s.partition = 9; });
  SendPdus(32, 32);
  Run(microseconds(50));
  Change(*far, [](Settings& s) { s.partition = 9; });
  ExpectAllDelivered(64);
}

TEST_F(SettingsTest, EverythingAtOnceUnderLoad) {
  params.transport.max_tries = 40;
  StartPair();
  for (uint64_t round = 0; round < 8; ++round) {
    SendPdus(round * 8, 8);
    Run(microseconds(3));
    Change(round % 2 == 0 ? *host : *far, [&](Settings& s) {
      s.transport.window_pdus = round % 3 == 0 ? 1 : 64;
      s.transport.ack_every_pdus = 1;
      s.transport.ack_delay = microseconds(1 + 30 * round);
      s.pack_limit_bytes = static_cast<uint32_t>(276 + 100 * round);
      s.inflight_pdus = static_cast<uint32_t>(1 + round);
      s.classes[0].dscp = static_cast<uint8_t>(round);
    });
  }
  ExpectAllDelivered(64);
  ExpectNoFramesOut();
}

TEST_F(SettingsTest, PsnScopeStays) {
  StartPair();
  Change(*host, [](Settings& s) { s.transport.psn_scope = PsnScope::kVc; });
  EXPECT_EQ(host->pipeline->instance(0).params.transport.psn_scope, PsnScope::kPort);
  SendPdus(0, 4);
  ExpectAllDelivered(4);
}

TEST_F(SettingsTest, OrderingStays) {
  params.paths.ordering = Ordering::kUnordered;
  StartPair();
  Change(*host, [](Settings& s) { s.paths.ordering = Ordering::kStrict; });
  EXPECT_EQ(host->pipeline->instance(0).params.paths.ordering, Ordering::kUnordered);
  SendPdus(0, 4);
  ExpectAllDelivered(4);
}

// More connections than one turn goes through.
TEST_F(SettingsTest, LongListsArePutInLineTurnByTurn) {
  host = &AddHost(0, 200);
  wire = AddPort(150);
  SettingsChange change;
  change.settings.partition = kPartition;
  change.settings.classes[3].dscp = 21;
  change.done = false;
  host->pipeline->mailbox().requests.Push(request::ChangeSettings{.settings = &change});
  host->pipeline->Poll(network.now());
  EXPECT_FALSE(change.done);
  EXPECT_TRUE(host->pipeline->Poll(network.now()));  // so that the lcore does not sleep over it
  EXPECT_TRUE(RunUntil([&] { return change.done.load(); }));

  // A change that comes while another is under way is not lost, nor is the first.
  SettingsChange more[2];
  for (SettingsChange& each : more) {
    each.done = false;
    each.settings.partition = kPartition;
    host->pipeline->mailbox().requests.Push(request::ChangeSettings{.settings = &each});
  }
  EXPECT_TRUE(RunUntil([&] { return more[0].done.load() && more[1].done.load(); }));
}

}  // namespace
}  // namespace suede
