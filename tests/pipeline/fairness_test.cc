// SPDX-License-Identifier: Apache-2.0
// Round robin over destinations and VCs (SUE framework §4.2 step 3): each queue with something to
// send gets its PDU before any gets a second.
#include <map>
#include <set>
#include <utility>

#include "bench.h"

namespace suede {
namespace {

constexpr uint32_t kDestinations = 250;  // as many as the mailbox takes requests at once

// Host 0 with XPUs 1 to 250 as its peers, all behind one wire that sees the order of their frames.
class FairnessTest : public PipelineTest {
 protected:
  using Queue = std::pair<uint32_t, uint32_t>;  // destination, VC

  void Start() {
    shape.queue_count = 1;
    shape.tx_lines = shape.completion_count = 4096;
    shape.aggregate_lines = 4096;
    params.transport.rto_initial = params.transport.rto_max = std::chrono::seconds(1);
    wire = AddPort(1);
    host = &AddHost(0, 0);
    host->pipeline = std::make_unique<Pipeline>();
    host->pipeline->AddPort(host->port, {.mac = MacOf(0), .packed_pdus = 1 << 17});
    InstanceParams p = params;
    p.planes = {{.address = {.low = IpOf(0)}}};
    for (uint32_t peer = 1; peer <= kDestinations; ++peer) {
      p.peers.push_back(
          {.xpuid = static_cast<uint16_t>(peer),
           .planes = {{.address = {.low = IpOf(peer)}, .resolving = true}},
           .plain = true});
    }
    host->pipeline->AddInstance(p);
    client = &Attach(*host);
  }
  // A command that is a PDU of its own.
  void SendPdu(uint32_t destination, uint32_t vc) {
    ASSERT_EQ(client->Send(TestCommand(8, 16, 1), static_cast<uint16_t>(destination),
                           static_cast<uint8_t>(vc), SUEDE_RECORD_TRANSMIT_NOW),
              SendResult::kOk);
  }
  // Lets the lcore pack the commands that were sent while no peer's MAC address is known, then
  // finds them all.
  void GatherAndGo() {
    for (int turn = 0; turn < 32; ++turn) host->pipeline->Poll(network.now());
    for (uint32_t peer = 0; peer < kDestinations; ++peer) {
      ASSERT_TRUE(host->pipeline->mailbox().requests.Push(
          request::SetPeerMac{.peer = PeerIndex(peer), .mac = MacOf(1)}));
    }
    Run(milliseconds(1));
  }
  // The queues whose PDUs were on the wire, in order.
  std::vector<Queue> TakeOrder() {
    std::vector<Queue> order;
    for (const Sent& sent : Take(wire)) order.emplace_back(sent.destination, sent.rh.vc);
    return order;
  }
  Host* host = nullptr;
  SimPort* wire = nullptr;
  Client* client = nullptr;
};

TEST_F(FairnessTest, EachDestinationAndVcIsServedOnceARound) {
  constexpr size_t kRounds = 3;
  constexpr size_t kQueues = size_t{kDestinations} * kVcCount;
  Start();
  // All PDUs of a destination one after the other, so that order of arrival is no help.
  for (uint32_t destination = 1; destination <= kDestinations; ++destination) {
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      for (size_t round = 0; round < kRounds; ++round) SendPdu(destination, vc);
    }
  }
  GatherAndGo();
  const std::vector<Queue> order = TakeOrder();
  ASSERT_EQ(order.size(), kRounds * kQueues);
  for (size_t round = 0; round < kRounds; ++round) {
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(round * kQueues);
    EXPECT_EQ(std::set<Queue>(first, first + kQueues).size(), kQueues) << "round " << round;
  }
  EXPECT_EQ(host->Count(Counter::kTxPdus), order.size());
}

TEST_F(FairnessTest, LongQueueWaitsForEachShortOne) {
  constexpr uint32_t kGreedy = 150;
  constexpr uint32_t kLong = 100;
  Start();
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    for (uint32_t i = 0; i < kLong; ++i) SendPdu(kGreedy, vc);
  }
  for (uint32_t destination = 1; destination <= kDestinations; ++destination) {
    if (destination == kGreedy) continue;
    for (uint32_t vc = 0; vc < kVcCount; ++vc) SendPdu(destination, vc);
  }
  GatherAndGo();
  const std::vector<Queue> order = TakeOrder();
  ASSERT_EQ(order.size(), (kDestinations - 1 + kLong) * kVcCount);
  std::map<Queue, size_t> served;
  for (size_t i = 0; i < size_t{kDestinations} * kVcCount; ++i) ++served[order[i]];
  EXPECT_EQ(served.size(), size_t{kDestinations} * kVcCount);
}

// A VC's share does not depend on how many destinations are active on the others.
TEST_F(FairnessTest, VcsTakeTurnsWhateverTheirDestinations) {
  constexpr uint32_t kPdus = 100;
  Start();
  for (uint32_t i = 0; i < kPdus; ++i) SendPdu(1, 3);
  for (uint32_t destination = 1; destination <= kDestinations; ++destination) {
    SendPdu(destination, 0);
  }
  GatherAndGo();
  const std::vector<Queue> order = TakeOrder();
  ASSERT_EQ(order.size(), kPdus + kDestinations);
  for (size_t i = 2; i < 2 * size_t{kPdus}; ++i) {
    EXPECT_NE(order[i].second, order[i - 1].second) << "at " << i;
  }
}

}  // namespace
}  // namespace suede
