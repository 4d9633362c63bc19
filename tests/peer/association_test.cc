// SPDX-License-Identifier: Apache-2.0
// The handshake and its consequences, a transition for each test: facts in, effects compared.
#include <algorithm>
#include <cstdlib>

#include "peer_bench.h"

namespace suede {
namespace {

using Association = PeerBench;

TEST_F(Association, AQueueThatWaitsBeginsIt) {
  Make({});
  EXPECT_EQ(Do([&](Effects& e) { peer->association().OnWaiting(now, e); }, true),
            Lines{"arm handshake 0/0"});
  EXPECT_EQ(HandshakeDue(), Lines{"say 0 HELLO asks"});
  EXPECT_EQ(HandshakeDue(),
            (Lines{"say 1 HELLO asks", "probe 0/0", "probe 0/0", "probe 1/0", "probe 1/0"}))
      << "by turns; one without an answer may be plain";
}

TEST_F(Association, WhatCannotBeOpenedBeginsIt) {
  Make({});
  EXPECT_EQ(Do([&](Effects& e) { peer->association().OnUnopened(now, e); }, true),
            Lines{"arm handshake 0/0"});
  Associate();
  EXPECT_EQ(Do([&](Effects& e) { peer->association().OnUnopened(now, e); }, true), Lines{});
}

TEST_F(Association, NobodyIsGreetedWithoutAnAddress) {
  Make({.resolving = 3});
  EXPECT_EQ(Do([&](Effects& e) { peer->association().OnWaiting(now, e); }, true),
            Lines{"count tx_waits_mac_total"});
  EXPECT_EQ(Do([&](Effects& e) { peer->OnMac(1, e); }), Lines{"unblock {0123}"});
  EXPECT_EQ(Do([&](Effects& e) { peer->association().OnWaiting(now, e); }, true),
            Lines{"arm handshake 0/0"});
}

TEST_F(Association, NothingIsSaidWhileNoPortIsUp) {
  Make({});
  Do([&](Effects& e) { peer->association().OnWaiting(now, e); });
  own->SetPort(0, false);
  own->SetPort(1, false);
  EXPECT_EQ(HandshakeDue(), Lines{});
  EXPECT_GT(peer->handshake().deadline(), now);
  own->SetPort(1, true);
  EXPECT_EQ(HandshakeDue(), Lines{"say 1 HELLO asks"});
}

TEST_F(Association, AStrangerIsAskedForProof) {
  Make({});
  Hello hello = theirs;
  hello.nonce = 7;
  EXPECT_EQ(Hears(1, hello), Lines{"count rx_hello_unverified_total"});
  hello.reply_wanted = true;
  EXPECT_EQ(Hears(1, hello),
            (Lines{"count rx_hello_unverified_total", "say 1 HELLO answers asks"}));
  EXPECT_EQ(Said<Hello>()->echo, 7u);
  EXPECT_FALSE(peer->handshake().open());
}

TEST_F(Association, AnAnswerThatDoesNotKnowUsYet) {
  Make({.planes = 1});
  Hello hello = Answer(true);
  hello.identities.peer = 0;
  EXPECT_EQ(Hears(0, hello), (Lines{"credit end", "say 0 HELLO answers asks"}));
  EXPECT_FALSE(peer->handshake().open());
  EXPECT_TRUE(At(0).rx().closed());
}

TEST_F(Association, BothHaveAgreed) {
  Make({.planes = 1});
  EXPECT_EQ(Hears(0, Answer(true)),
            (Lines{"credit end", "credit begin", "credit grant first", "say 0 HELLO answers",
                   "owe ack 0/0", "unblock {0123}"}));
  EXPECT_TRUE(peer->handshake().associated());
  ASSERT_NE(Said<Hello>(), nullptr);
  EXPECT_EQ(Said<Hello>()->nonce, peer->handshake().nonce());
  EXPECT_EQ(Said<Hello>()->first, peer->handshake().first());
  EXPECT_EQ(At(0).in_flight().next_psn(), peer->handshake().first()[0]);
  EXPECT_EQ(At(0).rx().expected(), Psn(100));
  EXPECT_TRUE(At(0).rx().HasPendingAck()) << "it may have lost us";
  EXPECT_EQ(paths.usable, 1);
}

TEST_F(Association, EachVcHasItsFirstPsn) {
  Make({.planes = 1, .per_vc = true});
  Associate();
  EXPECT_EQ(At(0, 3).rx().expected(), Psn(400));
  EXPECT_EQ(At(0, 2).in_flight().next_psn(), peer->handshake().first()[2]);
}

TEST_F(Association, PlanesHaveSessionsFromThenOn) {
  Make({});
  EXPECT_EQ(Hears(1, Answer()), (Lines{"credit end", "credit begin"}));
  EXPECT_TRUE(paths.sessions);
  EXPECT_EQ(paths.usable, 0) << "no session is up yet";
  EXPECT_EQ(peer->session(0).tx_generation(), 1) << "0 is that of peers without sessions";
  EXPECT_EQ(peer->session(1).tx_generation(), 1);
  EXPECT_TRUE(At(0).rx().closed()) << "a PLANE brings the first generation";
}

TEST_F(Association, ThePsnOfAPlaneThatIsNotKnownYetIsNotAcknowledged) {
  Make({});
  EXPECT_EQ(Hears(1, Answer(true)),
            (Lines{"credit end", "credit begin", "credit grant first", "say 1 HELLO answers"}));
  EXPECT_FALSE(At(1).rx().HasPendingAck());
}

TEST_F(Association, APeerWithOnePlaneIsSentToOnAllWithoutSessions) {
  Make({});
  theirs.sends_generations = theirs.answers_planes = false;
  Associate();
  EXPECT_FALSE(paths.sessions);
  EXPECT_EQ(paths.usable, 3);
}

TEST_F(Association, OnePlaneSaysNoPlaneOfItsOwn) {
  Make({.planes = 1});
  theirs.sends_generations = true;
  Associate();
  EXPECT_FALSE(paths.sessions);
  EXPECT_FALSE(peer->association().MakeHello(false, 0).sends_generations);
  EXPECT_EQ(Hears(0, PlaneOfTheirs(0, PlaneState::kInit, true)), Lines{"say 0 PLANE up"});
  EXPECT_FALSE(At(0).rx().closed()) << "its generation is accepted";
}

// So that switches keep the address of one that only receives.
TEST_F(Association, APeerWithoutPlanesIsAcknowledgedAtAnInterval) {
  Make({.planes = 1});
  EXPECT_EQ(RoutesDue(), Lines{}) << "there is no association";
  Associate();
  EXPECT_EQ(RoutesDue(), Lines{}) << "the interval begins";
  now += params.hello_idle / 4;
  EXPECT_EQ(RoutesDue(), Lines{}) << "XPU 2 has another turn than XPU 0";
  for (int i = 0; i < 3; ++i) {
    now += params.hello_idle / 4;
    EXPECT_EQ(RoutesDue(), Lines{"owe ack 0/0"});
    EXPECT_TRUE(At(0).rx().HasPendingAck());
    connections[0].rx().TakeRpsn();
    EXPECT_EQ(RoutesDue(), Lines{}) << "one in an interval";
  }
  Put(0, 0, 1);
  now += params.hello_idle / 4;
  EXPECT_EQ(RoutesDue(), Lines{}) << "what is in flight is sent again";
}

TEST_F(Association, WhereNothingCanBeSaidTheIntervalWaits) {
  Make({.planes = 1, .plain = true});
  RoutesDue();
  now += params.hello_idle / 2;
  Do([&](Effects& e) { peer->association().OnMute(now, e); });
  EXPECT_EQ(RoutesDue(), Lines{}) << "its timer would run without a pause";
  now += params.hello_idle / 4;
  EXPECT_EQ(RoutesDue(), Lines{"owe ack 0/0"}) << "and no HELLO, which it does not speak";
}

TEST_F(Association, APeerWithPlanesHasNoneInAnInterval) {
  Make({});
  BringAllUp();
  RoutesDue();
  now += params.hello_idle;
  EXPECT_EQ(RoutesDue(), Lines{});
}

TEST_F(Association, ARestartOfThePeerEndsWhatIsInFlight) {
  Make({});
  BringAllUp();
  Put(0, 1, 2);
  Put(1, 2, 3);
  theirs.identities.own = 0x80;
  EXPECT_EQ(Hears(0, Answer()), (Lines{"give up 0/0 2 reset", "give up 1/0 3 reset", "credit end",
                                       "count peer_reset_total", "tell reset"}))
      << "its first HELLO does not know our new identity";
  EXPECT_FALSE(paths.sessions);
  EXPECT_FALSE(paths.unreachable);
  EXPECT_FALSE(peer->handshake().open());
}

// PDUs of the former association that are still under way are then implausible.
TEST_F(Association, FirstPsnsAreFarFromThoseOfTheFormerAssociation) {
  Make({.planes = 1, .per_vc = true});
  Associate();
  for (uint64_t boot = 0x80; boot < 0x90; ++boot) {
    std::array<Psn, kVcCount> former;
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      Put(0, Vc(vc), 1);
      former[vc] = At(0, PathConnection(vc)).in_flight().next_psn();
    }
    theirs.identities.own = boot;
    Associate();
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      const Psn next = At(0, PathConnection(vc)).in_flight().next_psn();
      EXPECT_GE(std::abs(next.DistanceFrom(former[vc])), 3 << 13);
      EXPECT_EQ(next, peer->handshake().first()[vc]);
    }
  }
}

TEST_F(Association, ARestartBeforeAnythingWasExchangedIsNotTold) {
  Make({.planes = 1});
  Associate();
  connections[0].rx().Accept();
  theirs.identities.own = 0x80;
  EXPECT_EQ(Hears(0, Answer()), (Lines{"credit end", "count peer_reset_total", "tell reset"}));
  theirs.identities.own = 0x81;
  EXPECT_EQ(Hears(0, Answer()), (Lines{"credit end", "credit begin", "unblock {0123}"}));
}

// A quarter of the window that it has advertised is acknowledged without waiting.
TEST_F(Association, TheWindowOfThePeerIsKnownOnEachPlane) {
  Make({});
  theirs.sends_generations = theirs.answers_planes = false;
  theirs.window_pdus = 8;
  Associate();
  for (const uint32_t plane : {0u, 1u}) {
    Connection& one = connections[own->map.At(0, PlaneIndex(plane), 0)];
    one.rx().Accept();
    EXPECT_FALSE(one.rx().MustAckNow(transport));
    one.rx().Accept();
    EXPECT_TRUE(one.rx().MustAckNow(transport));
  }
}

TEST_F(Association, AHelloThatProvesNothingBringsNoOtherSettings) {
  Make({.planes = 1});
  Associate();
  Hello copy = theirs;
  copy.identities.peer = peer->handshake().identities().own;
  copy.nonce = 9;
  EXPECT_EQ(Hears(0, copy), Lines{"unblock {0123}"}) << "the settings are as before";
  copy.psn_scope ^= 1;
  EXPECT_EQ(Hears(0, copy), Lines{"count rx_hello_unverified_total"});
  EXPECT_EQ(paths.usable, 1);
}

TEST_F(Association, TheIntervalOfAcknowledgementsBeginsWithTheAssociation) {
  Make({.planes = 1});
  const Hello answer = Answer();
  Do([&](Effects& e) {
    peer->OnControl(0, answer, {}, now, e);
    const std::optional<Time> armed = ArmedFor(e, effect::Timer::kHandshake, 0, 0);
    EXPECT_TRUE(armed.has_value() && *armed <= now);
  });
}

TEST_F(Association, AShorterIntervalHoldsAtOnce) {
  Make({.planes = 1});
  Associate();
  RoutesDue();
  params.hello_idle /= 10;
  Do([&](Effects& e) { peer->OnNewParams(0, 0, now, e); });
  now += params.hello_idle / 4;
  EXPECT_EQ(RoutesDue(), Lines{"owe ack 0/0"});
}

TEST_F(Association, WhatWaitsSaysHelloAgainAfterARestart) {
  Make({.planes = 1});
  Associate();
  theirs.identities.own = 0x80;
  Hears(0, Answer(), {.waits = true});
  EXPECT_NE(peer->handshake().deadline(), kNever);
}

TEST_F(Association, OneThatDoesNotFitIsToldOnceAndGivenUp) {
  Make({});
  theirs.psn_scope ^= 1;
  EXPECT_EQ(Hears(0, Answer(true)),
            (Lines{"credit end", "tell mismatch for 1", "lost {0123}", "give up queued {0123}",
                   "count hello_mismatch_total", "say 0 HELLO answers"}));
  EXPECT_EQ(peer->handshake().deadline(), now + transport.hello_timeout) << "it may fit later";
  EXPECT_EQ(Hears(0, Answer()),
            (Lines{"lost {0123}", "give up queued {0123}", "count hello_mismatch_total"}));
  EXPECT_EQ(HandshakeDue(), Lines{"say 0 HELLO asks"});
  EXPECT_EQ(peer->handshake().deadline(), now + transport.hello_timeout);
  theirs.psn_scope ^= 1;
  const Lines lines = Hears(0, Answer());
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0], "found {0123}");
  EXPECT_TRUE(peer->handshake().associated());
}

// Each end's PDUs have to fit what the other one takes, to the byte.
TEST_F(Association, PdusThatJustFitAreAgreedOn) {
  Make({.planes = 1});
  theirs.receive_bytes = own->hello.pack_limit_bytes;
  theirs.pack_limit_bytes = own->hello.receive_bytes;
  Associate();
  EXPECT_EQ(paths.usable, 1);
}

TEST_F(Association, PdusThatAreLargerThanTheOtherEndTakesAreNot) {
  Make({.planes = 1});
  const uint32_t ours = own->hello.pack_limit_bytes;
  theirs.receive_bytes = static_cast<decltype(theirs.receive_bytes)>(ours - 1);
  Effects effects;
  Hello hello = Answer();
  hello.identities.own = theirs.identities.own;
  peer->OnControl(0, hello, {}, now, effects);
  const effect::Emit* emitted = nullptr;
  for (PeerEffect& one : effects.all()) {
    if (emitted == nullptr) emitted = std::get_if<effect::Emit>(&one);
  }
  ASSERT_NE(emitted, nullptr);
  EXPECT_EQ(emitted->event, PeerEvent::kHelloMismatch);
  EXPECT_EQ(emitted->what, static_cast<uint8_t>(HelloMismatch::kPackLimitBytes));
  EXPECT_EQ(emitted->own, ours);
  EXPECT_EQ(emitted->theirs, ours - 1);
  EXPECT_EQ(paths.usable, 0);
}

TEST_F(Association, APeerThatDoesNotSayWhatItTakesTakesAll) {
  Make({.planes = 1});
  theirs.receive_bytes = 0;
  Associate();
  EXPECT_EQ(paths.usable, 1);
}

TEST_F(Association, AWindowThatCannotBeIsNotAgreedOn) {
  constexpr uint32_t kMax = kMaxWindowPdus;
  for (const uint32_t window : {0u, kMax, kMax + 1}) {
    SCOPED_TRACE(window);
    Make({.planes = 1});
    theirs.window_pdus = static_cast<decltype(theirs.window_pdus)>(window);
    Hears(0, Answer());
    EXPECT_EQ(peer->handshake().associated(), window == kMax);
  }
}

TEST_F(Association, NewSettingsAreJudgedAgain) {
  Make({.planes = 1});
  Associate();
  own->hello.receive_bytes = 1024;
  EXPECT_EQ(
      Do([&](Effects& e) { peer->OnNewParams(0, 0, now, e); }),
      (Lines{"tell mismatch for 3", "lost {0123}", "give up queued {0123}", "say 0 HELLO asks"}));
  EXPECT_EQ(paths.usable, 0);
  own->hello.receive_bytes = 4096;
  EXPECT_EQ(Do([&](Effects& e) { peer->OnNewParams(0, 0, now, e); }),
            (Lines{"found {0123}", "say 0 HELLO asks", "unblock {0123}"}));
}

TEST_F(Association, NobodyIsAskedAboutNewSettingsWhoIsNotKnown) {
  Make({.planes = 1});
  own->hello.receive_bytes = 1024;
  EXPECT_EQ(Do([&](Effects& e) { peer->OnNewParams(0, 0, now, e); }), Lines{});
}

TEST_F(Association, NewSettingsShortenTheWaitsOfTheHandshake) {
  Make({.planes = 1});
  Do([&](Effects& e) { peer->association().OnWaiting(now, e); });
  for (int i = 0; i < 20; ++i) HandshakeDue();
  transport.hello_timeout /= 10;
  ASSERT_GT(peer->handshake().deadline(), now + transport.hello_timeout);
  Do([&](Effects& e) { peer->OnNewParams(0, 0, now, e); });
  EXPECT_EQ(peer->handshake().deadline(), now + transport.hello_timeout);
}

TEST_F(Association, ControlPdusOfAnotherAssociationAreRefused) {
  Make({});
  Associate();
  for (const ControlMessage& message :
       {ControlMessage(Ready{.identities = {.own = 0x7e, .peer = 1}}),
        ControlMessage(Fence{.identities = {.own = 1, .peer = 2}}),
        ControlMessage(Congestion{.identities = {.own = 0x7e, .peer = 1}, .grant = true})}) {
    EXPECT_EQ(Hears(1, message), (Lines{"count rx_drop_association_total", "say 1 HELLO asks"}));
  }
}

TEST_F(Association, CreditIsHeardWithinIt) {
  Make({.planes = 1});
  Associate();
  EXPECT_EQ(Hears(0, Credit{.vc = 1}), Lines{"credit heard"});
}

// With the plane that it came on, which is the one that it is about.
TEST_F(Association, CongestionIsHeardWithinIt) {
  Make({});
  const Congestion some{.request = true, .grant = true, .target = 9, .granted = 7};
  EXPECT_EQ(Hears(1, some), (Lines{"count rx_drop_association_total", "say 1 HELLO asks"}));
  Associate();
  EXPECT_EQ(Hears(1, some), Lines{"congestion heard"});
  Effects effects;
  Congestion theirs_now = some;
  theirs_now.identities = {.own = theirs.identities.own,
                           .peer = peer->handshake().identities().own};
  peer->OnControl(1, theirs_now, {}, now, effects);
  ASSERT_EQ(effects.all().size(), 1u);
  const auto* heard_of = std::get_if<effect::CongestionReceived>(&effects.all()[0]);
  ASSERT_NE(heard_of, nullptr);
  EXPECT_EQ(heard_of->plane, 1);
  EXPECT_EQ(heard_of->congestion, theirs_now);
}

TEST_F(Association, DataBeforeItIsNotAcceptedAndBeginsIt) {
  Make({.planes = 1});
  EXPECT_EQ(Do(
                [&](Effects& e) {
                  peer->association().OnClosedData(0, 0, true, RhOp::kNothing, Psn(0), now, e);
                },
                true),
            (Lines{"count rx_drop_before_hello_total", "arm handshake 0/0"}));
}

TEST_F(Association, DataOfAnEndedGenerationIsCounted) {
  Make({});
  Associate();
  EXPECT_EQ(Do([&](Effects& e) {
              peer->association().OnClosedData(0, 0, true, RhOp::kNothing, Psn(0), now, e);
            }),
            Lines{"count rx_drop_fenced_total"});
}

TEST_F(Association, APlainPeerIsFoundOut) {
  Make({.planes = 1});
  Do([&](Effects& e) { peer->association().OnWaiting(now, e); });
  Lines lines;
  for (uint32_t i = 0; i < 2 * transport.hello_tries && !peer->handshake().plain(); ++i) {
    lines = HandshakeDue();
    if (peer->handshake().plain()) break;
    Do([&](Effects& e) {
      peer->association().OnClosedData(0, 0, false, RhOp::kNack, Psn(9), now, e);
    });
    Do([&](Effects& e) {
      peer->association().OnClosedData(0, 0, true, RhOp::kNothing, Psn(0), now, e);
    });
  }
  EXPECT_EQ(lines, (Lines{"credit uncounted", "unblock {0123}"}));
  EXPECT_EQ(At(0).in_flight().next_psn(), Psn(9)) << "as its NACK has named";
  EXPECT_EQ(At(0).rx().expected(), Psn(0));
}

// It answers what is ahead of the PSN that it expects, and nothing else.
TEST_F(Association, APlainPeerIsFoundOutWhateverPsnItExpects) {
  for (uint32_t expected = 0; expected < 65536; expected += 1001) {
    SCOPED_TRACE(expected);
    Make({.planes = 1});
    Do([&](Effects& e) { peer->association().OnWaiting(now, e); });
    uint32_t hellos = 0;
    while (!peer->handshake().plain() && hellos < 20) {
      now = peer->handshake().deadline();
      Effects effects;
      peer->association().OnDeadline(now, effects);
      bool answers = false;
      for (PeerEffect& one : effects.all()) {
        if (std::holds_alternative<effect::Send>(one)) ++hellos;
        const auto* probe = std::get_if<effect::Probe>(&one);
        answers |= probe != nullptr && probe->psn.IsAfter(Psn(static_cast<uint16_t>(expected)));
      }
      if (!answers) continue;
      Effects heard;
      peer->association().OnClosedData(0, 0, false, RhOp::kNack,
                                       Psn(static_cast<uint16_t>(expected)), now, heard);
    }
    EXPECT_EQ(hellos, transport.hello_tries + 1) << "the first of them has no probes";
    EXPECT_EQ(At(0).in_flight().next_psn(), Psn(static_cast<uint16_t>(expected)));
  }
}

// Its HELLOs, its probes and its PDUs of an association with a former boot of ours do not show that
// it receives anything.
TEST_F(Association, APeerThatReceivesNothingIsUnreachableAndNotPlain) {
  Make({.planes = 1});
  Do([&](Effects& e) { peer->association().OnWaiting(now, e); });
  HandshakeDue();
  const Time begun = now;
  while (peer->reach().lost_vcs() == 0 && now < begun + 2 * params.unreachable) {
    Do([&](Effects& e) {
      peer->association().OnClosedData(0, 0, false, RhOp::kNothing, Psn(0), now, e);
      peer->association().OnClosedData(0, 0, false, RhOp::kAck, Psn(7), now, e);
      peer->association().OnClosedData(0, 0, true, RhOp::kAck, Psn(7), now, e);
    });
    HandshakeDue();
    ASSERT_FALSE(peer->handshake().plain());
  }
  EXPECT_EQ(peer->reach().lost_vcs(), Reach::kAllVcs);
  EXPECT_TRUE(At(0).rx().closed());
}

TEST_F(Association, APlainPeerIsOpenFromTheStart) {
  Make({.planes = 1, .plain = true});
  EXPECT_EQ(paths.usable, 1);
  EXPECT_FALSE(At(0).rx().closed());
  EXPECT_EQ(Do([&](Effects& e) { peer->Start(e); }, true), Lines{"arm handshake 0/0"})
      << "it is acknowledged at an interval";
}

TEST_F(Association, SilenceOfEveryKindIsUnreachable) {
  Make({.planes = 1});
  Do([&](Effects& e) { peer->association().OnWaiting(now, e); });
  HandshakeDue();
  now += params.unreachable;
  EXPECT_EQ(HandshakeDue(),
            (Lines{"say 0 HELLO asks", "probe 0/0", "probe 0/0", "count peer_unreachable_total",
                   "tell unreachable", "lost {0123}", "give up queued {0123}"}));
  EXPECT_EQ(HandshakeDue(), (Lines{"say 0 HELLO asks", "probe 0/0", "probe 0/0", "lost {0123}",
                                   "give up queued {0123}"}))
      << "told once";
  EXPECT_EQ(Hears(0, Answer()), (Lines{"credit end", "credit begin", "found {0123}",
                                       "tell reachable", "unblock {0123}"}));
}

TEST_F(Association, AnAddressThatNobodyKnowsIsUnreachable) {
  Make({.planes = 1, .per_vc = true, .resolving = 1});
  EXPECT_EQ(
      Do([&](Effects& e) { peer->reach().OnNoMac(e); }),
      (Lines{"count peer_unreachable_total", "tell unreachable", "lost {0}", "give up queued {0}",
             "count peer_unreachable_total", "tell unreachable 0/1", "lost {1}",
             "give up queued {1}", "count peer_unreachable_total", "tell unreachable 0/2",
             "lost {2}", "give up queued {2}", "count peer_unreachable_total",
             "tell unreachable 0/3", "lost {3}", "give up queued {3}"}));
  EXPECT_EQ(
      Do([&](Effects& e) { peer->OnMac(0, e); }),
      (Lines{"tell reachable", "found {0}", "tell reachable 0/1", "found {1}", "tell reachable 0/2",
             "found {2}", "tell reachable 0/3", "found {3}", "unblock {0123}"}));
  EXPECT_EQ(Do([&](Effects& e) { peer->reach().OnNoMac(e); }), Lines{}) << "it is known";
}

TEST_F(Association, ProbesGoToEveryQuarterOfTheNumbers) {
  Make({.planes = 1});
  Do([&](Effects& e) { peer->association().OnWaiting(now, e); });
  HandshakeDue();
  for (int i = 0; i < 4; ++i) {
    std::vector<uint32_t> ahead;
    for (int hello = 0; hello < 2; ++hello) {
      now = peer->handshake().deadline();
      Effects effects;
      peer->association().OnDeadline(now, effects);
      for (PeerEffect& one : effects.all()) {
        const auto* probe = std::get_if<effect::Probe>(&one);
        if (probe == nullptr) continue;
        ahead.push_back(
            static_cast<uint16_t>(probe->psn.DistanceFrom(At(0).in_flight().next_psn())));
      }
    }
    std::sort(ahead.begin(), ahead.end());
    EXPECT_EQ(ahead, (std::vector<uint32_t>{1, 0x4001, 0x8001, 0xc001}));
  }
}

TEST_F(Association, APlainPeerThatCountedAsUnreachableIsReachable) {
  Make({.planes = 1});
  Do([&](Effects& e) { peer->association().OnWaiting(now, e); });
  HandshakeDue();
  now += params.unreachable;
  HandshakeDue();
  ASSERT_EQ(peer->reach().lost_vcs(), Reach::kAllVcs);
  Lines lines;
  for (int i = 0; i < 20 && !peer->handshake().plain(); ++i) {
    Do([&](Effects& e) {
      peer->association().OnClosedData(0, 0, false, RhOp::kNack, Psn(0), now, e);
    });
    lines = HandshakeDue();
  }
  EXPECT_EQ(lines, (Lines{"credit uncounted", "found {0123}", "tell reachable", "unblock {0123}"}));
}

}  // namespace
}  // namespace suede
