// SPDX-License-Identifier: Apache-2.0
// Shares of a burst's places, of frames and of credit while others want all of them.
#include <algorithm>
#include <vector>

#include "bench.h"
#include "proxy_port.h"

namespace suede {
namespace {

constexpr uint32_t kFirstUnknown = 12;  // XPUs 1 to 11, all behind one wire

class ResourcesTest : public ByHandTest {
 protected:
  ResourcesTest() {
    params.transport.rto_initial = params.transport.rto_max = std::chrono::seconds(10);
    params.transport.rto_min = std::chrono::seconds(10);
    params.transport.window_pdus = 512;
    shape.queue_count = 4;
    shape.tx_lines = shape.aggregate_lines = shape.completion_count = 4096;
    shape.credit_lines = 1024;
    planes = 1;
  }
  void StartBehindProxy(uint32_t pool_frames = 16384) {
    wire = AddPort(1);
    hosts.push_back(std::make_unique<Host>());
    host = hosts.back().get();
    const uint8_t mac[6] = {2, 0, 0, 0, 0, 0};
    host->port = network.AddPort(mac, pool_frames, 1024, SimFaults());
    port = std::make_unique<ProxyPort>(host->port);
    host->pipeline = std::make_unique<Pipeline>();
    host->pipeline->AddPort(port.get(), {.mac = MacOf(0)});
    InstanceParams p = params;
    p.planes = {{.address = {.low = IpOf(0)}}};
    for (uint16_t peer = 1; peer < kFirstUnknown; ++peer) {
      p.peers.push_back({.xpuid = peer,
                         .planes = {{.address = {.low = IpOf(peer)}, .mac = MacOf(1)}},
                         .plain = true});
    }
    host->pipeline->AddInstance(p);
    client = &Attach(*host, claims);
  }
  // Begins anew, with one peer.
  void RestartBehind(ProxyPort& proxy, const PortParams& port_params) {
    host->pipeline = std::make_unique<Pipeline>();
    host->pipeline->AddPort(&proxy, port_params);
    InstanceParams p = params;
    p.planes = {{.address = {.low = IpOf(0)}}};
    p.peers = {
        {.xpuid = 1, .planes = {{.address = {.low = IpOf(1)}, .mac = MacOf(1)}}, .plain = true}};
    host->pipeline->AddInstance(p);
    client = &Attach(*host, 0);
  }
  SendResult SendPdu(uint16_t xpuid, uint8_t vc = 0, uint32_t queue = 0) {
    return client->Send(TestCommand(8, 16, 1), xpuid, vc, SUEDE_RECORD_TRANSMIT_NOW, 0, queue);
  }
  uint32_t SendUntilBlocked(uint16_t xpuid, uint8_t vc = 0, uint32_t queue = 0) {
    uint32_t sent = 0;
    while (SendPdu(xpuid, vc, queue) == SendResult::kOk) ++sent;
    return sent;
  }
  std::vector<uint8_t> Udp6DataFrom(uint16_t peer, uint16_t psn) const {
    const std::vector<uint8_t> commands = Command(1);
    std::vector<uint8_t> buffer(FrameBufferBytes(static_cast<uint32_t>(commands.size())));
    const HeaderTemplate header = MakeTemplate(Encap::kUdp6, {.destination_mac = MacOf(0),
                                                              .source = {.low = IpOf(peer)},
                                                              .destination = {.low = IpOf(0)}});
    ReliabilityHeader rh = Rh(psn);
    rh.xpuid = peer;
    const std::span<uint8_t> frame = BuildFrame(header, rh, commands, buffer);
    return {frame.begin(), frame.end()};
  }
  static bool IsUdp6ChecksumGood(std::vector<uint8_t> frame) {
    const FrameRules rules{.encap = Encap::kUdp6};
    return ParseFrame(rules, frame.data(), static_cast<uint32_t>(frame.size()), false).error ==
           FrameError::kNone;
  }
  std::vector<uint8_t> DataFrom(uint16_t peer, uint16_t psn) {
    ReliabilityHeader rh = Rh(psn);
    rh.xpuid = peer;
    return Build(rh, Command(1), peer);
  }
  std::vector<uint8_t> AnswerFrom(uint16_t peer, RhOp op, uint16_t rpsn) {
    ReliabilityHeader rh = Rh();
    rh.xpuid = peer;
    rh.op = op;
    rh.rpsn = Psn(rpsn);
    return Build(rh, {}, peer);
  }
  // The numbers of frames to a peer, by kind, that have come to the wire since the last call.
  struct Came {
    uint32_t pdus = 0;
    uint32_t acks = 0;
    uint32_t control = 0;
  };
  std::vector<Came> TakeFrames() {
    std::vector<Came> came(kFirstUnknown);
    for (const Sent& sent : TakeSent()) {
      Came& c = came[sent.destination];
      if (sent.rh.ver == 3) {
        ++c.control;
      } else if (!sent.commands.empty() && (sent.commands[0] & 0xf) != 0) {
        ++c.pdus;
        last_psn[sent.destination] = sent.rh.psn.value();
      } else if (sent.rh.op == RhOp::kAck) {
        ++c.acks;
      }
    }
    return came;
  }
  // XPU 1 takes all of the port, which takes `max` frames a turn.
  void Saturate(uint32_t max) {
    port->max = max;
    for (uint8_t vc = 0; vc < kVcCount; ++vc) SendUntilBlocked(1, vc);
    Run(microseconds(200));
    ASSERT_GT(host->Count(Counter::kTxPortFull), 0u);
    TakeFrames();
  }

  uint8_t claims = 0xf;
  std::unique_ptr<ProxyPort> port;
  Client* client = nullptr;
  uint16_t last_psn[kFirstUnknown] = {};
};

// ---- Places of a burst.

TEST_F(ResourcesTest, ASaturatedPortAcknowledges) {
  StartBehindProxy();
  Saturate(1);
  for (uint16_t psn = 0; psn < 4; ++psn) {
    Inject({DataFrom(2, psn)});
    Run(microseconds(40));
    const std::vector<Came> came = TakeFrames();
    EXPECT_EQ(came[2].acks, 1u) << psn;
    EXPECT_GT(came[1].pdus, 10u) << psn;
  }
}

TEST_F(ResourcesTest, ASaturatedPortSaysThatItIsNotReady) {
  params.unclaimed_pdus = 0;
  claims = 0;
  StartBehindProxy();
  Saturate(1);
  Inject({DataFrom(2, 0)});
  Run(microseconds(20));
  EXPECT_EQ(TakeFrames()[2].control, 1u);
}

TEST_F(ResourcesTest, AcknowledgementsDoNotTakeAllOfAPort) {
  StartBehindProxy();
  Saturate(1);
  Inject({DataFrom(2, 0)});
  TakeFrames();
  // Each duplicate is acknowledged at once: as many as the port takes frames.
  for (int i = 0; i < 100; ++i) {
    for (uint16_t peer = 2; peer < 7; ++peer) Inject({DataFrom(peer, 0)});
  }
  const std::vector<Came> came = TakeFrames();
  uint32_t acks = 0;
  for (const Came& c : came) acks += c.acks;
  EXPECT_GT(acks, 100u);
  EXPECT_GT(came[1].pdus, 100u);
}

// More acknowledgements are due than the port takes frames: every other frame still has data.
TEST_F(ResourcesTest, DataHaveEveryOtherPlaceAmongMoreAcknowledgementsThanFit) {
  StartBehindProxy();
  Saturate(1);
  std::vector<std::vector<uint8_t>> duplicates;
  for (uint16_t peer = 2; peer < kFirstUnknown; ++peer) duplicates.push_back(DataFrom(peer, 0));
  Inject(duplicates);
  TakeFrames();
  for (int i = 0; i < 40; ++i) Inject(duplicates);  // five turns each
  const std::vector<Came> came = TakeFrames();
  uint32_t acks = 0;
  for (const Came& c : came) acks += c.acks;
  EXPECT_NEAR(acks, 100, 5);
  EXPECT_NEAR(came[1].pdus, 100, 5);
}

// An acknowledgement that passes PDUs on its way out says nothing of a loss to their receiver.
TEST_F(ResourcesTest, AnAcknowledgementShowsThePsnOfThePduThatItPasses) {
  StartBehindProxy();
  port->max = 0;
  for (int i = 0; i < 8; ++i) ASSERT_EQ(SendPdu(1), SendResult::kOk);
  Run(microseconds(10));
  Inject({DataFrom(1, 0)});
  Run(microseconds(100));
  ASSERT_EQ(host->Count(Counter::kTxAcks), 1u);
  port->max = ~0u;
  Run(microseconds(20));
  const std::vector<Sent> sent = TakeSent();
  ASSERT_EQ(sent.size(), 9u);
  EXPECT_EQ(sent[0].rh.op, RhOp::kAck);
  EXPECT_TRUE(sent[0].commands.empty() || (sent[0].commands[0] & 0xf) == 0);
  EXPECT_EQ(sent[0].rh.psn, sent[1].rh.psn);
}

// An lcore that does no more than fill the places of its port has work, and must not sleep.
TEST_F(ResourcesTest, APortThatTakesPdusOneByOneIsWorkInEachTurn) {
  StartBehindProxy();
  port->max = 0;
  SendUntilBlocked(1);
  Run(microseconds(100));
  EXPECT_FALSE(host->pipeline->Poll(network.now())) << "it takes nothing";
  port->max = 1;
  Run(microseconds(2));
  for (int turn = 0; turn < 8; ++turn) EXPECT_TRUE(host->pipeline->Poll(network.now())) << turn;
}

TEST_F(ResourcesTest, AnLcoreIsNotQuietWhileAnAcknowledgementIsOwedOrWaitsForItsPort) {
  StartBehindProxy();
  port->max = 0;
  Inject({DataFrom(2, 0)});
  EXPECT_FALSE(host->pipeline->IsQuiet()) << "it is owed";
  Run(milliseconds(1));
  ASSERT_EQ(host->Count(Counter::kTxAcks), 1u);
  EXPECT_FALSE(host->pipeline->IsQuiet()) << "it is staged";
  port->max = ~0u;
  Run(microseconds(20));
  EXPECT_TRUE(host->pipeline->IsQuiet());
}

TEST_F(ResourcesTest, RetransmissionsLeaveHalfOfAPortToOthers) {
  StartBehindProxy();
  SendUntilBlocked(1);
  Run(milliseconds(1));
  const uint32_t sent = TakeFrames()[1].pdus;
  ASSERT_GE(sent, 400u);
  port->max = 1;
  Inject({AnswerFrom(1, RhOp::kNack, static_cast<uint16_t>(last_psn[1] - sent + 1))});
  Run(microseconds(100));  // the burst is full of retransmissions
  TakeFrames();
  for (int i = 0; i < 40; ++i) ASSERT_EQ(SendPdu(2), SendResult::kOk);
  Run(microseconds(2 * 150));
  const std::vector<Came> came = TakeFrames();
  EXPECT_EQ(came[2].pdus, 40u);
  EXPECT_GT(came[1].pdus, 40u);
  // The whole port is the retransmissions' again.
  Run(microseconds(100));
  EXPECT_GE(TakeFrames()[1].pdus, 45u);
}

// Other PDUs leave retransmissions half of a port, however many there are.
TEST_F(ResourcesTest, RetransmissionsHaveHalfOfAPort) {
  StartBehindProxy();
  SendUntilBlocked(1);
  Run(milliseconds(1));
  const uint32_t sent = TakeFrames()[1].pdus;
  ASSERT_GE(sent, 400u);
  port->max = 1;
  Inject({AnswerFrom(1, RhOp::kNack, static_cast<uint16_t>(last_psn[1] - sent + 1))});
  Run(microseconds(100));
  for (int i = 0; i < 300; ++i) ASSERT_EQ(SendPdu(2), SendResult::kOk);
  Run(microseconds(100));  // both have work, and the burst holds of either
  TakeFrames();
  Run(microseconds(2 * 100));
  const std::vector<Came> came = TakeFrames();
  EXPECT_NEAR(came[1].pdus, 50, 5);
  EXPECT_NEAR(came[2].pdus, 50, 5);
}

// The instance is down while most of the PDUs wait for room in the port.
TEST_F(ResourcesTest, RetransmissionsThatItsInstanceMissesWhileDownAreAskedForAgain) {
  StartBehindProxy();
  SendUntilBlocked(1);
  Run(milliseconds(1));
  const uint32_t sent = TakeFrames()[1].pdus;
  ASSERT_GE(sent, 400u);
  port->max = 0;
  const auto first = static_cast<uint16_t>(last_psn[1] - sent + 1);
  Inject({AnswerFrom(1, RhOp::kNack, first)});
  Ask(*host, request::SetInstance{.up = false});
  port->max = ~0u;
  Run(microseconds(100));
  Ask(*host, request::SetInstance{.up = true});
  TakeFrames();
  Inject({AnswerFrom(1, RhOp::kNack, static_cast<uint16_t>(first + 1))});
  Run(microseconds(100));
  EXPECT_GE(TakeFrames()[1].pdus, sent - 1);
}

// ---- Frames.

TEST_F(ResourcesTest, CommandsToPausedPeersDoNotExhaustThePool) {
  params.transport.window_pdus = 1;
  StartBehindProxy(13824);
  for (uint32_t queue = 0; queue < 4; ++queue) {
    for (uint16_t peer = 1; peer <= 8; ++peer) {
      for (uint8_t vc = 0; vc < kVcCount; ++vc) SendUntilBlocked(peer, vc, queue);
    }
  }
  Run(microseconds(500));
  EXPECT_EQ(host->Count(Counter::kTxNoFrame), 0u);
  TakeFrames();
  Inject({DataFrom(10, 0)});
  Run(microseconds(50));
  EXPECT_EQ(TakeFrames()[10].acks, 1u);
  // Another client goes on.
  Client& other = Attach(*host, 0);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(other.Send(TestCommand(8, 16, 1), 11, 0, SUEDE_RECORD_TRANSMIT_NOW), SendResult::kOk);
    Run(microseconds(20));
    const uint32_t came = TakeFrames()[11].pdus;
    EXPECT_EQ(came, 1u) << i;
    Inject({AnswerFrom(11, RhOp::kAck, last_psn[11])});
  }
}

TEST_F(ResourcesTest, AQueueThatWaitsForItsShareOfPackedPdusIsCounted) {
  params.transport.window_pdus = 1;
  StartBehindProxy();
  RestartBehind(*port, {.mac = MacOf(0), .packed_pdus = Pipeline::kMaxQueues});  // one for each
  for (int i = 0; i < 2; ++i) ASSERT_EQ(SendPdu(1), SendResult::kOk);
  Run(microseconds(20));
  EXPECT_EQ(host->Count(Counter::kTxPdus), 1u);
  EXPECT_EQ(host->Count(Counter::kTxWaitsPacked), 0u) << "nothing waits in its ring";
  ASSERT_EQ(SendPdu(1), SendResult::kOk);
  Run(microseconds(20));
  EXPECT_GT(host->Count(Counter::kTxWaitsPacked), 0u);
}

TEST_F(ResourcesTest, AResetDoesNotGiveCreditForWhatStillWaits) {
  params.transport.window_pdus = 1;
  StartBehindProxy();
  const uint32_t sent = SendUntilBlocked(1);
  Run(microseconds(100));
  TakeFrames();
  ASSERT_EQ(Ask(*host, request::ResetQueue{.queue = 0, .client = client->number}),
            LcoreStatus::kDone);
  client->queues[0].Restart(false);
  EXPECT_LE(SendUntilBlocked(1), 1u);  // the one that has left
  EXPECT_EQ(SendPdu(2), SendResult::kOk);
  // As PDUs leave, their credit comes back, and no more than that.
  for (int i = 0; i < 10; ++i) {
    Inject({AnswerFrom(1, RhOp::kAck, last_psn[1])});
    Run(microseconds(20));
    ASSERT_EQ(TakeFrames()[1].pdus, 1u);
    EXPECT_EQ(client->queues[0].Credit(1, 0), static_cast<uint32_t>(i + 1));
  }
  EXPECT_GT(sent, 500u);
}

// ---- PDUs in flight.

TEST_F(ResourcesTest, SilentPeersDoNotStopTheOthersOfTheirInstance) {
  params.inflight_pdus = 64;
  params.transport.window_pdus = 16;
  StartBehindProxy();
  for (uint16_t peer = 1; peer <= 10; ++peer) {
    for (int i = 0; i < 40; ++i) ASSERT_EQ(SendPdu(peer), SendResult::kOk);
  }
  Run(microseconds(200));
  TakeFrames();
  EXPECT_LE(host->pipeline->instance(0).tx.inflight, 64u);
  uint32_t came = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(SendPdu(11), SendResult::kOk);
    Run(microseconds(20));
    came += TakeFrames()[11].pdus;
    if (came != 0) Inject({AnswerFrom(11, RhOp::kAck, last_psn[11])});
  }
  EXPECT_EQ(came, 100u);
}

TEST_F(ResourcesTest, OnePeerAloneHasNearlyAllThatMayBeInFlight) {
  params.inflight_pdus = 256;
  StartBehindProxy();
  SendUntilBlocked(1);
  Run(milliseconds(1));
  EXPECT_GE(TakeFrames()[1].pdus, 256u * 4 / 10);
  EXPECT_GT(host->Count(Counter::kTxWaitsShare), 0u);
  // Waiting PDUs go on as there is room, and all of them arrive.
  uint32_t rounds = 0;
  while (host->pipeline->instance(0).tx.inflight != 0 && ++rounds < 100) {
    Inject({AnswerFrom(1, RhOp::kAck, last_psn[1])});
    Run(microseconds(100));
    TakeFrames();
  }
  EXPECT_TRUE(host->pipeline->IsQuiet());
}

TEST_F(ResourcesTest, ADestinationThatTakesNothingLeavesCreditForOthers) {
  params.transport.window_pdus = 1;
  StartBehindProxy();
  for (uint16_t peer = 1; peer <= 8; ++peer) {
    for (uint8_t vc = 0; vc < kVcCount; ++vc) SendUntilBlocked(peer, vc);
  }
  Run(microseconds(200));
  TakeFrames();
  EXPECT_GE(client->queues[0].Credit(11, 0), 16u);
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(SendPdu(11), SendResult::kOk) << i;
    Run(microseconds(10));
    ASSERT_EQ(TakeFrames()[11].pdus, 1u);
    Inject({AnswerFrom(11, RhOp::kAck, last_psn[11])});
  }
}

// ---- Offloads of a device, and counters.

TEST_F(ResourcesTest, AChecksumThatTheDeviceOffersIsLeftToIt) {
  StartBehindProxy();
  ProxyPort offering(host->port);
  offering.offers = TxOffload::kUdp6Checksum;
  RestartBehind(offering, {.rules = {.encap = Encap::kUdp6}, .mac = MacOf(0)});
  SendPdu(1);
  Run(microseconds(20));
  Inject({Udp6DataFrom(1, 0)});
  Run(microseconds(50));
  ASSERT_GE(offering.seen.size(), 2u);  // a PDU with commands, and one without
  for (const ProxyPort::Seen& seen : offering.seen) {
    EXPECT_EQ(seen.offload, TxOffload::kUdp6Checksum);
    EXPECT_EQ(seen.l2_length, 14);
    EXPECT_EQ(seen.l3_length, 40);
    // Without the datagram, the checksum field is wrong.
    EXPECT_FALSE(IsUdp6ChecksumGood(seen.bytes));
  }
  // A device that offers nothing is asked for nothing.
  ASSERT_TRUE(port->seen.empty());
}

TEST_F(ResourcesTest, ADeviceIsNotAskedForTheChecksumOfAnIpv4Header) {
  StartBehindProxy();
  ProxyPort offering(host->port);
  offering.offers = TxOffload::kUdp6Checksum;
  RestartBehind(offering, {.mac = MacOf(0)});
  SendPdu(1);
  Run(microseconds(20));
  ASSERT_GE(offering.seen.size(), 1u);
  EXPECT_EQ(offering.seen[0].offload, TxOffload::kNone);
  EXPECT_NE(LoadBe16(&offering.seen[0].bytes[14 + 10]), 0);
}

TEST_F(ResourcesTest, AChecksumBehindTheShimOfALinkIsNotLeftToTheDevice) {
  StartBehindProxy();
  ProxyPort offering(host->port);
  offering.offers = TxOffload::kUdp6Checksum;
  PortParams port_params{.rules = {.encap = Encap::kUdp6}, .mac = MacOf(0)};
  port_params.link.retry.on = true;
  RestartBehind(offering, port_params);
  SendPdu(1);
  Run(microseconds(20));
  uint32_t of_ip = 0;
  for (const ProxyPort::Seen& seen : offering.seen) {
    EXPECT_EQ(seen.offload, TxOffload::kNone);
    if (LoadBe16(&seen.bytes[12]) != 0x86dd) continue;
    ++of_ip;
    EXPECT_TRUE(IsUdp6ChecksumGood(seen.bytes));
  }
  EXPECT_EQ(of_ip, 1u);
}

TEST_F(ResourcesTest, AHelloTellsTheCommandsOfTheLargestFrameThatThePortTakes) {
  params.pack_limit_bytes = 512;
  StartBehindProxy();
  ProxyPort small(host->port);
  small.frame_bytes = 1000;
  RestartBehind(small, {.mac = MacOf(0)});
  EXPECT_EQ(host->pipeline->instance(0).peers.own.hello.receive_bytes,
            1000 - Udp4::kHeaderBytes - kRhBytes - kRcrcBytes);
}

TEST_F(ResourcesTest, BytesOfFramesAreCounted) {
  StartBehindProxy();
  for (int i = 0; i < 7; ++i) ASSERT_EQ(SendPdu(1), SendResult::kOk);
  Run(microseconds(20));
  const std::vector<uint8_t> frame = DataFrom(2, 0);
  Inject({frame});
  Run(microseconds(50));
  uint64_t bytes = 0;
  for (const ProxyPort::Seen& seen : port->seen) bytes += seen.bytes.size();
  EXPECT_GT(bytes, 7u * 60);
  EXPECT_EQ(host->Count(Counter::kTxFrameBytes), bytes);
  EXPECT_EQ(host->Count(Counter::kTxFrames), port->seen.size());
  EXPECT_EQ(host->Count(Counter::kRxFrameBytes), frame.size());
  EXPECT_EQ(host->Count(Counter::kRxFrames), 1u);
}

// ---- Received frames.

TEST_F(ResourcesTest, MoreCommandsThanAPduMayHaveAreMalformed) {
  StartBehindProxy();
  const auto pdu_of = [&](bool one_more, uint16_t psn) {
    std::vector<uint8_t> commands;
    const std::vector<uint8_t> one = TestCommand(16, 240, 1).bytes();
    for (int i = 0; i < 16; ++i) commands.insert(commands.end(), one.begin(), one.end());
    EXPECT_EQ(commands.size(), kMaxPackBytes);
    const std::vector<uint8_t> more = TestCommand(8, 16, 1).bytes();
    if (one_more) commands.insert(commands.end(), more.begin(), more.end());
    ReliabilityHeader rh = Rh(psn);
    rh.xpuid = 2;
    const HeaderTemplate header = Udp4::MakeTemplate({.source_mac = MacOf(1),
                                                      .destination_mac = MacOf(0),
                                                      .source = {.low = IpOf(2)},
                                                      .destination = {.low = IpOf(0)}});
    const auto bytes = static_cast<uint32_t>(commands.size());
    std::vector<uint8_t> buffer(FrameBufferBytes(bytes));
    uint8_t* const pdu = buffer.data() + HeaderTemplate::kRoomBytes;
    std::copy(commands.begin(), commands.end(), pdu + kRhBytes);
    const uint32_t pdu_bytes = FinishPdu(pdu, bytes, header.length, rh);
    const uint8_t* const start = WriteHeader(header, pdu, pdu_bytes, false);
    return std::vector<uint8_t>(start, start + header.length + pdu_bytes);
  };
  Inject({pdu_of(false, 0)});
  EXPECT_EQ(host->Count(Counter::kRxPdus), 1u);
  EXPECT_EQ(host->Count(Counter::kRxMalformed), 0u);
  const size_t before = client->Receive().size();
  EXPECT_EQ(before, 16u);
  Inject({pdu_of(true, 1)});
  EXPECT_EQ(host->Count(Counter::kRxMalformed), 1u);
  EXPECT_EQ(host->Count(Counter::kRxPdus), 1u);
  EXPECT_EQ(client->Receive().size(), 0u);
}

}  // namespace
}  // namespace suede
