// SPDX-License-Identifier: Apache-2.0
// One end of a link by itself: each state and transition, numbers that wrap, and frames that nobody
// honest would send.
#include "link/link_end.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "link_machine.h"

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using TxState = RetrySender::State;
using RxState = RetryReceiver::State;

LinkParams Params() {
  LinkParams params;
  params.retry.on = true;
  params.retry.window_frames = 8;
  params.retry.window_octets = 10'000;
  params.retry.replay_count = 2;
  params.retry.ack_frames = 2;
  params.retry.ack_delay = microseconds(5);
  return params;
}

class LinkEndTest : public ::testing::Test {
 protected:
  // Both ends exchange frames until nothing is due.
  void Settle() {
    for (int i = 0; i < 10; ++i) {
      Carry(a, b);
      Carry(b, a);
      now += microseconds(200);
      a.Poll(now);
      b.Poll(now);
    }
  }
  void Carry(LinkMachine& from, LinkMachine& to) {
    for (const LinkBytes& bytes : from.Leave(now)) {
      if (const auto up = to.Hear(bytes, now)) heard.push_back(*up);
    }
  }
  void Agree() {
    Settle();
    ASSERT_EQ(State(a), TxState::kAdvance);
    ASSERT_EQ(State(b), TxState::kAdvance);
    ASSERT_EQ(b.end().receiver().state(), RxState::kSendAcks);
  }
  // Numbered frames of `from`, as they leave.
  std::vector<LinkBytes> Numbered(LinkMachine& from, uint32_t count) {
    from.end().BeginBurst();
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(from.Send(LinkMachine::Data(++sent)), LinkEnd::Passage::kNumbered);
    }
    return OfKind(from.Leave(now), LinkKind::kData);
  }
  static std::vector<LinkBytes> OfKind(const std::vector<LinkBytes>& all, LinkKind kind) {
    std::vector<LinkBytes> some;
    for (const LinkBytes& bytes : all) {
      if (LoadLinkWord(bytes.data()).kind == kind) some.push_back(bytes);
    }
    return some;
  }
  static TxState State(LinkMachine& machine) { return machine.end().sender().state(); }

  Time now = TimeFromNs(1'000'000'000);
  LinkMachine a{Params(), 1};
  LinkMachine b{Params(), 2};
  std::vector<LinkBytes> heard;
  uint64_t sent = 0;
};

// The example of docs/link.md, "Tags".
TEST(LinkTags, AreMadeOfBothNonces) {
  constexpr uint64_t kOne = 0x0123456789abcdef;
  constexpr uint64_t kOther = 0xfedcba9876543210;
  EXPECT_EQ(LinkHello::TagOf(kOne, kOther), 0xba0);
  EXPECT_EQ(LinkHello::TagOf(kOther, kOne), 0x27d);
}

// The handshake by itself: HELLOs every 10 ms, ten times as often before the ends hear each other,
// and as answers a hundred times as often at most.
struct Handshake : ::testing::Test {
  static constexpr Time kStart = TimeFromNs(1'000'000'000);
  LinkHello a{{.window_frames = 5}, {1, 1}, milliseconds(10)};
  LinkHello b{{.window_frames = 7}, {2, 2}, milliseconds(10)};
  using Outcome = LinkHello::Outcome;
};

TEST_F(Handshake, TakesFourHellos) {
  EXPECT_TRUE(a.IsDue(kStart));
  const LinkHelloBody first = a.Next(kStart);
  EXPECT_NE(first.nonce, 0u);
  EXPECT_EQ(first.echo, 0u);
  EXPECT_FALSE(first.hears);
  EXPECT_EQ(first.offer.window_frames, 5);
  EXPECT_EQ(a.deadline(), kStart + milliseconds(1));
  EXPECT_FALSE(a.IsDue(kStart + milliseconds(1) - Duration(1)));
  EXPECT_TRUE(a.IsDue(kStart + milliseconds(1)));

  b.Next(kStart);
  EXPECT_EQ(b.OnHello(first, kStart), Outcome::kTaken);
  EXPECT_FALSE(b.has_session()) << "an old copy would say the same";
  EXPECT_EQ(b.deadline(), kStart + microseconds(100));
  Time now = kStart + microseconds(100);
  const LinkHelloBody answer = b.Next(now);
  EXPECT_EQ(answer.echo, first.nonce);
  EXPECT_FALSE(answer.hears);

  EXPECT_EQ(a.OnHello(answer, now), Outcome::kBegun);
  EXPECT_TRUE(a.has_session());
  EXPECT_FALSE(a.speaks());
  EXPECT_EQ(a.peer_offer().window_frames, 7);
  EXPECT_EQ(a.deadline(), now) << "the last one is 100 us ago";
  const LinkHelloBody heard = a.Next(now);
  EXPECT_EQ(heard.nonce, first.nonce);
  EXPECT_EQ(heard.echo, answer.nonce);
  EXPECT_TRUE(heard.hears);
  EXPECT_EQ(a.deadline(), now + milliseconds(1)) << "the far end may not hear yet";

  EXPECT_EQ(b.OnHello(heard, now), Outcome::kBegun);
  EXPECT_TRUE(b.has_session() && b.speaks());
  now += microseconds(100);
  const LinkHelloBody last = b.Next(now);
  EXPECT_TRUE(last.hears);
  EXPECT_EQ(b.deadline(), now + milliseconds(10));
  EXPECT_EQ(a.OnHello(last, now), Outcome::kTaken);
  EXPECT_TRUE(a.speaks());
  EXPECT_EQ(a.tx_tag(), b.rx_tag());
  EXPECT_NE(a.tx_tag(), a.rx_tag());
  // Nothing more is heard of b: after eight intervals a begins anew, as someone else.
  while (a.deadline() < now + milliseconds(80)) a.Next(a.deadline());
  EXPECT_FALSE(a.IsSilent(now + milliseconds(80)));
  EXPECT_TRUE(a.IsSilent(now + milliseconds(80) + Duration(1)));
  EXPECT_EQ(a.deadline(), now + milliseconds(80) + Duration(1));
  a.OnFrame(now + milliseconds(40));
  EXPECT_FALSE(a.IsSilent(now + milliseconds(120)));
  a.BeginAnew(now + milliseconds(121));
  EXPECT_FALSE(a.has_session() || a.speaks());
  EXPECT_FALSE(a.IsSilent(now + milliseconds(900)));
  EXPECT_TRUE(a.IsDue(now + milliseconds(121)));
  const LinkHelloBody anew = a.Next(now + milliseconds(121));
  EXPECT_NE(anew.nonce, first.nonce);
  EXPECT_EQ(anew.echo, 0u);
  EXPECT_FALSE(anew.hears);
}

TEST_F(Handshake, EchoesOfOthersAreStale) {
  const LinkHelloBody first = a.Next(kStart);
  LinkHelloBody forged{.nonce = 77, .echo = first.nonce ^ 1};
  EXPECT_EQ(a.OnHello(forged, kStart), Outcome::kStale);
  EXPECT_FALSE(a.has_session());
  forged.echo = first.nonce;
  forged.hears = true;
  EXPECT_EQ(a.OnHello(forged, kStart), Outcome::kBegun);
  EXPECT_TRUE(a.speaks());
  // HELLOs of the session, and of another nonce.
  EXPECT_EQ(a.OnHello({.nonce = 77, .echo = 5}, kStart), Outcome::kStale);
  EXPECT_EQ(a.OnHello({.nonce = 78, .echo = first.nonce}, kStart), Outcome::kStale);
  // The neighbour asks again in the session: it is answered, and the session goes on.
  a.Next(kStart);
  EXPECT_EQ(a.OnHello({.nonce = 77}, kStart + microseconds(500)), Outcome::kTaken);
  EXPECT_TRUE(a.has_session());
  EXPECT_TRUE(a.IsDue(kStart + microseconds(500)));
  // Whoever has another nonce is answered with a fresh one, once, and the session's HELLOs go on.
  EXPECT_EQ(a.OnHello({.nonce = 79}, kStart + microseconds(500)), Outcome::kTaken);
  const LinkHelloBody fresh = a.Next(kStart + milliseconds(1));
  EXPECT_EQ(fresh.echo, 79u);
  EXPECT_NE(fresh.nonce, first.nonce);
  EXPECT_FALSE(fresh.hears);
  const LinkHelloBody usual = a.Next(kStart + milliseconds(2));
  EXPECT_EQ(usual.nonce, first.nonce);
  EXPECT_EQ(usual.echo, 77u);
  EXPECT_TRUE(usual.hears);
  EXPECT_EQ(a.OnHello({.nonce = 79, .echo = fresh.nonce}, kStart), Outcome::kBegun);
  EXPECT_FALSE(a.speaks()) << "the newcomer has not said that it hears";
  EXPECT_EQ(a.Next(kStart).nonce, fresh.nonce);
}

TEST(RetryReceiver, ASessionOwesNothingOfTheLast) {
  RetryReceiver receiver({.on = true, .ack_frames = 4});
  const Time now = TimeFromNs(1'000'000'000);
  receiver.Begin(100);
  for (int i = 0; i < 5; ++i) {
    receiver.OnData(Psn(static_cast<uint16_t>(i)), now);
    EXPECT_EQ(receiver.HasAnswer(now), i >= 3) << i;
  }
  EXPECT_EQ(receiver.last_good(), Psn(4));
  receiver.Begin(100);
  EXPECT_EQ(receiver.last_good(), Psn(0xffff));
  EXPECT_FALSE(receiver.HasAnswer(now + milliseconds(1)));
  EXPECT_EQ(receiver.deadline(), kNever);
  receiver.OnData(Psn(1), now);
  EXPECT_TRUE(receiver.answers_by_nack());
  receiver.Stop();
  EXPECT_FALSE(receiver.HasAnswer(now));
  EXPECT_EQ(receiver.state(), RxState::kOff);
}

// The tries before an acknowledgement do not count against the frames behind it.
TEST(RetrySender, AnAcknowledgementResetsTheTries) {
  const RetryParams params = Params().retry;
  Time now = TimeFromNs(1'000'000'000);
  RetrySender sender(params);
  sender.Begin(8, 10'000);
  Frame frames[2];
  sender.Take(&frames[0], 100);
  sender.OnSent(1, now);
  now += params.replay_timeout;
  ASSERT_EQ(sender.OnTime(now), RetrySender::Due::kReplay);
  sender.OnSent(1, now);
  ASSERT_EQ(sender.OnAck(Psn(0), now), RetrySender::AckVerdict::kProgress);
  sender.Take(&frames[1], 100);
  sender.OnSent(1, now);
  EXPECT_EQ(sender.deadline(), now + params.replay_timeout);
  EXPECT_EQ(sender.OnTime(now + params.replay_timeout), RetrySender::Due::kReplay);
}

TEST_F(LinkEndTest, BothEndsMakeTheSameTags) {
  Agree();
  EXPECT_EQ(a.end().session().tx_tag(), b.end().session().rx_tag());
  EXPECT_EQ(b.end().session().tx_tag(), a.end().session().rx_tag());
}

TEST_F(LinkEndTest, OffWhereOneEndDoesNotOfferIt) {
  LinkParams credit_only;
  credit_only.credit.cbfc = true;
  LinkMachine other(credit_only, 3);
  EXPECT_EQ(State(other), TxState::kOff);
  EXPECT_EQ(State(a), TxState::kInit);
  for (int i = 0; i < 10; ++i) {
    Carry(a, other);
    Carry(other, a);
    now += microseconds(200);
  }
  EXPECT_TRUE(a.end().session().speaks() && other.end().session().speaks());
  EXPECT_EQ(State(a), TxState::kOff);
  EXPECT_EQ(a.end().receiver().state(), RxState::kOff);
  EXPECT_EQ(a.Send(LinkMachine::Data(1)), LinkEnd::Passage::kBypass);
}

TEST_F(LinkEndTest, FramesAreNumberedFromTheAgreementOn) {
  EXPECT_EQ(a.Send(LinkMachine::Data(7)), LinkEnd::Passage::kBypass);
  Agree();
  for (const LinkBytes& bytes : Numbered(a, 3)) {
    EXPECT_EQ(bytes.size(), 68u);
    const auto up = b.Hear(bytes, now);
    ASSERT_TRUE(up.has_value());
    heard.push_back(*up);
  }
  ASSERT_EQ(heard.size(), 3u);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(heard[i], LinkMachine::Data(i + 1));
  EXPECT_EQ(a.end().sender().held(), 3u);
  Carry(b, a);
  EXPECT_EQ(a.end().sender().held(), 0u);
  EXPECT_EQ(a.missing(), 0u);
  EXPECT_EQ(b.Count(LinkCounter::kLlrTxAcks), 1u);
}

TEST_F(LinkEndTest, AnAckWaitsForOthersAndRidesOnData) {
  Agree();
  b.Hear(Numbered(a, 1)[0], now);
  EXPECT_FALSE(b.end().HasNext(now));
  EXPECT_EQ(b.end().deadline(), now + microseconds(5));
  for (const LinkBytes& bytes : Numbered(b, 1)) a.Hear(bytes, now);
  EXPECT_EQ(a.end().sender().held(), 0u) << "the frame said so";
  EXPECT_FALSE(b.end().HasNext(now + microseconds(6)));
  b.Hear(Numbered(a, 1)[0], now);
  EXPECT_TRUE(b.end().HasNext(now + microseconds(5)));
}

TEST_F(LinkEndTest, OneNackForAGapAndThenSilence) {
  Agree();
  const std::vector<LinkBytes> frames = Numbered(a, 4);
  b.Hear(frames[0], now);
  EXPECT_FALSE(b.Hear(frames[2], now).has_value());
  EXPECT_EQ(b.end().receiver().state(), RxState::kSendNack);
  const std::vector<LinkBytes> answers = b.Leave(now);
  ASSERT_EQ(OfKind(answers, LinkKind::kNack).size(), 1u);
  EXPECT_EQ(b.end().receiver().state(), RxState::kNackSent);
  EXPECT_FALSE(b.Hear(frames[3], now).has_value());
  EXPECT_TRUE(b.Leave(now + microseconds(20)).empty());
  EXPECT_EQ(b.Count(LinkCounter::kLlrRxGap), 2u);
  a.Hear(answers[0], now);
  EXPECT_EQ(State(a), TxState::kReplay);
  EXPECT_EQ(a.end().sender().held(), 3u);
  a.end().BeginBurst();
  EXPECT_EQ(a.Send(LinkMachine::Data(9)), LinkEnd::Passage::kFull) << "the held ones first";
  const std::vector<LinkBytes> again = a.Leave(now);
  EXPECT_EQ(again, (std::vector<LinkBytes>{frames[1], frames[2], frames[3]}));
  EXPECT_EQ(State(a), TxState::kAdvance);
  a.Hear(answers[0], now);
  EXPECT_EQ(State(a), TxState::kAdvance) << "the NACK's copy";
  EXPECT_EQ(a.Count(LinkCounter::kLlrRxNackCopies), 1u);
  for (const LinkBytes& bytes : again) EXPECT_TRUE(b.Hear(bytes, now).has_value());
  EXPECT_EQ(b.end().receiver().state(), RxState::kSendAcks);
}

TEST_F(LinkEndTest, TheReplayTimerRepairsATailAndALostNack) {
  Agree();
  const std::vector<LinkBytes> frames = Numbered(a, 2);
  EXPECT_EQ(a.end().deadline(), now + microseconds(50));
  now += microseconds(49);
  a.Poll(now);
  EXPECT_EQ(State(a), TxState::kAdvance);
  now += microseconds(1);
  a.Poll(now);
  EXPECT_EQ(State(a), TxState::kReplay);
  EXPECT_EQ(a.Leave(now), frames);
  // The next wait is twice as long.
  now += microseconds(99);
  a.Poll(now);
  EXPECT_EQ(State(a), TxState::kAdvance);
  now += microseconds(1);
  a.Poll(now);
  EXPECT_EQ(State(a), TxState::kReplay);
  EXPECT_EQ(a.Count(LinkCounter::kLlrTimeouts), 2u);
  for (const LinkBytes& bytes : frames) b.Hear(bytes, now);
  Carry(b, a);
  EXPECT_EQ(State(a), TxState::kAdvance) << "there is nothing left to send again";
  EXPECT_EQ(a.end().sender().held(), 0u);
}

TEST_F(LinkEndTest, AfterTheReplayCountTheLinkIsGivenUpAndBeginsAnew) {
  Agree();
  Numbered(a, 2);
  for (int i = 0; i < 2; ++i) {
    now += microseconds(400);
    a.Poll(now);
    EXPECT_EQ(a.Leave(now).size(), 2u);
  }
  now += microseconds(400);
  a.Poll(now);
  EXPECT_EQ(State(a), TxState::kFlush);
  EXPECT_EQ(a.Count(LinkCounter::kFailures), 1u);
  EXPECT_EQ(a.Count(LinkCounter::kLlrGivenUp), 2u);
  EXPECT_EQ(a.missing(), 0u);
  a.Poll(now);
  EXPECT_EQ(State(a), TxState::kInit);
  EXPECT_EQ(a.Send(LinkMachine::Data(5)), LinkEnd::Passage::kBypass);
  Settle();
  EXPECT_EQ(State(a), TxState::kAdvance);
  EXPECT_EQ(b.Count(LinkCounter::kSessions), 2u);
}

// Two of three frames wait for their owner to send them.
TEST_F(LinkEndTest, AFailureEndsFramesThatHaveNotLeftAsWell) {
  Agree();
  a.end().BeginBurst();
  for (uint64_t i = 0; i < 3; ++i) a.Send(LinkMachine::Data(i));
  EXPECT_EQ(OfKind(a.Leave(now, 1), LinkKind::kData).size(), 1u);
  now += milliseconds(6);
  a.Poll(now);
  EXPECT_EQ(a.Count(LinkCounter::kLlrGivenUp), 3u);
  EXPECT_EQ(a.missing(), 0u);
  EXPECT_EQ(a.end().ToSend(0), nullptr);
  EXPECT_EQ(a.end().sender().deadline(), kNever);
}

TEST_F(LinkEndTest, AFrameThatIsTooOldEndsTheSession) {
  LinkParams patient = Params();
  patient.retry.replay_timeout = milliseconds(100);
  a.~LinkMachine();
  new (&a) LinkMachine(patient, 4);
  Agree();
  Numbered(a, 1);
  EXPECT_EQ(a.end().sender().deadline(), now + milliseconds(5) + Duration(1));
  now += milliseconds(5) + Duration(1);
  a.Poll(now);
  EXPECT_EQ(State(a), TxState::kFlush);
  EXPECT_EQ(a.Count(LinkCounter::kLlrAged), 1u);
}

TEST_F(LinkEndTest, TheWindowIsThatOfBothEnds) {
  LinkParams small = Params();
  small.retry.window_frames = 3;
  b.~LinkMachine();
  new (&b) LinkMachine(small, 5);
  Agree();
  Numbered(a, 3);
  a.end().BeginBurst();
  EXPECT_EQ(a.Send(LinkMachine::Data(9)), LinkEnd::Passage::kFull);
  EXPECT_EQ(a.Count(LinkCounter::kLlrTxFull), 1u);
}

TEST_F(LinkEndTest, TheWindowHasOctetsToo) {
  LinkParams small = Params();
  small.retry.window_octets = 100;
  a.~LinkMachine();
  new (&a) LinkMachine(small, 6);
  Agree();
  a.end().BeginBurst();
  EXPECT_EQ(a.Send(LinkMachine::Data(1, 200)), LinkEnd::Passage::kNumbered) << "one always may";
  EXPECT_EQ(a.Send(LinkMachine::Data(2)), LinkEnd::Passage::kFull);
}

TEST_F(LinkEndTest, NumbersWrap) {
  Agree();
  for (uint32_t i = 0; i < 70'000; ++i) {
    const std::vector<LinkBytes> frames = Numbered(a, 2);
    // Each tenth pair loses its first frame.
    if (i % 10 == 0) {
      EXPECT_FALSE(b.Hear(frames[1], now).has_value());
      Carry(b, a);
      ASSERT_EQ(State(a), TxState::kReplay);
      Carry(a, b);
    } else {
      for (const LinkBytes& bytes : frames) {
        const auto up = b.Hear(bytes, now);
        ASSERT_TRUE(up.has_value());
        heard.push_back(*up);
      }
    }
    Carry(b, a);
    ASSERT_EQ(a.end().sender().held(), 0u);
    ASSERT_EQ(heard.size(), 2u);
    for (uint64_t k = 0; k < 2; ++k) {
      ASSERT_EQ(LoadBe64(heard[k].data() + LinkMachine::kNumberAt), sent - 1 + k);
    }
    heard.clear();
  }
  EXPECT_EQ(b.Count(LinkCounter::kLlrRxFrames), 140'000u);
  EXPECT_EQ(a.Count(LinkCounter::kFailures), 0u);
}

TEST_F(LinkEndTest, WhatTheOwnerMayNotWriteToIsNotNumbered) {
  Agree();
  Frame frame;
  uint8_t memory[256] = {};
  frame.buffer = memory;
  frame.data = memory + 32;
  frame.length = 60;
  a.end().BeginBurst();
  EXPECT_EQ(a.end().Pass(frame, true, 256), LinkEnd::Passage::kPlain);
  EXPECT_EQ(a.end().Pass(frame, false, 67), LinkEnd::Passage::kPlain) << "too long with the shim";
  frame.data = memory + 7;
  EXPECT_EQ(a.end().Pass(frame, false, 256), LinkEnd::Passage::kPlain) << "no room in front";
  frame.data = memory + 32;
  StoreBe16(frame.data + 12, 0x8808);
  EXPECT_EQ(a.end().Pass(frame, false, 256), LinkEnd::Passage::kBypass);
  StoreBe16(frame.data + 12, 0x0800);
  EXPECT_EQ(a.end().Pass(frame, false, 256), LinkEnd::Passage::kNumbered);
  EXPECT_EQ(a.end().Pass(frame, true, 256), LinkEnd::Passage::kHeld) << "not twice";
  EXPECT_EQ(a.Count(LinkCounter::kLlrTxHeld), 1u);
  // The frame is given up while a device still reads it: with its shim it is of no use.
  now += milliseconds(200);
  a.Poll(now);
  EXPECT_EQ(a.end().Pass(frame, true, 256), LinkEnd::Passage::kStale);
}

TEST_F(LinkEndTest, ARestartBeginsASessionAndLateCopiesOfHellosDoNot) {
  std::vector<LinkBytes> first = a.Leave(now);
  for (const LinkBytes& bytes : first) b.Hear(bytes, now);
  Agree();
  Numbered(b, 3);
  for (const LinkBytes& bytes : first) b.Hear(bytes, now);
  EXPECT_EQ(b.end().sender().held(), 3u);
  a.~LinkMachine();
  new (&a) LinkMachine(Params(), 7);
  Settle();
  EXPECT_EQ(b.Count(LinkCounter::kSessions), 2u);
  EXPECT_EQ(b.Count(LinkCounter::kLlrGivenUp), 3u);
  EXPECT_EQ(b.end().sender().held(), 0u);
  // HELLOs of the dead machine, again and again.
  for (int i = 0; i < 5; ++i) {
    for (const LinkBytes& bytes : first) b.Hear(bytes, now);
    Settle();
  }
  EXPECT_EQ(b.Count(LinkCounter::kSessions), 2u);
  EXPECT_EQ(State(b), TxState::kAdvance);
}

// The second HELLO crosses the answer to the first one.
TEST_F(LinkEndTest, ARestartedNeighbourThatAsksTwiceMayEchoTheFirstAnswer) {
  Agree();
  a.~LinkMachine();
  new (&a) LinkMachine(Params(), 7);
  const uint64_t hellos = b.Count(LinkCounter::kRxHellos);
  Carry(a, b);
  const std::vector<LinkBytes> answer = b.Leave(now);
  ASSERT_EQ(answer.size(), 1u);
  now += milliseconds(1);
  Carry(a, b);
  ASSERT_EQ(b.Count(LinkCounter::kRxHellos), hellos + 2);
  a.Hear(answer[0], now);
  Settle();
  EXPECT_EQ(b.Count(LinkCounter::kSessions), 2u);
  EXPECT_EQ(b.Count(LinkCounter::kRxHelloStale), 0u);
  EXPECT_EQ(State(a), TxState::kAdvance);
  EXPECT_EQ(State(b), TxState::kAdvance);
}

TEST_F(LinkEndTest, ANeighbourThatStopsOfferingIsBelieved) {
  Agree();
  Numbered(b, 2);
  LinkParams without = Params();
  without.retry.on = false;
  without.credit.cbfc = true;
  a.~LinkMachine();
  new (&a) LinkMachine(without, 8);
  Settle();
  EXPECT_EQ(State(b), TxState::kOff);
  EXPECT_EQ(b.Count(LinkCounter::kLlrGivenUp), 2u);
}

TEST_F(LinkEndTest, ASilentNeighbourEndsTheSession) {
  Agree();
  now += milliseconds(77);
  b.Poll(now);
  EXPECT_EQ(State(b), TxState::kAdvance);
  now += milliseconds(4);
  b.Poll(now);
  EXPECT_EQ(b.Count(LinkCounter::kSilences), 1u);
  EXPECT_EQ(State(b), TxState::kFlush);
}

// HELLOs are lost; numbered frames and acknowledgements show that the neighbour is there.
TEST_F(LinkEndTest, AnyFrameOfTheSessionIsASignOfLife) {
  Agree();
  for (int i = 0; i < 60; ++i) {
    now += milliseconds(5);
    for (const LinkBytes& bytes : Numbered(a, 2)) b.Hear(bytes, now);
    const std::vector<LinkBytes> acks = OfKind(b.Leave(now), LinkKind::kAck);
    ASSERT_EQ(acks.size(), 1u);
    a.Hear(acks[0], now);
    a.Poll(now);
    b.Poll(now);
  }
  EXPECT_EQ(a.Count(LinkCounter::kSilences), 0u);
  EXPECT_EQ(b.Count(LinkCounter::kSilences), 0u);
  EXPECT_EQ(a.Count(LinkCounter::kLlrRxAcks), 60u);
  EXPECT_EQ(b.Count(LinkCounter::kLlrRxFrames), 120u);
}

TEST_F(LinkEndTest, AFrameWithoutANumberIsHandedUpAndCounted) {
  EXPECT_TRUE(b.Hear(LinkMachine::Data(1), now).has_value());
  EXPECT_EQ(b.Count(LinkCounter::kLlrRxPlain), 0u);
  Agree();
  EXPECT_EQ(b.Hear(LinkMachine::Data(1), now), LinkMachine::Data(1));
  EXPECT_EQ(b.Count(LinkCounter::kLlrRxPlain), 1u);
  LinkBytes control = LinkMachine::Data(1);
  StoreBe16(control.data() + kLinkTypeAt, kTypeMacControl);
  EXPECT_EQ(b.Hear(control, now), control);
  EXPECT_EQ(b.Hear(LinkBytes(13), now), LinkBytes(13));
  EXPECT_EQ(b.Count(LinkCounter::kLlrRxPlain), 2u) << "MAC control has no number";
}

TEST_F(LinkEndTest, EachRepetitionIsCounted) {
  Agree();
  const std::vector<LinkBytes> frames = Numbered(a, 3);
  EXPECT_EQ(a.Count(LinkCounter::kLlrTxFrames), 3u);
  EXPECT_EQ(a.Count(LinkCounter::kLlrTxReplayed), 0u);
  b.Hear(frames[1], now);
  Carry(b, a);
  EXPECT_EQ(b.Count(LinkCounter::kLlrTxNacks), 1u);
  EXPECT_EQ(a.Count(LinkCounter::kLlrRxNacks), 1u);
  EXPECT_EQ(a.Count(LinkCounter::kLlrRxAcks), 0u);
  EXPECT_EQ(a.Count(LinkCounter::kLlrReplays), 1u);
  Carry(a, b);
  EXPECT_EQ(heard.size(), 3u);
  EXPECT_EQ(a.Count(LinkCounter::kLlrTxFrames), 3u);
  EXPECT_EQ(a.Count(LinkCounter::kLlrTxReplayed), 3u);
  Carry(b, a);
  EXPECT_EQ(a.end().sender().held(), 0u);
  // A copy of one that has come is acknowledged again, and at once.
  EXPECT_FALSE(b.end().HasNext(now));
  EXPECT_FALSE(b.Hear(frames[0], now).has_value());
  EXPECT_EQ(b.Count(LinkCounter::kLlrRxDuplicate), 1u);
  EXPECT_TRUE(b.end().HasNext(now));
  EXPECT_LE(b.end().deadline(), now);
}

TEST_F(LinkEndTest, GaugesShowTheStatesAndWhatIsHeld) {
  LinkCounters& gauges = a.end().counters();
  a.end().Show();
  EXPECT_EQ(gauges.Get(LinkGauge::kUp), 0u);
  EXPECT_EQ(gauges.Get(LinkGauge::kLlrTxState), 1u);
  Agree();
  EXPECT_EQ(a.end().sessions(), 1u);
  Numbered(a, 2);
  a.end().Show();
  EXPECT_EQ(gauges.Get(LinkGauge::kUp), 1u);
  EXPECT_EQ(gauges.Get(LinkGauge::kLlrTxState), 2u);
  EXPECT_EQ(gauges.Get(LinkGauge::kLlrRxState), 1u);
  EXPECT_EQ(gauges.Get(LinkGauge::kLlrHeldFrames), 2u);
  EXPECT_EQ(gauges.Get(LinkGauge::kLlrHeldBytes), 2u * 68);
  EXPECT_EQ(a.Count(LinkCounter::kTxHellos), b.Count(LinkCounter::kRxHellos));
  EXPECT_GT(a.Count(LinkCounter::kTxHellos), 1u);
}

TEST_F(LinkEndTest, LinkFramesHaveTheSourceOfThePort) {
  LinkParams params = Params();
  params.mac = {2, 3, 4, 5, 6, 7};
  LinkMachine other(params, 9);
  const std::vector<LinkBytes> left = other.Leave(now);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_TRUE(IsToNeighbour(left[0].data()));
  EXPECT_TRUE(std::equal(params.mac.begin(), params.mac.end(), left[0].begin() + 6));
}

TEST_F(LinkEndTest, IllFormedFramesHaveACounterEach) {
  Agree();
  LinkBytes hello(LinkHelloBody::kBytes);
  EncodeLinkHello(kDefaultLinkEtherType, {}, {.nonce = 5}, hello.data());
  const auto expect_one = [&](LinkBytes bytes, LinkCounter counter) {
    const uint64_t before = b.Count(counter);
    EXPECT_FALSE(b.Hear(bytes, now).has_value());
    EXPECT_EQ(b.Count(counter), before + 1);
  };
  LinkBytes bytes = hello;
  bytes.resize(LinkHelloBody::kBytes - 1);
  expect_one(bytes, LinkCounter::kRxMalformed);
  bytes = hello;
  bytes[20] = 2;
  expect_one(bytes, LinkCounter::kRxMalformed);
  bytes = hello;
  StoreBe64(bytes.data() + 24, 0);
  expect_one(bytes, LinkCounter::kRxMalformed);
  bytes = hello;
  bytes[0] = 2;
  expect_one(bytes, LinkCounter::kRxMalformed);
  bytes.resize(19);
  expect_one(bytes, LinkCounter::kRxMalformed);
  bytes = hello;
  StoreBe64(bytes.data() + 32, 99);
  expect_one(bytes, LinkCounter::kRxHelloStale);
  bytes = hello;
  bytes[14] = 0x90;
  expect_one(bytes, LinkCounter::kRxUnknown);
  b.end().Begin(LinkKind::kCfUpdate, 0, bytes.data());
  expect_one(bytes, LinkCounter::kRxUnknown);
  bytes = Numbered(a, 1)[0];
  StoreBe16(bytes.data() + 14, static_cast<uint16_t>(LoadBe16(bytes.data() + 14) ^ 1));
  expect_one(bytes, LinkCounter::kLlrRxStale);
}

// A forger who knows the tag, and not the frames that were sent.
TEST_F(LinkEndTest, ForgeriesBeyondTheWindowChangeNothing) {
  Agree();
  Numbered(a, 4);
  const uint16_t tag = b.end().session().tx_tag();
  const uint16_t own = a.end().session().tx_tag();
  for (uint32_t n = 4; n < 0x8000; n += 7) {
    for (const LinkKind kind : {LinkKind::kAck, LinkKind::kNack}) {
      LinkBytes bytes(60);
      BeginLinkFrame(kDefaultLinkEtherType, {},
                     {.kind = kind, .tag = tag, .acknowledged = static_cast<uint16_t>(n)},
                     bytes.data());
      a.Hear(bytes, now);
    }
    LinkBytes data = LinkMachine::Data(n, 80);
    if (n < 8) continue;
    StoreLinkWord(data.data(), kDefaultLinkEtherType,
                  {.kind = LinkKind::kData,
                   .tag = own,
                   .sequence = static_cast<uint16_t>(n),
                   .acknowledged = 0xffff});
    EXPECT_FALSE(b.Hear(data, now).has_value());
  }
  EXPECT_EQ(a.end().sender().held(), 4u);
  EXPECT_EQ(State(a), TxState::kAdvance);
  EXPECT_GT(a.Count(LinkCounter::kLlrRxAckImplausible), 0u);
  EXPECT_GT(b.Count(LinkCounter::kLlrRxBeyond), 0u);
  EXPECT_EQ(b.end().receiver().state(), RxState::kSendAcks) << "no NACK was provoked";
}

TEST_F(LinkEndTest, NoiseDoesNoHarm) {
  Agree();
  std::mt19937_64 random(1);
  for (uint32_t i = 0; i < 200'000; ++i) {
    LinkBytes bytes(random() % 200);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    if (bytes.size() >= 20) {
      BeginLinkFrame(kDefaultLinkEtherType, {},
                     {.kind = static_cast<LinkKind>(random() % 16),
                      .tag = static_cast<uint16_t>(random() % 4096),
                      .sequence = static_cast<uint16_t>(random()),
                      .acknowledged = static_cast<uint16_t>(random())},
                     (bytes.resize(std::max<size_t>(bytes.size(), 60)), bytes.data()));
    }
    b.Hear(bytes, now);
    if (i % 100 == 0) Carry(b, b);
  }
  Settle();
  Settle();
  const std::vector<LinkBytes> frames = Numbered(a, 2);
  Settle();
  EXPECT_EQ(State(a), TxState::kAdvance);
  EXPECT_EQ(b.missing(), 0u);
}

}  // namespace
}  // namespace suede
