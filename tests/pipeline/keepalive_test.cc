// SPDX-License-Identifier: Apache-2.0
// PDUs to a peer with which no PLANEs are exchanged, while there is nothing to send to it
// (docs/planes.md, "Where no PLANEs are exchanged").
#include "bench.h"

namespace suede {
namespace {

class KeepaliveTest : public ByHandTest {
 protected:
  KeepaliveTest() { params.paths.hello_idle = milliseconds(4); }
};

TEST_F(KeepaliveTest, APeerIsAcknowledgedAtAnInterval) {
  Start();
  Meet();
  Run(milliseconds(2));
  TakeSent();
  Run(milliseconds(20));
  const std::vector<Sent> sent = TakeSent();
  EXPECT_GE(sent.size(), 18u) << "one in each millisecond";
  EXPECT_LE(sent.size(), 21u);
  for (const Sent& pdu : sent) {
    EXPECT_EQ(pdu.rh.ver, 0);
    EXPECT_EQ(pdu.rh.op, RhOp::kAck);
    EXPECT_EQ(pdu.rh.rpsn, Psn(0).Plus(-1)) << "nothing has come";
    EXPECT_EQ(pdu.rh.psn, FirstPsn());
    EXPECT_EQ(pdu.commands[0], 0) << "it has no commands";
    EXPECT_EQ(pdu.destination, 1u);
  }
}

TEST_F(KeepaliveTest, APlainPeerIsToo) {
  Start();
  Run(milliseconds(20));
  EXPECT_GE(TakeSent().size(), 18u);
}

// They are sent again, which serves as well; an acknowledgement could pass them on the way.
TEST_F(KeepaliveTest, NothingIsAddedWhilePdusAreInFlight) {
  params.transport.max_tries = 20;
  Start();
  Client& client = Attach(*host);
  ASSERT_EQ(client.SendTagged(0, 1), SendResult::kOk);
  Run(milliseconds(20));
  for (const Sent& pdu : TakeSent()) EXPECT_NE(pdu.commands[0], 0);
}

TEST_F(KeepaliveTest, NothingIsSaidWithoutAnAssociationOrOutOfService) {
  plain_peers = false;
  Start();
  Run(milliseconds(10));
  EXPECT_TRUE(TakeSent().empty());
  Meet();
  for (const OutOfService kind : {OutOfService::kPort, OutOfService::kInstance}) {
    Ask(*host, Switch(kind, false));
    Run(milliseconds(2));
    TakeSent();
    Run(milliseconds(10));
    EXPECT_TRUE(TakeSent().empty());
    Ask(*host, Switch(kind, true));
    Run(milliseconds(10));
    EXPECT_GE(TakeSent().size(), 7u);
  }
}

// The switches on the way to each learn the address.
TEST_F(KeepaliveTest, EachPeerIsAcknowledged) {
  plain_peers = false;
  for (uint32_t h = 0; h < 3; ++h) AddHost(h, 3);
  Client& client = Attach(*hosts[0]);
  for (const uint16_t peer : {uint16_t{1}, uint16_t{2}}) {
    ASSERT_EQ(client.Send(TestCommand(8, 16, 1), peer, 0, SUEDE_RECORD_TRANSMIT_NOW),
              SendResult::kOk);
  }
  Run(milliseconds(10));
  const uint64_t before[] = {hosts[1]->Count(Counter::kRxFrames),
                             hosts[2]->Count(Counter::kRxFrames)};
  Run(milliseconds(20));
  for (const uint32_t peer : {1u, 2u}) {
    EXPECT_GE(hosts[peer]->Count(Counter::kRxFrames) - before[peer - 1], 19u);
    EXPECT_LE(hosts[peer]->Count(Counter::kRxFrames) - before[peer - 1], 21u);
  }
}

// Each plane of a peer that has no sessions of planes.
TEST_F(KeepaliveTest, APeerWithoutPlanesIsAcknowledgedOnEach) {
  planes = 2;
  Start();
  SimPort* second = AddPort(OnPlane(1, 1));
  Run(milliseconds(20));
  EXPECT_GE(TakeSent().size(), 18u);
  EXPECT_GE(Take(second).size(), 18u);
}

}  // namespace
}  // namespace suede
