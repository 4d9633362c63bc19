// SPDX-License-Identifier: Apache-2.0
#include "peer/handshake.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace suede {
namespace {

constexpr Duration kIdle = std::chrono::seconds(1);
constexpr Duration kPatience = std::chrono::milliseconds(500);

// One end, with its numbers.
struct Party {
  explicit Party(uint64_t key, bool plain = false) : numbers({key, 1}) { h.Begin(numbers, plain); }
  Hello Say(bool reply_wanted, uint64_t echo = 0) const {
    return {.identities = h.identities(),
            .nonce = h.nonce(),
            .echo = echo,
            .reply_wanted = reply_wanted};
  }
  // Handles a HELLO as the pipeline does; returns the answer, where there is one.
  std::optional<Hello> Hear(const Hello& hello, Time now) {
    last = h.OnHello(hello, now, numbers);
    resets += last.new_peer ? 1 : 0;
    if (!last.stranger && last.knows_us && h.Agree()) ++agreements;
    if (!hello.reply_wanted) return std::nullopt;
    return Say(last.stranger || !h.open(), hello.nonce);
  }
  SecretNumbers numbers;
  Handshake h;
  HelloVerdict last;
  int resets = 0;
  int agreements = 0;
};

class HandshakeTest : public ::testing::Test {
 protected:
  // Exchanges HELLOs until nobody answers; returns the number of HELLOs.
  int Exchange(Party& a, Party& b) {
    int count = 1;
    std::optional<Hello> hello = a.Say(true);
    for (Party* to = &b; hello.has_value(); to = to == &a ? &b : &a) {
      hello = to->Hear(*hello, now);
      count += hello.has_value() ? 1 : 0;
      EXPECT_LT(count, 20);
      if (count >= 20) break;
    }
    return count;
  }
  HandshakeTimerVerdict Expire(Party& end) {
    if (end.h.deadline() == kNever) return {};
    now = std::max(now, end.h.deadline());
    return end.h.OnTimer(now, params, kIdle, kPatience);
  }
  static void ExpectAssociated(const Party& a, const Party& b) {
    EXPECT_TRUE(a.h.associated() && b.h.associated());
    EXPECT_EQ(a.h.identities().own, b.h.identities().peer);
    EXPECT_EQ(b.h.identities().own, a.h.identities().peer);
  }
  TransportParams params;
  Party a{1};
  Party b{2};
  Time now = TimeFromNs(1'000'000);
};

TEST_F(HandshakeTest, StaysSilentWithoutDemand) {
  EXPECT_FALSE(a.h.open());
  EXPECT_EQ(a.h.deadline(), kNever);
}

TEST_F(HandshakeTest, GreetsAtOnceOnDemandAndRepeatsMoreAndMoreSlowly) {
  a.h.OnDemand(now);
  EXPECT_EQ(a.h.deadline(), now);
  Duration last{};
  for (uint32_t i = 1; i <= params.hello_tries; ++i) {
    const HandshakeTimerVerdict verdict = Expire(a);
    EXPECT_TRUE(verdict.hello);
    EXPECT_EQ(verdict.probe, i > 1);
    EXPECT_EQ(a.h.deadline(), now + params.hello_timeout);
    a.h.OnDemand(now);  // one greeting is enough
    EXPECT_EQ(a.h.deadline(), now + params.hello_timeout);
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(Expire(a).hello);
    EXPECT_GE(a.h.deadline() - now, last);
    last = a.h.deadline() - now;
  }
  EXPECT_EQ(last, kIdle);
  EXPECT_FALSE(a.h.open());  // silence is no sign of a plain peer
}

TEST_F(HandshakeTest, FourHellosMakeAnAssociation) {
  EXPECT_EQ(Exchange(a, b), 4);
  ExpectAssociated(a, b);
  EXPECT_EQ(a.resets, 1);
  EXPECT_EQ(b.resets, 1);
  // Another two HELLOs change nothing.
  EXPECT_EQ(Exchange(b, a), 2);
  EXPECT_EQ(a.agreements, 1);
  EXPECT_EQ(b.agreements, 1);
  EXPECT_EQ(a.h.deadline(), kNever);
}

TEST_F(HandshakeTest, SilenceForTooLongIsSaid) {
  a.h.OnDemand(now);
  const Time begun = now;
  for (int i = 0; i < 50; ++i) {
    const bool silent = Expire(a).silent;
    EXPECT_EQ(silent, now - begun >= kPatience);
  }
  EXPECT_FALSE(a.h.open());
}

TEST_F(HandshakeTest, RestartIsRecognised) {
  Exchange(a, b);
  Party reborn{3};
  EXPECT_EQ(Exchange(reborn, a), 5);
  ExpectAssociated(reborn, a);
  EXPECT_EQ(a.resets, 2);
  EXPECT_EQ(reborn.resets, 2);
}

// Another machine goes by b's XPU for a while. PDUs that b had sent meanwhile are of an association
// that has ended at a: b has to learn that, and would not if it still knew a.
TEST_F(HandshakeTest, WhoIsHeardAgainAfterAnotherOneIsAssociatedAnew) {
  Exchange(a, b);
  const Identities before = b.h.identities();
  Party other{3};
  Exchange(other, a);
  ExpectAssociated(other, a);
  const int resets = b.resets;
  Exchange(b, a);
  ExpectAssociated(b, a);
  EXPECT_GT(b.resets, resets);
  EXPECT_NE(b.h.identities().own, before.own);
  EXPECT_NE(b.h.identities().peer, before.peer);
}

TEST_F(HandshakeTest, RestartIsRecognisedWhereTheOtherEndSpeaksFirst) {
  Exchange(a, b);
  Party reborn{3};
  Exchange(a, reborn);
  ExpectAssociated(reborn, a);
  EXPECT_EQ(a.resets, 2);
}

TEST_F(HandshakeTest, NoSingleHelloChangesAnything) {
  Exchange(a, b);
  const Identities before = a.h.identities();
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    // An attacker off the path can do no more: it may even know one of the identities.
    const Hello forged{.identities = {.own = random() | 1,
                                      .peer = i % 2 == 0 ? before.own : random()},
                       .nonce = random() | 1,
                       .echo = random(),
                       .reply_wanted = i % 3 == 0};
    a.Hear(forged, now);
    EXPECT_TRUE(a.last.stranger);
  }
  EXPECT_EQ(a.h.identities(), before);
  EXPECT_TRUE(a.h.associated());
  EXPECT_EQ(a.resets, 1);
}

TEST_F(HandshakeTest, ReplayedHellosChangeNothing) {
  // All HELLOs of a former exchange, when both have restarted and met.
  std::vector<Hello> captured;
  std::optional<Hello> hello = a.Say(true);
  for (Party* to = &b; hello.has_value(); to = to == &a ? &b : &a) {
    captured.push_back(*hello);
    hello = to->Hear(*hello, now);
  }
  ASSERT_EQ(captured.size(), 4u);
  Party c{3};
  Party d{4};
  Exchange(c, d);
  const Identities before = c.h.identities();
  for (const Hello& old : captured) {
    c.Hear(old, now);
    d.Hear(old, now);
  }
  EXPECT_EQ(c.h.identities(), before);
  EXPECT_EQ(c.resets, 1);
  EXPECT_EQ(d.resets, 1);
  ExpectAssociated(c, d);
  // HELLOs of this exchange change nothing, either.
  std::vector<Hello> own;
  Party e{5};
  hello = e.Say(true);
  for (Party* to = &c; hello.has_value(); to = to == &e ? &c : &e) {
    own.push_back(*hello);
    hello = to->Hear(*hello, now);
  }
  const int resets = c.resets;
  for (const Hello& old : own) c.Hear(old, now);
  EXPECT_EQ(c.resets, resets);
  ExpectAssociated(c, e);
}

TEST_F(HandshakeTest, ANonceVerifiesOnce) {
  const uint64_t nonce = a.h.nonce();
  const Hello answer = *b.Hear(a.Say(true), now);
  a.Hear(answer, now);
  EXPECT_TRUE(a.last.verified);
  EXPECT_NE(a.h.nonce(), nonce);
  a.Hear(answer, now);
  EXPECT_FALSE(a.last.verified);
  EXPECT_FALSE(a.last.stranger);
}

TEST_F(HandshakeTest, TwoThatGoByOneNameTakeTurns) {
  Party twin{3};
  Exchange(a, b);
  for (int i = 0; i < 5; ++i) {
    Exchange(twin, a);
    ExpectAssociated(twin, a);
    Exchange(b, a);
    EXPECT_EQ(a.h.identities().peer, b.h.identities().own);
  }
  ExpectAssociated(a, b);
}

TEST_F(HandshakeTest, AnAnswerOfAnotherBootOfOursDoesNotOpen) {
  Exchange(a, b);
  Party reborn{3};
  // The peer has proved its identity, and speaks to our last boot.
  reborn.Hear(b.Say(false, reborn.h.nonce()), now);
  EXPECT_TRUE(reborn.last.verified);
  EXPECT_FALSE(reborn.last.knows_us);
  EXPECT_FALSE(reborn.h.open());
}

TEST_F(HandshakeTest, APeerThatAnswersDataAloneIsPlain) {
  a.h.OnDemand(now);
  bool plain = false;
  uint32_t tries = 0;
  for (; !plain && tries < 100; ++tries) {
    plain = Expire(a).plain;
    a.h.OnNack(now);
  }
  EXPECT_EQ(tries, params.hello_tries + 1);
  EXPECT_TRUE(a.h.open() && a.h.plain() && !a.h.associated());
  // The peer is asked on, and believed when it begins to speak.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(a.h.deadline(), now + kIdle);
    const HandshakeTimerVerdict verdict = Expire(a);
    EXPECT_TRUE(verdict.hello);
    EXPECT_FALSE(verdict.probe || verdict.plain || verdict.silent);
  }
  EXPECT_EQ(a.h.deadline(), now + kIdle);
  Exchange(a, b);
  ExpectAssociated(a, b);
  EXPECT_EQ(a.resets, 1);
}

TEST_F(HandshakeTest, ProbesTryEveryQuarter) {
  a.h.OnDemand(now);
  uint32_t seen = 0;
  for (int i = 0; i < 8; ++i) {
    if (Expire(a).probe) seen |= 1u << a.h.probe_quarter();
  }
  EXPECT_EQ(seen, 0xfu);
}

// A plain peer that comes after hours has to be found, too.
TEST_F(HandshakeTest, ProbesGoOnTryingEveryQuarter) {
  a.h.OnDemand(now);
  for (int i = 0; i < 1000; ++i) Expire(a);
  uint32_t seen = 0;
  for (int i = 0; i < 4; ++i) {
    if (Expire(a).probe) seen |= 1u << a.h.probe_quarter();
  }
  EXPECT_EQ(seen, 0xfu);
}

TEST_F(HandshakeTest, APeerThatHasSpokenIsNeverPlain) {
  Exchange(a, b);
  a.h.StartOver(now, a.numbers);
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(Expire(a).plain);
    a.h.OnNack(now);
  }
  EXPECT_FALSE(a.h.open());
  // A HELLO that proves nothing is no speaking, though: else anybody could keep a plain peer out.
  Party c{3};
  c.h.OnDemand(now);
  c.Hear(Hello{.identities = {.own = 7, .peer = 8}, .nonce = 9, .reply_wanted = true}, now);
  bool plain = false;
  for (int i = 0; i < 20; ++i) {
    plain |= Expire(c).plain;
    c.h.OnNack(now);
  }
  EXPECT_TRUE(plain);
}

TEST_F(HandshakeTest, AConfiguredPlainPeerIsOpenAtOnceAndNotAsked) {
  Party c{3, true};
  EXPECT_TRUE(c.h.open() && c.h.plain());
  EXPECT_EQ(c.h.deadline(), kNever);
}

TEST_F(HandshakeTest, StartingOverIsARestartToThePeer) {
  Exchange(a, b);
  const uint64_t before = a.h.identities().own;
  const uint64_t nonce = a.h.nonce();
  a.h.StartOver(now, a.numbers);
  EXPECT_NE(a.h.identities().own, before);
  EXPECT_NE(a.h.nonce(), nonce) << "answers to the former boot prove nothing";
  EXPECT_FALSE(a.h.open());
  EXPECT_TRUE(Expire(a).hello);
  Exchange(a, b);
  ExpectAssociated(a, b);
  EXPECT_EQ(b.resets, 2);
  EXPECT_EQ(a.resets, 2);
}

TEST_F(HandshakeTest, WhoDoesNotFitIsAskedAgain) {
  a.h.OnHello(*b.Hear(a.Say(true), now), now, a.numbers);
  a.h.Refuse(now, params);
  const Time begun = now;
  EXPECT_FALSE(a.h.open());
  int count = 0;
  while (now < begun + std::chrono::seconds(20)) {
    const HandshakeTimerVerdict verdict = Expire(a);
    EXPECT_TRUE(verdict.hello);
    EXPECT_FALSE(verdict.silent);
    a.h.Refuse(now, params);
    ++count;
  }
  EXPECT_GT(count, 20);
  EXPECT_LT(count, 40);
  EXPECT_TRUE(a.h.Agree());
  EXPECT_FALSE(Expire(a).hello);
  EXPECT_EQ(a.h.deadline(), kNever);
}

TEST_F(HandshakeTest, DataThatCameOnceIsNoPlainPeer) {
  a.h.OnDemand(now);
  Expire(a);
  a.h.OnNack(now);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Expire(a).plain);
}

// A HELLO of the peer to our last boot, and data: nothing is agreed, and the peer is there.
TEST_F(HandshakeTest, EverySignOfLifeEndsTheSilence) {
  for (const bool is_data : {false, true}) {
    Party c{3};
    c.h.OnDemand(now);
    Expire(c);
    now += kPatience * 3 / 4;
    if (is_data) {
      c.h.OnNack(now);
    } else {
      c.Hear(b.Say(false, c.h.nonce()), now);
    }
    ASSERT_FALSE(c.h.open());
    now += kPatience / 2;
    EXPECT_FALSE(Expire(c).silent);
    now += kPatience;
    EXPECT_TRUE(Expire(c).silent);
  }
}

TEST_F(HandshakeTest, AHelloWithoutAnIdentityIsAStrangers) {
  a.Hear(Hello{.identities = {.own = 0, .peer = a.h.identities().own}, .nonce = 9}, now);
  EXPECT_TRUE(a.last.stranger);
}

// The waits of the search do not count any more.
TEST_F(HandshakeTest, APlainPeerThatBeginsToSpeakIsGreetedAtOnce) {
  a.h.OnDemand(now);
  for (int i = 0; i < 50 && !a.h.plain(); ++i) {
    Expire(a);
    if (i >= 20) a.h.OnNack(now);
  }
  ASSERT_TRUE(a.h.plain());
  a.h.OnHello(b.Say(false, a.h.nonce()), now, a.numbers);
  ASSERT_FALSE(a.h.open());
  a.h.OnDemand(now);
  EXPECT_EQ(a.h.deadline(), now);
  EXPECT_TRUE(Expire(a).hello);
  EXPECT_EQ(a.h.deadline(), now + params.hello_timeout);
}

TEST_F(HandshakeTest, TheWaitsOfOneThatDoesNotFitBeginAnew) {
  a.h.OnDemand(now);
  for (int i = 0; i < 20; ++i) Expire(a);
  a.h.OnHello(b.Say(false, a.h.nonce()), now, a.numbers);
  a.h.Refuse(now, params);
  EXPECT_TRUE(Expire(a).hello);
  EXPECT_EQ(a.h.deadline(), now + params.hello_timeout);
}

TEST_F(HandshakeTest, NewParametersShortenAWait) {
  a.h.OnDemand(now);
  for (int i = 0; i < 20; ++i) Expire(a);
  params.hello_timeout = std::chrono::microseconds(100);
  a.h.OnNewParams(now, params);
  EXPECT_EQ(a.h.deadline(), now + params.hello_timeout);
}

// The answer may be older than the peer's later HELLOs.
TEST_F(HandshakeTest, AnAnswerToAQuestionByHandBringsNoIdentity) {
  a.h.OnDemand(now);
  Exchange(a, b);
  ASSERT_TRUE(a.h.open());
  Party former{3};
  const HelloVerdict verdict = a.h.OnHello(former.Say(false, 77), now, a.numbers, true);
  EXPECT_TRUE(verdict.stranger);
  EXPECT_FALSE(verdict.new_peer || verdict.verified);
  EXPECT_TRUE(a.h.open());
  ExpectAssociated(a, b);
  // An answer of the peer itself is as good as any.
  EXPECT_TRUE(a.h.OnHello(b.Say(false, 77), now, a.numbers, true).verified);
}

TEST_F(HandshakeTest, OneThatIsOpenWaitsForNothing) {
  a.h.OnDemand(now);
  Exchange(a, b);
  ASSERT_TRUE(a.h.open());
  EXPECT_EQ(a.h.deadline(), kNever);
  const HandshakeTimerVerdict verdict = a.h.OnTimer(now + kIdle, params, kIdle, kPatience);
  EXPECT_FALSE(verdict.hello || verdict.probe || verdict.silent);
  EXPECT_EQ(a.h.deadline(), kNever);
}

// Losses, duplicates and delays in every order, restarts, starts over: in the end both are in the same
// association, and neither has taken up one that was not the other's.
TEST(HandshakeChannel, AlwaysMeets) {
  const TransportParams params;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 random(seed);
    const auto chance = [&](uint32_t percent) { return random() % 100 < percent; };
    uint64_t key = 10;
    Party ends[2] = {Party{seed << 8 | key++}, Party{seed << 8 | key++}};
    std::deque<Hello> wire[2];  // to each
    std::vector<Hello> past;
    Time now = TimeFromNs(1'000'000);
    const auto put = [&](uint32_t to, const Hello& hello) {
      past.push_back(hello);
      if (chance(20)) return;
      wire[to].push_back(hello);
      if (chance(10)) wire[to].push_back(hello);
    };
    const auto step = [&](bool trouble) {
      now += std::chrono::microseconds(random() % 500);
      const uint32_t who = random() % 2;
      Party& end = ends[who];
      end.h.OnDemand(now);
      if (end.h.OnTimer(now, params, kIdle, kPatience).hello) put(1 - who, end.Say(true));
      if (!wire[who].empty()) {
        const size_t which = trouble ? random() % wire[who].size() : 0;
        const Hello hello = wire[who][which];
        wire[who].erase(wire[who].begin() + static_cast<std::ptrdiff_t>(which));
        if (const auto answer = end.Hear(hello, now)) put(1 - who, *answer);
      }
      if (!trouble) return;
      if (chance(1)) ends[who] = Party{seed << 8 | key++};
      if (chance(1) && end.h.associated()) end.h.StartOver(now, end.numbers);
      if (chance(5)) end.Hear(past.empty() ? Hello{} : past[random() % past.size()], now);
    };
    for (int i = 0; i < 200; ++i) step(true);
    for (int i = 0; i < 20000; ++i) {
      step(false);
      if (wire[0].empty() && wire[1].empty() && ends[0].h.associated() && ends[1].h.associated()) {
        break;
      }
    }
    ASSERT_TRUE(ends[0].h.associated() && ends[1].h.associated()) << "seed " << seed;
    ASSERT_EQ(ends[0].h.identities().own, ends[1].h.identities().peer) << "seed " << seed;
    ASSERT_EQ(ends[1].h.identities().own, ends[0].h.identities().peer) << "seed " << seed;
  }
}

}  // namespace
}  // namespace suede
