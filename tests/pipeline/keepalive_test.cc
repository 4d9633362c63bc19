// SPDX-License-Identifier: Apache-2.0
// Frames that an instance with one plane sends while it has nothing to send (docs/planes.md, "One
// plane").
#include "bench.h"

namespace suede {
namespace {

class KeepaliveTest : public ByHandTest {
 protected:
  KeepaliveTest() { params.paths.hello_idle = milliseconds(4); }
};

TEST_F(KeepaliveTest, AnIdleInstanceAcknowledgesAtAnInterval) {
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
    EXPECT_EQ(pdu.rh.op, RhOp::kNothing) << "nothing has come";
    EXPECT_EQ(pdu.rh.psn, FirstPsn());
    EXPECT_EQ(pdu.commands[0], 0) << "it has no commands";
    EXPECT_EQ(pdu.destination, 1u);
  }
}

TEST_F(KeepaliveTest, NothingIsSaidWithoutAnAssociationOrOutOfService) {
  Start();
  Run(milliseconds(10));
  for (const Sent& pdu : TakeSent()) EXPECT_EQ(pdu.rh.ver, 3) << "HELLOs alone";
  Meet();
  for (const OutOfService kind : {OutOfService::kPort, OutOfService::kInstance}) {
    Ask(*host, Switch(kind, false));
    Run(milliseconds(2));
    TakeSent();
    Run(milliseconds(10));
    EXPECT_TRUE(TakeSent().empty());
    Ask(*host, Switch(kind, true));
  }
}

// All peers in turn, so that the switches on the way to each learn the address.
TEST_F(KeepaliveTest, PeersTakeTurns) {
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
  EXPECT_GE(hosts[1]->Count(Counter::kRxFrames) - before[0], 9u) << "every other one";
  EXPECT_GE(hosts[2]->Count(Counter::kRxFrames) - before[1], 9u);
}

}  // namespace
}  // namespace suede
