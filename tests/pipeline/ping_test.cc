// SPDX-License-Identifier: Apache-2.0
// An operator asks whether a peer is there: the reported result, and that nothing else notices.
#include "bench.h"
#include "planes_bench.h"

namespace suede {
namespace {

// The steps common to the pipeline's bench and that of planes.
void Begin(Pipeline& pipeline, uint32_t ticket, uint8_t planes = 1, uint32_t peer = 0) {
  ASSERT_TRUE(pipeline.mailbox().requests.Push(
      request::Ping{.peer = PeerIndex(peer), .ticket = ticket, .plane_mask = planes}));
}
PingState StateOf(const Pipeline& pipeline, uint32_t plane = 0) {
  return pipeline.ping_board(0).planes[plane].state.load();
}

class PingTest : public PipelineTest {
 protected:
  void StartPair() {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    cb = &Attach(*b);
  }
  void Associate() {
    ca->SendTagged(0, 1);
    ASSERT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
    cb->SendTagged(0, 0);
    ASSERT_EQ(Statuses(*cb, 1), std::vector<int>{kOk});
    Run(milliseconds(2));
  }
  PingState PingOf(Host& host, uint32_t ticket, Duration time = milliseconds(1)) {
    Begin(*host.pipeline, ticket);
    Run(time);
    EXPECT_EQ(host.pipeline->ping_board(0).ticket.load(), ticket);
    return StateOf(*host.pipeline);
  }
  static const Handshake& HandshakeOf(const Host& host) {
    return host.pipeline->instance(0).peers[0].handshake();
  }
  Host* a = nullptr;
  Host* b = nullptr;
  Client* ca = nullptr;
  Client* cb = nullptr;
};

TEST(PingAnswers, EachHelloAnswersOnce) {
  Ping ping;
  ping.peer = 3;
  ping.hello = ping.probe = 0b11;
  ping.nonces = {7, 8};
  const Hello own;
  Hello theirs = own;
  theirs.echo = 8;
  EXPECT_FALSE(ping.TakeAnswer(2, own, theirs, TimeFromNs(50))) << "another peer";
  EXPECT_TRUE(ping.TakeAnswer(3, own, theirs, TimeFromNs(100)));
  EXPECT_EQ(ping.board.planes[1].state.load(), PingState::kAnswered);
  EXPECT_EQ(ping.hello, 0b01);
  EXPECT_EQ(ping.probe, 0b01);
  const int64_t rtt = ping.board.planes[1].rtt_ns.load();
  EXPECT_FALSE(ping.TakeAnswer(3, own, theirs, TimeFromNs(200))) << "a copy";
  EXPECT_EQ(ping.board.planes[1].rtt_ns.load(), rtt);
  ping.OnNack(3, 1, TimeFromNs(300));  // of the probe that the answer has made idle
  EXPECT_EQ(ping.board.planes[1].state.load(), PingState::kAnswered);
}

TEST_F(PingTest, OneThatIsThereAnswersAndTheAssociationStays) {
  StartPair();
  Associate();
  const Identities identities = HandshakeOf(*a).identities();
  const uint64_t nonce = HandshakeOf(*a).nonce();
  const uint64_t theirs = HandshakeOf(*b).nonce();
  const auto unverified = [&] {
    return a->Count(Counter::kRxHelloUnverified) + b->Count(Counter::kRxHelloUnverified);
  };
  const uint64_t before = unverified();
  EXPECT_EQ(PingOf(*a, 1), PingState::kAnswered);
  const PingBoard::Plane& shown = a->pipeline->ping_board(0).planes[0];
  EXPECT_GT(shown.rtt_ns.load(), 0);
  EXPECT_LT(shown.rtt_ns.load(), 1'000'000);
  EXPECT_EQ(shown.mismatch.load(), HelloMismatch::kNone);
  EXPECT_TRUE(HandshakeOf(*a).associated());
  EXPECT_EQ(HandshakeOf(*a).identities(), identities);
  EXPECT_EQ(HandshakeOf(*a).nonce(), nonce) << "what a question of our own waits for";
  EXPECT_EQ(HandshakeOf(*b).nonce(), theirs);
  EXPECT_EQ(a->Count(Counter::kPeerResets) + b->Count(Counter::kPeerResets), 0u);
  EXPECT_EQ(unverified(), before);
  // And again.
  EXPECT_EQ(PingOf(*a, 2), PingState::kAnswered);
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
  ExpectNoFramesOut();
}

TEST_F(PingTest, OneThatNothingWasSaidToBeforeAnswersToo) {
  StartPair();
  EXPECT_EQ(PingOf(*a, 1), PingState::kAnswered);
  EXPECT_TRUE(HandshakeOf(*a).associated());
  EXPECT_TRUE(HandshakeOf(*b).associated());
  Associate();
}

TEST_F(PingTest, OneThatHasRestartedIsFound) {
  StartPair();
  Associate();
  Boot(*b, 2);
  EXPECT_EQ(PingOf(*a, 1), PingState::kAnswered);
  EXPECT_EQ(a->Count(Counter::kPeerResets), 1u);
  EXPECT_TRUE(HandshakeOf(*a).associated());
}

TEST_F(PingTest, TrafficGoesOnBesideIt) {
  StartPair();
  Associate();
  for (uint32_t i = 0; i < 50; ++i) {
    for (uint64_t tag = 0; tag < 4; ++tag) ca->SendTagged(tag, 1, static_cast<uint8_t>(tag));
    Begin(*a->pipeline, i + 1);
    Begin(*b->pipeline, i + 1);
    EXPECT_EQ(Statuses(*ca, 4), std::vector<int>(4, kOk));
    RunUntil([&] { return StateOf(*a->pipeline) == PingState::kAnswered; });
    EXPECT_EQ(StateOf(*a->pipeline), PingState::kAnswered) << i;
  }
  EXPECT_EQ(a->Count(Counter::kGoBacks) + b->Count(Counter::kGoBacks), 0u);
  EXPECT_EQ(a->Count(Counter::kPeerResets) + b->Count(Counter::kPeerResets), 0u);
}

TEST_F(PingTest, SilenceIsNoAnswerAndChangesNothing) {
  StartPair();
  Associate();
  b->port->SetLink(false);
  EXPECT_EQ(PingOf(*a, 1, milliseconds(50)), PingState::kAsked);
  EXPECT_TRUE(HandshakeOf(*a).associated());
  EXPECT_EQ(a->Count(Counter::kUnreachable), 0u);
  b->port->SetLink(true);
  EXPECT_EQ(PingOf(*a, 2), PingState::kAnswered);
}

TEST_F(PingTest, OneThatNobodyEverAnsweredForIsNotGreetedFromThenOn) {
  StartPair();
  b->port->SetLink(false);
  EXPECT_EQ(PingOf(*a, 1, milliseconds(20)), PingState::kAsked);
  const uint64_t said = a->Count(Counter::kTxControlPdus);
  Run(milliseconds(50));
  EXPECT_EQ(a->Count(Counter::kTxControlPdus), said);
  EXPECT_EQ(said, 1u);
}

TEST_F(PingTest, WithoutALinkItSaysSo) {
  StartPair();
  a->port->SetLink(false);
  EXPECT_EQ(PingOf(*a, 1), PingState::kNoLink);
  EXPECT_EQ(a->Count(Counter::kTxControlPdus), 0u);
}

TEST_F(PingTest, SetDownItSaysSo) {
  StartPair();
  Ask(*a, request::SetPort{.port = 0, .up = false});
  EXPECT_EQ(PingOf(*a, 1), PingState::kDown);
  Ask(*a, request::SetPort{.port = 0, .up = true});
  Ask(*a, request::SetInstance{.instance = 0, .up = false});
  EXPECT_EQ(PingOf(*a, 2), PingState::kDown);
  Ask(*a, request::SetInstance{.instance = 0, .up = true});
  EXPECT_EQ(PingOf(*a, 3), PingState::kAnswered);
}

TEST_F(PingTest, WithoutAMacAddressItSaysSo) {
  resolving = true;
  StartPair();
  EXPECT_EQ(PingOf(*a, 1), PingState::kNoMac);
  EXPECT_EQ(a->Count(Counter::kTxNoMac), 0u) << "nothing was lost";
}

TEST_F(PingTest, OneThatDoesNotAgreeIsToldWithBothValues) {
  a = &AddHost(0, 2);
  params.transport.psn_scope = PsnScope::kVc;
  b = &AddHost(1, 2);
  EXPECT_EQ(PingOf(*a, 1), PingState::kAnswered);
  const PingBoard::Plane& shown = a->pipeline->ping_board(0).planes[0];
  EXPECT_EQ(shown.mismatch.load(), HelloMismatch::kPsnScope);
  EXPECT_EQ(shown.own.load(), static_cast<uint32_t>(PsnScope::kPort));
  EXPECT_EQ(shown.theirs.load(), static_cast<uint32_t>(PsnScope::kVc));
}

TEST_F(PingTest, NonsenseIsNotAsked) {
  StartPair();
  Begin(*a->pipeline, 1, 1, 77);
  Begin(*a->pipeline, 2, 2);
  Run(milliseconds(1));
  EXPECT_EQ(a->pipeline->ping_board(0).ticket.load(), 2u);
  EXPECT_EQ(StateOf(*a->pipeline), PingState::kNotAsked);
  EXPECT_EQ(a->Count(Counter::kTxControlPdus), 0u);
}

class PingPlanesTest : public PlanesTest {};

TEST_F(PingPlanesTest, EachPlaneAnswersForItself) {
  StartPair();
  WarmUp();
  Cut(1, true);
  Begin(*a->pipeline, 1, 3);
  Run(milliseconds(1));
  EXPECT_EQ(StateOf(*a->pipeline, 0), PingState::kAnswered);
  EXPECT_EQ(StateOf(*a->pipeline, 1), PingState::kAsked);
  Cut(1, false);
  Run(milliseconds(20));
  Begin(*a->pipeline, 2, 2);
  Run(milliseconds(1));
  EXPECT_EQ(StateOf(*a->pipeline, 0), PingState::kNotAsked);
  EXPECT_EQ(StateOf(*a->pipeline, 1), PingState::kAnswered);
  Ask(*a, request::SetPlane{.plane = 1, .plane_admin = PlaneAdmin::kDown});
  Begin(*a->pipeline, 3, 3);
  Run(milliseconds(1));
  EXPECT_EQ(StateOf(*a->pipeline, 0), PingState::kAnswered);
  EXPECT_EQ(StateOf(*a->pipeline, 1), PingState::kDown);
}

// ---- A peer that is played by hand.

class PingByHandTest : public ByHandTest {
 protected:
  void Nack(uint16_t rpsn) {
    ReliabilityHeader rh = Rh(0);
    rh.op = RhOp::kNack;
    rh.rpsn = Psn(rpsn);
    Inject({Build(rh, {})});
  }
};

TEST_F(PingByHandTest, APlainPeerAnswersAProbe) {
  Start();
  Begin(*host->pipeline, 1);
  Run(microseconds(20));
  const std::vector<Sent> sent = TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].rh.ver, 0);
  EXPECT_EQ(sent[0].rh.psn, Psn(1)) << "one more than the next sequenced one's";
  EXPECT_EQ(StateOf(*host->pipeline), PingState::kAsked);
  Nack(0);
  EXPECT_EQ(StateOf(*host->pipeline), PingState::kAnsweredProbe);
  // Once.
  Begin(*host->pipeline, 2);
  Run(microseconds(20));
  EXPECT_EQ(StateOf(*host->pipeline), PingState::kAsked);
}

TEST_F(PingByHandTest, APlainPeerThatAcknowledgesIsNotProbed) {
  Start();
  Client& client = Attach(*host);
  client.SendTagged(0, 1);
  Run(microseconds(20));
  ReliabilityHeader ack = Rh(0);
  ack.op = RhOp::kAck;
  ack.rpsn = Psn(0);
  Inject({Build(ack, {})});
  ASSERT_EQ(Statuses(client, 1), std::vector<int>{kOk});
  client.SendTagged(1, 1);
  Run(microseconds(20));
  TakeSent();
  Begin(*host->pipeline, 1);
  Run(microseconds(20));
  EXPECT_EQ(StateOf(*host->pipeline), PingState::kAcknowledges);
  EXPECT_GT(host->pipeline->ping_board(0).planes[0].rtt_ns.load(), 0);
  EXPECT_TRUE(TakeSent().empty());
}

// A sender that does not know the nonce cannot answer, and a nonce answers once.
TEST_F(PingByHandTest, OnlyAnAnswerToTheQuestionCounts) {
  plain_peers = false;
  Start();
  Meet();
  TakeSent();
  Begin(*host->pipeline, 1);
  Run(microseconds(20));
  const std::vector<Sent> sent = TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  ControlMessage asked;
  ASSERT_EQ(
      DecodeControl(sent[0].commands.data(), static_cast<uint32_t>(sent[0].commands.size()), asked),
      ControlError::kNone);
  const Hello& question = std::get<Hello>(asked);
  EXPECT_TRUE(question.reply_wanted);
  EXPECT_EQ(question.identities.peer, Met().own);
  EXPECT_NE(question.nonce, host->pipeline->instance(0).peers[0].handshake().nonce());
  Hello answer = HelloTo(host->pipeline->instance(0));
  Inject({Control(answer)});
  EXPECT_EQ(StateOf(*host->pipeline), PingState::kAsked) << "it answers another question";
  answer.echo = question.nonce + 1;
  Inject({Control(answer)});
  EXPECT_EQ(StateOf(*host->pipeline), PingState::kAsked);
  answer.echo = question.nonce;
  Inject({Control(answer)});
  EXPECT_EQ(StateOf(*host->pipeline), PingState::kAnswered);
  // A second one with that nonce brings no other identity.
  answer.identities.own = 99;
  Inject({Control(answer)});
  EXPECT_EQ(host->pipeline->instance(0).peers[0].handshake().identities().peer, Met().own);
  EXPECT_EQ(host->Count(Counter::kRxHelloUnverified), 1u);
}

TEST_F(PingByHandTest, APeerThatNobodyKnowsMayAnswerAProbeInstead) {
  plain_peers = false;
  Start();
  Begin(*host->pipeline, 1);
  Run(microseconds(20));
  EXPECT_EQ(TakeSent().size(), 5u) << "a HELLO, and a probe in each quarter";
  Nack(0);
  EXPECT_EQ(StateOf(*host->pipeline), PingState::kAnsweredProbe);
  EXPECT_FALSE(host->pipeline->instance(0).peers[0].handshake().plain());
}

}  // namespace
}  // namespace suede
