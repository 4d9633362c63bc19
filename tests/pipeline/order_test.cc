// SPDX-License-Identifier: Apache-2.0
// The order that is promised: of each {source XPU, destination XPU, VC}, over all client queues of
// the source, as the lcore took the commands. Between VCs there is none.
#include <array>

#include "bench.h"

namespace suede {
namespace {

constexpr uint8_t kCommands = 250;  // that their seeds tell apart
constexpr uint32_t kVcs = 3;

// Two clients of XPU 0 with two queues each, which take turns in no regular way. The lcore turns
// after each command, so that it takes them in the order in which they are sent.
class OrderTest : public PipelineTest {
 protected:
  OrderTest() {
    shape.queue_count = 2;
    params.paths.hello_interval = microseconds(100);
    params.paths.hello_idle = milliseconds(2);
    params.paths.hold_down = milliseconds(1);
    params.paths.hold_down_max = milliseconds(8);
    params.paths.ordering = Ordering::kStrict;
  }
  void StartPair() {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    for (Client*& source : sources) source = &Attach(*a, 0);
    sink = &Attach(*b);
  }
  // Sends command `i` by a queue, on a VC, and as a PDU of its own or not, all drawn by lot.
  void SendOne(uint8_t i) {
    const uint32_t lot = Lot();
    const auto vc = static_cast<uint8_t>(lot % kVcs);
    const uint8_t flags = (lot & 0x100) != 0 ? SUEDE_RECORD_TRANSMIT_NOW : 0;
    Client& source = *sources[(lot >> 9) & 1];
    const TestCommand command(8, 16, i);
    ASSERT_TRUE(RunUntil([&] {
      return source.Send(command, 1, vc, flags, 0, (lot >> 10) & 1) == SendResult::kOk;
    }));
    a->pipeline->Poll(network.now());
    taken[vc].push_back(static_cast<uint8_t>(i * 3));
    if ((lot & 0x3800) == 0) Run(microseconds(2 + lot % 64));
    Take();
  }
  void Take() {
    for (uint32_t vc = 0; vc < kVcs; ++vc) {
      for (const uint8_t seed : sink->Receive(vc)) got[vc].push_back(seed);
    }
  }
  void ExpectTheOrderTaken() {
    RunUntil([&] {
      Take();
      return got == taken;
    });
    for (uint32_t vc = 0; vc < kVcs; ++vc) EXPECT_EQ(got[vc], taken[vc]) << "VC " << vc;
  }
  uint32_t Lot() { return (state = state * 1664525 + 1013904223) >> 8; }

  Host* a = nullptr;
  Host* b = nullptr;
  std::array<Client*, 2> sources{};
  Client* sink = nullptr;
  std::array<std::vector<uint8_t>, kVcs> taken, got;
  uint32_t state = 1;
};

TEST_F(OrderTest, QueuesOfOneXpuArriveInTheOrderTakenOfEachVc) {
  StartPair();
  for (uint8_t i = 1; i <= kCommands; ++i) SendOne(i);
  ExpectTheOrderTaken();
}

TEST_F(OrderTest, LossAndDisorderOfTheLinkDoNotShow) {
  StartPair();
  for (Host* host : {a, b}) {
    host->port->faults().loss = 0.05;
    host->port->faults().reorder = 0.05;
    host->port->faults().duplicate = 0.05;
  }
  for (uint8_t i = 1; i <= kCommands; ++i) SendOne(i);
  ExpectTheOrderTaken();
  EXPECT_GT(a->Count(Counter::kTxRetransmissions), 0u);
}

// A dead plane's PDUs in flight go over the other one, behind none that was taken later.
TEST_F(OrderTest, AFailoverOfStrictPlanesKeepsIt) {
  planes = 2;
  StartPair();
  const auto carried = [&](uint32_t plane) {
    return a->pipeline->instance(0).peers.connections[plane].tx().tx_pdus();
  };
  uint32_t dead = 0, before = 0;
  for (uint8_t i = 1; i <= kCommands; ++i) {
    if (i == kCommands / 3) {
      dead = carried(0) > carried(1) ? 0 : 1;
      before = carried(1 - dead);
      a->ports[dead]->faults().loss = b->ports[dead]->faults().loss = 1;
    }
    SendOne(i);
  }
  ExpectTheOrderTaken();
  EXPECT_EQ(a->Count(Counter::kPlaneDeaths), 1u);
  EXPECT_GT(a->Count(Counter::kTxMoved), 0u);
  EXPECT_GT(carried(1 - dead), before);
}

}  // namespace
}  // namespace suede
