#include "transport/handshake.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

constexpr uint32_t kOwn = 500;
constexpr uint32_t kPeer = 900;

class HandshakeTest : public ::testing::Test {
 protected:
  HelloVerdict Hello(uint32_t epoch, uint32_t peer_epoch, bool history = false,
                     bool continuing = false, bool reply_wanted = false) {
    return h.OnHello({.epoch = epoch,
                      .peer_epoch = peer_epoch,
                      .reply_wanted = reply_wanted,
                      .continuing = continuing},
                     kOwn, history);
  }
  bool Expire() {
    if (h.deadline() == kNever) return false;
    now = std::max(now, h.deadline());
    return h.OnTimer(now, params);
  }
  TransportParams params;
  Handshake h;
  Time now = TimeFromNs(1'000'000);
};

TEST_F(HandshakeTest, StaysSilentWithoutDemand) {
  EXPECT_FALSE(h.open());
  EXPECT_EQ(h.deadline(), kNever);
}

TEST_F(HandshakeTest, GreetsAtOnceOnDemandAndRepeats) {
  h.OnDemand(now);
  EXPECT_EQ(h.deadline(), now);
  EXPECT_TRUE(Expire());
  EXPECT_EQ(h.deadline(), now + params.hello_timeout);
  h.OnDemand(now);  // one greeting is enough
  EXPECT_EQ(h.deadline(), now + params.hello_timeout);
  EXPECT_FALSE(h.OnTimer(now, params));
  EXPECT_TRUE(Expire());
}

TEST_F(HandshakeTest, OpensWhenThePeerKnowsThisBoot) {
  h.OnDemand(now);
  Expire();
  EXPECT_FALSE(Hello(kPeer, 0).reset);
  EXPECT_FALSE(h.open());
  EXPECT_FALSE(Hello(kPeer, kOwn).reset);
  EXPECT_TRUE(h.open());
  EXPECT_EQ(h.deadline(), kNever);
  EXPECT_EQ(h.peer_epoch(), kPeer);
}

TEST_F(HandshakeTest, DoesNotOpenForAnotherBootOfOurs) {
  h.OnDemand(now);
  Expire();
  Hello(kPeer, kOwn - 1);
  EXPECT_FALSE(h.open());
  EXPECT_TRUE(Expire());
}

TEST_F(HandshakeTest, RepliesWhereAReplyIsWantedAndOnlyThere) {
  EXPECT_TRUE(Hello(kPeer, 0, false, false, true).reply);
  EXPECT_FALSE(Hello(kPeer, kOwn).reply);
}

TEST_F(HandshakeTest, PeerThatNeverAnswersIsStatic) {
  h.OnDemand(now);
  for (uint32_t i = 0; i < params.hello_tries; ++i) EXPECT_TRUE(Expire());
  EXPECT_FALSE(h.open());
  EXPECT_FALSE(Expire());
  EXPECT_TRUE(h.open());
  EXPECT_EQ(h.deadline(), kNever);
}

TEST_F(HandshakeTest, RestartOfAKnownPeerResets) {
  Hello(kPeer, kOwn);
  EXPECT_TRUE(Hello(kPeer + 1, 0, true).reset);
  EXPECT_FALSE(h.open());  // the new boot must hear of us first
  EXPECT_FALSE(Hello(kPeer + 1, kOwn, true).reset);
  EXPECT_TRUE(h.open());
}

TEST_F(HandshakeTest, RestartThatAlreadyKnowsUsResetsAndStaysOpen) {
  Hello(kPeer, kOwn);
  EXPECT_TRUE(Hello(kPeer + 1, kOwn, true).reset);
  EXPECT_TRUE(h.open());
}

TEST_F(HandshakeTest, RestartIsGreetedWithAllTries) {
  h.OnDemand(now);
  Expire();
  Hello(kPeer, kOwn);
  Hello(kPeer + 1, 0, true);
  h.OnDemand(now);
  for (uint32_t i = 0; i < params.hello_tries; ++i) EXPECT_TRUE(Expire());
}

TEST_F(HandshakeTest, SameEpochAgainIsNoRestart) {
  Hello(kPeer, kOwn);
  EXPECT_FALSE(Hello(kPeer, 0, true).reset);
  EXPECT_TRUE(h.open());
}

TEST_F(HandshakeTest, StaleEpochIsIgnoredAndNotAnswered) {
  Hello(kPeer, kOwn);
  const HelloVerdict verdict = Hello(kPeer - 1, 0, true, false, true);
  EXPECT_FALSE(verdict.reset);
  EXPECT_FALSE(verdict.reply);
  EXPECT_EQ(h.peer_epoch(), kPeer);
  EXPECT_TRUE(h.open());
}

TEST_F(HandshakeTest, EpochsAreComparedModulo2To32) {
  Hello(0xffffffff, kOwn);
  EXPECT_TRUE(Hello(1, 0, true).reset);
  EXPECT_FALSE(Hello(0xffffffff, 0, true).reset);
  EXPECT_EQ(h.peer_epoch(), 1u);
}

TEST_F(HandshakeTest, UnknownPeerWithHistoryResetsUnlessItContinues) {
  // We took it for static and exchanged PDUs; now it says hello.
  EXPECT_TRUE(Hello(kPeer, 0, true, false).reset);
  h = Handshake();
  EXPECT_FALSE(Hello(kPeer, 0, true, true).reset);
  EXPECT_EQ(h.peer_epoch(), kPeer);
}

TEST_F(HandshakeTest, UnknownPeerWithoutHistoryNeedsNoReset) {
  EXPECT_FALSE(Hello(kPeer, 0).reset);
}

TEST_F(HandshakeTest, ContinuingDoesNotHideARestartOfAKnownPeer) {
  Hello(kPeer, kOwn);
  EXPECT_TRUE(Hello(kPeer + 1, kOwn, true, true).reset);
}

}  // namespace
}  // namespace suede
