// SPDX-License-Identifier: Apache-2.0
// Timers of many peers expire together: more messages than a port takes in a poll iteration.
#include "bench.h"

namespace suede {
namespace {

// XPU 0 sends to kPeers others, which do not answer.
class DueTimersTest : public ByHandTest {
 protected:
  static constexpr uint16_t kPeers = 100;

  DueTimersTest() {
    plain_peers = false;
    params.transport.pause_limit = {};
    params.paths.unreachable = milliseconds(5);
  }
  void Start() {
    host = &AddHost(0, kPeers + 1);
    client = &Attach(*host);
  }
  void SendToAll() {
    for (uint16_t peer = 1; peer <= kPeers; ++peer) {
      ASSERT_EQ(client->SendTagged(peer - 1u, peer), SendResult::kOk);
    }
  }
  Client* client = nullptr;
};

// A HELLO without room is not lost, to be repeated together with the same others.
TEST_F(DueTimersTest, MessagesWaitForRoom) {
  params.transport.hello_timeout = milliseconds(20);
  Start();
  SendToAll();
  Run(milliseconds(1));
  EXPECT_EQ(host->Count(Counter::kTxControlPdus), kPeers);
}

TEST_F(DueTimersTest, PeersBehindAPortThatTakesNothingAreUnreachableInTime) {
  Start();
  host->port->SetPaused(true);
  SendToAll();
  EXPECT_EQ(Statuses(*client, kPeers, milliseconds(8)),
            std::vector<int>(kPeers, SUEDE_STATUS_UNREACHABLE));
}

// The answers to received HELLOs take all of the room in each poll iteration.
TEST_F(DueTimersTest, AFloodOfQuestionsDelaysTimersForAWhileOnly) {
  Start();
  SimPort* const attacker = AddPort(kPeers + 1);
  const std::vector<uint8_t> question = Control(Hello{.identities = {.own = 5},
                                                      .nonce = 77,
                                                      .window_pdus = 64,
                                                      .pack_limit_bytes = 2048,
                                                      .reply_wanted = true});
  SendToAll();
  std::vector<int> statuses(kPeers, -1);
  for (uint32_t i = 0; i < 1500; ++i) {
    for (uint32_t n = 0; n < kBurst; ++n) {
      Frame* frame;
      ASSERT_EQ(attacker->Allocate(&frame, 1), 1u);
      frame->data = frame->buffer + Frame::kCommandOffset;
      std::copy(question.begin(), question.end(), frame->data);
      frame->length = static_cast<uint32_t>(question.size());
      ASSERT_EQ(attacker->Transmit(&frame, 1), 1u);
      attacker->Release(&frame, 1);
    }
    network.AdvanceTo(network.now() + microseconds(10));
    host->pipeline->Poll(network.now());
    for (const suede_completion& c : client->Completions()) statuses.at(c.tag) = c.status;
  }
  EXPECT_GE(host->Count(Counter::kTxControlPdus), 1490 * kFront);
  EXPECT_EQ(statuses, std::vector<int>(kPeers, SUEDE_STATUS_UNREACHABLE));
}

}  // namespace
}  // namespace suede
