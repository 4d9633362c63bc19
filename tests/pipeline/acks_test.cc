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

}  // namespace
}  // namespace suede
