// SPDX-License-Identifier: Apache-2.0
// Acknowledgements that go alone: each instance's after its own delay, each port's for itself.
#include "bench.h"

namespace suede {
namespace {

constexpr uint32_t kFirst = 0;    // XPUs of the lcore's two instances
constexpr uint32_t kSecond = 10;
constexpr uint32_t kPeers = 3;    // XPUs 1 and 2, both behind one wire

class AcksTest : public ByHandTest {
 protected:
  // An lcore with an instance on its first port, and another on its first or second one.
  void StartTwo(bool two_ports, Duration first_delay, Duration second_delay) {
    params.transport.rto_initial = params.transport.rto_max = std::chrono::seconds(1);
    wire = AddPort(1);
    host = &AddHost(kFirst, 0);
    host->pipeline = std::make_unique<Pipeline>();
    host->pipeline->AddPort(host->port, {.mac = MacOf(kFirst)});
    if (two_ports) host->pipeline->AddPort(AddPort(kSecond), {.mac = MacOf(kSecond)});
    AddInstance(kFirst, 0, first_delay);
    AddInstance(kSecond, two_ports ? 1 : 0, second_delay);
    for (uint16_t peer = 1; peer < kPeers; ++peer) {
      Meet(peer, kFirst, kFirst);
      Meet(peer, kSecond, two_ports ? kSecond : kFirst);
    }
  }
  void AddInstance(uint32_t xpu, uint32_t port, Duration ack_delay) {
    InstanceParams p = params;
    p.xpuid = static_cast<uint16_t>(xpu);
    p.planes = {{.port = port, .address = {.low = IpOf(xpu)}}};
    p.transport.ack_delay = ack_delay;
    for (uint32_t peer = 1; peer < kPeers; ++peer) {
      p.peers.push_back(
          {.xpuid = static_cast<uint16_t>(peer),
           .planes = {{.address = {.low = IpOf(peer)}, .mac = MacOf(1)}}});
    }
    host->pipeline->AddInstance(p);
  }
  // A data PDU from a peer, which nobody has claimed, so that it is kept and acknowledged.
  std::vector<uint8_t> DataFrom(uint16_t peer, uint32_t to, uint32_t port) {
    ReliabilityHeader rh = Rh();
    rh.xpuid = peer;
    return Build(rh, Command(1), peer, to, port);
  }
  // The pairs of an instance and a peer to which it has acknowledged on PDUs without commands.
  std::vector<std::pair<uint32_t, uint32_t>> TakeAcks() {
    std::vector<std::pair<uint32_t, uint32_t>> acks;
    for (const Sent& sent : TakeSent()) {
      if (sent.rh.op == RhOp::kAck && (sent.commands.empty() || (sent.commands[0] & 0xf) == 0)) {
        acks.emplace_back(sent.source, sent.destination);
      }
    }
    return acks;
  }
  using Acks = std::vector<std::pair<uint32_t, uint32_t>>;
};

TEST_F(AcksTest, EachInstanceHasItsOwnDelay) {
  StartTwo(false, microseconds(800), microseconds(100));
  Inject({DataFrom(1, kFirst, kFirst), DataFrom(1, kSecond, kFirst)});
  Run(microseconds(50));
  EXPECT_EQ(TakeAcks(), Acks());
  Run(microseconds(100));
  EXPECT_EQ(TakeAcks(), (Acks{{kSecond, 1}}));
  Run(microseconds(500));
  EXPECT_EQ(TakeAcks(), Acks());
  Run(microseconds(300));
  EXPECT_EQ(TakeAcks(), (Acks{{kFirst, 1}}));
}

// An instance that is down says nothing, and its acknowledgements fall off its port's list.
TEST_F(AcksTest, WhatAnInstanceOwesWhileItIsDownLeavesOnceItIsUp) {
  StartTwo(false, microseconds(100), microseconds(100));
  Inject({DataFrom(1, kFirst, kFirst), DataFrom(2, kSecond, kFirst)});
  Ask(*host, Switch(OutOfService::kInstance, false));
  Run(microseconds(300));
  EXPECT_EQ(TakeAcks(), (Acks{{kSecond, 2}}));
  Ask(*host, Switch(OutOfService::kInstance, true));
  Run(microseconds(50));
  EXPECT_EQ(TakeAcks(), (Acks{{kFirst, 1}}));
  Run(microseconds(300));
  EXPECT_EQ(TakeAcks(), Acks()) << "once";
}

// A gap is told once, however many PDUs leave in a row.
TEST_F(AcksTest, ANackLeavesOnceAndThePdusBehindItAcknowledge) {
  Start();
  Client& client = Attach(*host);
  Inject({Build(Rh(0), Command(1))});
  client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  Run(microseconds(100));
  TakeSent();
  network.Inject(Build(Rh(2), Command(2)));  // and not the one before
  for (uint8_t i = 0; i < 3; ++i) {
    client.Send(TestCommand(8, 16, i), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  }
  host->pipeline->Poll(network.now());
  network.AdvanceTo(network.now() + microseconds(10));
  std::vector<RhOp> ops;
  for (const Sent& sent : TakeSent()) {
    if (!sent.commands.empty() && (sent.commands[0] & 0xf) != 0) ops.push_back(sent.rh.op);
  }
  EXPECT_EQ(ops, (std::vector<RhOp>{RhOp::kNack, RhOp::kAck, RhOp::kAck}));
  EXPECT_EQ(host->Count(Counter::kTxNacks), 1u);
}

TEST_F(AcksTest, FullPortDelaysOnlyItsOwnAcknowledgements) {
  StartTwo(true, microseconds(20), microseconds(20));
  Client& client = Attach(*host, 0);
  // 1 Mb/s: the frames in the device and those staged behind them take some 80 ms.
  host->port->faults().bits_per_ns = 0.001;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW),
              SendResult::kOk);
  }
  Run(microseconds(100));
  ASSERT_GT(host->Count(Counter::kTxPortFull), 0u);
  TakeSent();
  // ACKs that the full port owes first, and the other one then: with delay, and without.
  Inject({DataFrom(2, kFirst, kFirst), DataFrom(2, kSecond, kSecond)});
  Run(microseconds(50));
  EXPECT_EQ(TakeAcks(), (Acks{{kSecond, 2}}));
  Inject({DataFrom(2, kFirst, kFirst), DataFrom(2, kSecond, kSecond)});  // duplicates
  EXPECT_EQ(TakeAcks(), (Acks{{kSecond, 2}}));

  host->port->faults().bits_per_ns = 100;
  Run(milliseconds(120));
  EXPECT_EQ(TakeAcks(), (Acks{{kFirst, 2}, {kFirst, 2}}));
}

// Many peers behind one wire, and an lcore on which acknowledgements may wait for others.
class AckLoadTest : public ByHandTest {
 protected:
  static constexpr uint32_t kMany = 64;
  static constexpr Duration kDelay = microseconds(20);
  static constexpr Duration kBound = microseconds(320);
  static constexpr Duration kSlack = microseconds(6);  // the wire, and steps of 2 us

  void StartMany() {
    params.transport.rto_initial = params.transport.rto_max = std::chrono::seconds(1);
    params.transport.rto_min = milliseconds(1);
    params.transport.ack_delay = kDelay;
    ASSERT_EQ(params.transport.ack_bound(), kBound);
    wire = AddPort(1);
    host = &AddHost(0, 0);
    host->pipeline = std::make_unique<Pipeline>();
    host->pipeline->AddPort(host->port, {.mac = MacOf(0)});
    InstanceParams p = params;
    p.planes = {{.port = 0, .address = {.low = IpOf(0)}}};
    for (uint16_t peer = 1; peer <= kMany; ++peer) {
      p.peers.push_back({.xpuid = peer,
                         .planes = {{.address = {.low = IpOf(peer)}, .mac = MacOf(1)}},
                         .plain = true});
    }
    host->pipeline->AddInstance(p);
    client = &Attach(*host);
    next_.assign(kMany + 1, 0);
    owed_.assign(kMany + 1, {});
    acked_.assign(kMany + 1, -1);
  }
  void MeetAll() {
    for (uint16_t peer = 1; peer <= kMany; ++peer) Meet(peer);
    TakeSent();
  }
  // Puts the next data PDU of the peer on the wire, `skipped` behind the one that is expected.
  void Put(uint16_t peer, uint16_t skipped = 0) {
    ReliabilityHeader rh = Rh(static_cast<uint16_t>(next_[peer] + skipped));
    rh.xpuid = peer;
    if (skipped == 0) {
      ++next_[peer];
      owed_[peer].push_back(network.now());
    }
    const std::vector<uint8_t> bytes = Build(rh, Command(1), peer);
    Frame* frame;
    ASSERT_EQ(wire->Allocate(&frame, 1), 1u);
    frame->data = frame->buffer + Frame::kCommandOffset;
    std::copy(bytes.begin(), bytes.end(), frame->data);
    frame->length = static_cast<uint32_t>(bytes.size());
    ASSERT_EQ(wire->Transmit(&frame, 1), 1u);
    wire->Release(&frame, 1);
  }
  // A step of 2 us, and what came of it.
  void Step() {
    Run(microseconds(2));
    client->Receive();
    for (const Sent& sent : TakeSent()) {
      const uint32_t peer = sent.destination;
      if (sent.rh.op == RhOp::kNack) {
        ++nacks_;
      } else if (sent.rh.op == RhOp::kAck && sent.rh.ver == 0) {
        ++acks_;
        const int rpsn = sent.rh.rpsn.value();
        for (; acked_[peer] < rpsn; ++acked_[peer]) {
          max_ = std::max(max_, network.now() - owed_[peer].front());
          owed_[peer].erase(owed_[peer].begin());
        }
      }
    }
  }
  void Steps(Duration time) {
    for (const Time end = network.now() + time; network.now() < end;) Step();
  }
  // So many PDUs in each step, of all peers in turn.
  void Load(Duration time, uint32_t pdus) {
    for (const Time end = network.now() + time; network.now() < end; Step()) {
      for (uint32_t i = 0; i < pdus; ++i, ++turn_) {
        Put(static_cast<uint16_t>(1 + turn_ % kMany));
      }
    }
  }
  size_t Owed() const {
    size_t count = 0;
    for (const auto& of_peer : owed_) count += of_peer.size();
    return count;
  }

  Client* client = nullptr;
  uint32_t turn_ = 0;
  uint32_t acks_ = 0;
  uint32_t nacks_ = 0;
  Duration max_{};  // from a PDU's way to its acknowledgement

 private:
  std::vector<uint16_t> next_;
  std::vector<std::vector<Time>> owed_;
  std::vector<int> acked_;
};

// Alone, each of these PDUs would be acknowledged by a PDU of its own.
TEST_F(AckLoadTest, OneAcknowledgesSeveralPdusUnderLoad) {
  StartMany();
  MeetAll();
  Load(milliseconds(2), 8);
  EXPECT_EQ(turn_, 8000u);
  EXPECT_GE(acks_, 8000u / 16);
  EXPECT_LE(acks_, 8000u / 6);
  EXPECT_LE(max_, kBound + kSlack);
  // The rest need not wait for others.
  const uint32_t before = acks_;
  Steps(kDelay + kSlack);
  EXPECT_EQ(Owed(), 0u);
  EXPECT_LE(acks_, before + kMany);
  EXPECT_EQ(nacks_, 0u);
}

// Where a connection has hardly more than a PDU in the time of the bound, none waits for longer.
TEST_F(AckLoadTest, NoneWaitsBeyondTheBound) {
  StartMany();
  MeetAll();
  Load(milliseconds(3), 1);
  EXPECT_LE(max_, kBound + kSlack);
  EXPECT_GT(max_, kDelay);
  Steps(kDelay + kSlack);
  EXPECT_EQ(Owed(), 0u);
}

TEST_F(AckLoadTest, WithoutLoadEachLeavesAfterItsDelay) {
  StartMany();
  MeetAll();
  for (int round = 0; round < 8; ++round) {
    for (uint16_t peer = 1; peer <= 4; ++peer) Put(peer);
    Steps(kDelay - microseconds(2));
    EXPECT_EQ(acks_, 4u * round);
    Steps(kSlack);
    EXPECT_EQ(acks_, 4u * round + 4);
    EXPECT_EQ(Owed(), 0u);
  }
}

// One that may have few PDUs in flight is not kept waiting, whatever the others do.
TEST_F(AckLoadTest, ASmallWindowIsAcknowledgedAtAQuarter) {
  StartMany();
  MeetAll();
  Hello hello = HelloTo(InstanceAt(0), 5, 2);
  hello.window_pdus = 8;
  std::vector<uint8_t> body(kMaxControlPduBytes);
  body.resize(EncodeControl(hello, body.data()));
  Inject({Build(ControlRh(2, kPartition), body, 2)});
  ASSERT_TRUE(InstanceAt(0).peers[1].handshake().associated());
  Steps(microseconds(50));
  acks_ = 0;
  Put(2);
  Steps(kSlack);
  EXPECT_EQ(acks_, 0u);
  Put(2);
  Steps(kSlack);
  EXPECT_EQ(acks_, 1u);
  EXPECT_EQ(Owed(), 0u);
}

TEST_F(AckLoadTest, APortWithoutRoomKeepsThemForLater) {
  StartMany();
  MeetAll();
  host->port->faults().bits_per_ns = 0.01;  // a frame takes some 50 us
  Load(milliseconds(1), 2);
  const size_t owed = Owed();
  EXPECT_GT(owed, 200u);
  host->port->faults().bits_per_ns = 100;
  Steps(milliseconds(4));
  EXPECT_EQ(Owed(), 0u);
  EXPECT_EQ(nacks_, 0u);
}

TEST_F(AckLoadTest, NacksNeverWait) {
  StartMany();
  MeetAll();
  Load(microseconds(400), 8);
  for (uint16_t peer = 1; peer <= kBurst; ++peer) Put(peer, 1);
  Steps(kSlack);
  EXPECT_EQ(nacks_, uint32_t{kBurst});
}

}  // namespace
}  // namespace suede
