// SPDX-License-Identifier: Apache-2.0
// Planes of a peer come up, die and are chosen, a transition for each test: facts in, effects
// compared.
#include <algorithm>
#include <string>

#include "peer_bench.h"

namespace suede {
namespace {

using Planes = PeerBench;

TEST_F(Planes, APlaneIsAskedThenUp) {
  Make({});
  Associate();
  EXPECT_EQ(SessionDue(0), Lines{"say 0 PLANE init asks"});
  NoteSaid(0);
  EXPECT_EQ(Hears(0, PlaneOfTheirs(0, PlaneState::kInit)),
            (Lines{"count plane_ups_total", "tell plane up 0", "unblock {0123}"}));
  EXPECT_EQ(paths.usable, 1);
  EXPECT_FALSE(At(0).rx().closed()) << "their generation is accepted";
  EXPECT_TRUE(At(1).rx().closed()) << "of another plane";
}

TEST_F(Planes, AQuestionIsAnswered) {
  Make({});
  BringAllUp();
  EXPECT_EQ(Hears(1, PlaneOfTheirs(1, PlaneState::kUp, true)),
            (Lines{"say 1 PLANE up", "say held up 1 {0} {0} if held"}));
}

TEST_F(Planes, AStragglerChangesNothing) {
  Make({});
  BringAllUp();
  PlaneHello old = PlaneOfTheirs(0, PlaneState::kDown, true);
  old.sequence = 0;
  EXPECT_EQ(Hears(0, old), Lines{"count rx_plane_stale_total"});
  EXPECT_TRUE(peer->session(0).up());
}

TEST_F(Planes, OneThatThePeerFindsDeadIsDead) {
  Make({});
  BringAllUp();
  EXPECT_EQ(Hears(0, PlaneOfTheirs(0, PlaneState::kDown)),
            (Lines{"count plane_deaths_total", "tell plane down 0 for 3", "unblock {0123}"}));
  EXPECT_EQ(paths.usable, 2);
}

TEST_F(Planes, ALinkThatGoesDownKillsAtOnce) {
  Make({});
  BringAllUp();
  EXPECT_TRUE(own->SetPort(1, false));
  EXPECT_EQ(
      Do([&](Effects& e) { peer->health().OnPlaneChange(1, PlaneDownReason::kLink, now, e); }),
      (Lines{"count plane_deaths_total", "tell plane down 1 for 2", "unblock {0123}",
             "unblock {0123}"}));
  EXPECT_EQ(SessionDue(1), Lines{}) << "nothing is said there";
  own->SetPort(1, true);
  EXPECT_EQ(Do([&](Effects& e) { peer->health().OnPlaneChange(1, PlaneDownReason::kLink, now, e); },
               true),
            (Lines{"arm session 1/0", "unblock {0123}"}));
  EXPECT_EQ(peer->session(1).deadline(), now);
  now += params.hold_down;
  EXPECT_EQ(SessionDue(1), Lines{"say 1 PLANE init asks"});
}

TEST_F(Planes, AnOperatorDrainsAndSetsDown) {
  Make({});
  BringAllUp();
  EXPECT_TRUE(own->SetAdmin(0, PlaneAdmin::kDrain));
  EXPECT_EQ(
      Do([&](Effects& e) { peer->health().OnPlaneChange(0, PlaneDownReason::kAdmin, now, e); }),
      Lines{"unblock {0123}"});
  EXPECT_EQ(paths.usable, 2);
  EXPECT_TRUE(peer->session(0).up());
  own->SetAdmin(0, PlaneAdmin::kDown);
  const Lines lines =
      Do([&](Effects& e) { peer->health().OnPlaneChange(0, PlaneDownReason::kAdmin, now, e); });
  EXPECT_EQ(lines[1], "tell plane down 0 for 5");
}

TEST_F(Planes, TheOnlyPlaneTakesWhatItsPortTakes) {
  Make({.planes = 1});
  Associate();
  EXPECT_FALSE(own->SetPort(0, false));
  EXPECT_FALSE(own->SetAdmin(0, PlaneAdmin::kDown));
  EXPECT_EQ(paths.usable, 1);
}

TEST_F(Planes, SilenceKillsOnlyWhileAnotherOneIsHeard) {
  Make({});
  BringAllUp();
  Put(0, 0, 1);
  for (uint32_t i = 0; i < params.hello_multiplier; ++i) {
    now += params.hello_interval;
    EXPECT_EQ(SessionDue(0), Lines{"say 0 PLANE up asks"});
  }
  now += params.hello_interval;
  EXPECT_EQ(SessionDue(0), Lines{"say 0 PLANE up asks"}) << "the peer may be stopped";
  Lines lines;
  for (int heard = 0; heard < 2; ++heard) {
    peer->health().OnProof(1, now + Duration(1));
    now += params.hello_interval;
    lines = SessionDue(0);
  }
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines[1], "tell plane down 0 for 0");
}

// The peer did not run, and is heard on one plane a moment before the other one.
TEST_F(Planes, SilenceOfAllPlanesCountsAgainstNone) {
  Make({});
  BringAllUp();
  Put(0, 0, 1);
  Put(1, 0, 1);
  for (uint32_t i = 0; i < 3 * params.hello_multiplier; ++i) {
    now += params.hello_interval;
    SessionDue(0);
    SessionDue(1);
  }
  for (const bool is_up : {true, false}) {
    peer->health().OnProof(1, now + Duration(1));
    now += params.hello_interval;
    SessionDue(0);
    EXPECT_EQ(peer->session(0).up(), is_up);
  }
}

// With default hellos, and a route that does not notice: whenever in an interval the last
// acknowledgement came.
TEST_F(Planes, APlaneThatForwardsNothingIsUnusableWithinTwentyMilliseconds) {
  for (int part = 0; part < 8; ++part) {
    SCOPED_TRACE(part);
    Make({});
    BringAllUp();
    now += params.hello_interval * part / 8;
    Put(0, 0, 1);
    Do([&](Effects& e) { peer->probes().OnDeadline(0, Hold::kNone, now, e); });
    const Time silent = now;
    for (int i = 0; i < 1000 && (paths.usable & 1) != 0; ++i) {
      // Plane 1 answers what it is asked, a moment after it comes due.
      for (const uint32_t plane : {0u, 1u}) {
        sessions[plane].OnTraffic(now, params);
        if (now < sessions[plane].deadline()) continue;
        Do([&](Effects& e) { peer->probes().OnDeadline(PlaneIndex(plane), Hold::kNone, now, e); });
        if (plane == 1) peer->health().OnProof(1, now + std::chrono::microseconds(10));
      }
      now += std::chrono::microseconds(100);
    }
    EXPECT_EQ(paths.usable, 2u);
    EXPECT_LE(now - silent, std::chrono::milliseconds(20));
    for (Connection& connection : connections) {
      PduList left;
      connection.tx().Abandon(left);
      connection = {};
    }
    own->inflight_bytes = {};
    paths = {};
    sessions = {};
    heard = {};
  }
}

TEST_F(Planes, ADeviceThatIsHeldExcusesSilence) {
  Make({});
  BringAllUp();
  Put(0, 0, 1);
  now += params.hello_interval;
  now = std::max(now, peer->session(0).deadline());
  EXPECT_TRUE(peer->probes().NeedsHold(0, now));
  EXPECT_EQ(SessionDue(0, Hold::kOwn), Lines{"say held up 0 {1} {1}"});
  EXPECT_EQ(peer->session(0).missed(), 0u);
  EXPECT_EQ(SessionDue(0, Hold::kPeers), Lines{"say 0 PLANE up asks"});
}

TEST_F(Planes, ADeviceThatIsHeldForTooLongDoesNot) {
  Make({});
  BringAllUp();
  Put(0, 0, 1);
  now += 3 * params.hello_interval;
  peer->health().OnProof(1, now);
  now = std::max(now, peer->session(0).deadline());
  const Lines lines = SessionDue(0, Hold::kTooLong);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines[1], "tell plane down 0 for 7");
}

// It is there, and lets nothing pass: a plane is given up for another one alone.
TEST_F(Planes, ANeighbourThatPausesForTooLongEndsAPlaneWhereAnotherLives) {
  Make({});
  BringAllUp();
  Put(0, 0, 1);
  for (int i = 0; i < 20; ++i) {
    now = std::max(now + params.hello_interval, peer->session(0).deadline());
    EXPECT_EQ(SessionDue(0, Hold::kNeighbour), Lines{"say held up 0 {1} {1}"});
  }
  EXPECT_EQ(peer->session(0).missed(), 0u);
  EXPECT_TRUE(peer->session(0).up());
  now += 3 * params.hello_interval;
  peer->health().OnProof(1, now);
  now = std::max(now, peer->session(0).deadline());
  const Lines lines = SessionDue(0, Hold::kNeighbour);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines[1], "tell plane down 0 for 7");
}

TEST_F(Planes, ThePeerSaysThatItsDeviceIsHeld) {
  Make({});
  BringAllUp();
  PlaneHello held{.plane = 0, .held_up = true};
  EXPECT_EQ(Hears(1, held), Lines{"count rx_held_up_total"});
  EXPECT_TRUE(peer->session(0).IsExcused(now, transport.pause_limit));
  const Duration span = params.hello_interval * (params.hello_multiplier + 1);
  EXPECT_TRUE(peer->session(0).IsExcused(now + span - Duration(1), Duration::max()));
  EXPECT_FALSE(peer->session(0).IsExcused(now + span, Duration::max())) << "it has to say so again";
  EXPECT_EQ(Hears(0, held), Lines{}) << "it cannot have come on that one";
}

TEST_F(Planes, AllSilentForTooLongIsUnreachable) {
  Make({});
  BringAllUp();
  Put(0, 0, 2);
  // Asked again and again, so that the peer's last sign of life counts.
  Lines lines;
  for (int i = 0; i < 100 && !paths.unreachable; ++i) {
    now += params.unreachable / 20;
    lines = SessionDue(0);
    if (!paths.unreachable) lines = SessionDue(1);
  }
  ASSERT_TRUE(paths.unreachable);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("say"); });
  EXPECT_EQ(lines,
            (Lines{"count peer_unreachable_total", "tell unreachable", "lost {0123}",
                   "count plane_deaths_total", "tell plane down 0 for 6", "tell fence opened 0",
                   "unblock {0123}", "give up 0/0 2 in doubt", "count plane_deaths_total",
                   "tell plane down 1 for 6", "give up queued {0123}"}));
  EXPECT_EQ(SessionDue(1), Lines{"give up queued {0123}"}) << "whatever was queued meanwhile";
  EXPECT_EQ(Do([&](Effects& e) { peer->OnMac(1, e); }), Lines{"unblock {0123}"})
      << "another address proves nothing";
  now += params.hold_down;
  lines = BringUp(1);
  EXPECT_EQ(lines, (Lines{"count plane_ups_total", "tell plane up 1", "found {0123}",
                          "tell reachable 1/0", "unblock {0123}"}));
  EXPECT_FALSE(paths.unreachable);
}

TEST_F(Planes, AStandstillOfTheLcoreIsNoSilence) {
  Make({});
  BringAllUp();
  const Time before = paths.alive_at;
  peer->health().OnStandstill(now, std::chrono::seconds(5));
  EXPECT_GE(paths.alive_at - before, std::chrono::seconds(5));
  now += std::chrono::seconds(60);
  peer->health().OnProof(1, now);
  peer->health().OnStandstill(now, std::chrono::seconds(5));
  EXPECT_EQ(paths.alive_at, now + std::chrono::seconds(5)) << "from the last sign of life on";
}

// The answers of plane 0 lie behind other frames when the lcore runs again.
TEST_F(Planes, AStandstillOfTheLcoreEndsNoPlane) {
  Make({});
  BringAllUp();
  Put(0, 0, 1);
  for (uint32_t i = 0; i <= params.hello_multiplier; ++i) {
    peer->health().OnProof(1, now + Duration(1));
    now += params.hello_interval;
    if (i == params.hello_multiplier) {
      now += std::chrono::milliseconds(7);
      peer->health().OnStandstill(now, std::chrono::milliseconds(7));
    }
    Do([&](Effects& e) { peer->probes().OnDeadline(0, Hold::kNone, now, e); });
    ASSERT_TRUE(peer->session(0).up());
  }
  EXPECT_EQ(peer->session(0).missed(), params.hello_multiplier);
  SessionDue(0);
  EXPECT_FALSE(peer->session(0).up());
}

TEST_F(Planes, SilenceCountsFromTheLastSignOfLife) {
  Make({});
  BringAllUp();
  Put(0, 0, 1);
  now += params.unreachable * 9 / 10;
  for (const uint32_t plane : {0u, 1u}) peer->health().OnProof(PlaneIndex(plane), now);
  const Time last = now;
  while (!paths.unreachable) {
    ASSERT_LE(now - last, 2 * params.unreachable);
    now += params.hello_interval;
    for (const uint32_t plane : {0u, 1u}) {
      Do([&](Effects& e) { peer->probes().OnDeadline(PlaneIndex(plane), Hold::kNone, now, e); });
    }
  }
  EXPECT_GE(now - last, params.unreachable);
}

// Dead planes are asked after longer and longer waits.
TEST_F(Planes, APeerWhosePlanesAreDeadIsUnreachableInTime) {
  params.hello_idle = std::chrono::seconds(60);
  Make({});
  BringAllUp();
  for (const uint32_t plane : {0u, 1u}) peer->health().OnProof(PlaneIndex(plane), now);
  const Time last = now;
  for (const uint32_t plane : {0u, 1u}) {
    Hears(PlaneIndex(plane), PlaneOfTheirs(PlaneIndex(plane), PlaneState::kDown));
  }
  for (int i = 0; i < 100 && !paths.unreachable; ++i) SessionDue(0);
  EXPECT_GE(now - last, params.unreachable);
  EXPECT_LE(now - last, params.unreachable + params.hello_interval);
}

class IdlePlanes : public PeerBench {
 protected:
  // Both planes have answered, and the next questions are far away.
  void MakeIdle() {
    params.hello_idle = 3 * params.unreachable;
    Make({});
    BringAllUp();
    for (const uint32_t plane : {0u, 1u}) {
      SessionDue(PlaneIndex(plane));
      peer->health().OnProof(PlaneIndex(plane), now);
      SessionDue(PlaneIndex(plane));
    }
    now += 2 * params.hello_interval;
  }
};

TEST_F(IdlePlanes, AreNotSilent) {
  MakeIdle();
  EXPECT_EQ(SessionDue(0), Lines{"say 0 PLANE up asks"});
  EXPECT_FALSE(paths.unreachable) << "nothing was asked";
}

// They were asked once in a time that is longer than that after which a silent peer is unreachable.
TEST_F(IdlePlanes, AreSilentFromTheSecondQuestionOn) {
  MakeIdle();
  SessionDue(0);
  SessionDue(0);
  const Time asked = now;
  while (!paths.unreachable) {
    ASSERT_LE(now - asked, 2 * params.unreachable);
    now += params.hello_interval;
    for (const uint32_t plane : {0u, 1u}) {
      Do([&](Effects& e) { peer->probes().OnDeadline(PlaneIndex(plane), Hold::kNone, now, e); });
    }
  }
  EXPECT_GE(now - asked, params.unreachable);
  EXPECT_LE(now - asked, params.unreachable + 5 * params.hello_interval);
}

TEST_F(IdlePlanes, AreAskedWhereTheDeviceOfAnotherIsHeld) {
  MakeIdle();
  const Time far = peer->session(1).deadline();
  sessions[0].OnTraffic(now, params);
  Do([&](Effects& e) { peer->probes().OnDeadline(0, Hold::kOwn, now, e); });
  EXPECT_EQ(peer->session(1).deadline(), far) << "it is not due yet";
  SessionDue(0, Hold::kOwn);
  EXPECT_EQ(peer->session(1).deadline(), now);
}

TEST_F(IdlePlanes, AreAskedSoonerWithNewSettings) {
  MakeIdle();
  Put(0, 0, 1);
  transport.rto_initial /= 10;
  for (const uint32_t plane : {0u, 1u}) {
    Do([&](Effects& e) { peer->OnNewParams(PlaneIndex(plane), 0, now, e); });
    EXPECT_EQ(peer->session(PlaneIndex(plane)).deadline(), now + params.hello_interval);
  }
  EXPECT_EQ(At(0).deadline(), now + transport.rto_initial);
}

TEST_F(Planes, OneThatComesUpIsOwedNothing) {
  Make({});
  Associate();
  BringUp(0);
  paths.carried[0] += 5000;
  BringUp(1);
  EXPECT_EQ(paths.carried[1], paths.carried[0]);
}

TEST_F(Planes, APlaneOfThePeerBeginsSessionsToo) {
  Make({});
  theirs.answers_planes = theirs.sends_generations = false;
  Associate();
  ASSERT_FALSE(paths.sessions);
  Hears(0, PlaneOfTheirs(0, PlaneState::kInit));
  EXPECT_TRUE(paths.sessions) << "its HELLO may be lost";
}

TEST_F(Planes, AQuestionOfThePeerIsAnsweredByOurOwnSoon) {
  Make({});
  Associate();
  for (int i = 0; i < 8; ++i) SessionDue(0);
  ASSERT_GT(peer->session(0).deadline(), now + params.hello_interval);
  Hears(0, PlaneOfTheirs(0, PlaneState::kInit, true));
  EXPECT_EQ(peer->session(0).deadline(), now + params.hello_interval);
}

TEST_F(Planes, WithoutSessionsAPortHasNoTimer) {
  Make({.plain = true});
  EXPECT_EQ(Do([&](Effects& e) { peer->health().OnPlaneChange(0, PlaneDownReason::kLink, now, e); },
               true),
            Lines{"unblock {0123}"});
}

// ---- Strict: one plane takes all of it.

TEST_F(Planes, HomeMovesOnceNothingIsInFlight) {
  Make({.ordering = Ordering::kStrict});
  BringAllUp();
  const PlaneIndex home(paths.home[0]);
  const PlaneIndex other(1 - home);
  EXPECT_EQ(paths.choice[0], 1u << home);
  Put(home, 0, 1);
  own->SetAdmin(home, PlaneAdmin::kDrain);
  EXPECT_EQ(
      Do([&](Effects& e) { peer->health().OnPlaneChange(home, PlaneDownReason::kAdmin, now, e); }),
      Lines{"count flow_moves_total"});
  EXPECT_TRUE(paths.moving);
  EXPECT_EQ(paths.choice[0], 0);
  PduList acked;
  connections[home].tx().OnAck(At(home).in_flight().oldest_psn(), now, transport, acked);
  paths.OnEnd(home, 100);
  own->inflight_bytes[home] -= 100;
  EXPECT_EQ(Do([&](Effects& e) { peer->choice().OnEnded(e); }),
            (Lines{"home " + std::to_string(other) + " {0123}", "unblock {0123}"}));
  EXPECT_EQ(paths.choice[0], 1u << other);
}

TEST_F(Planes, WeightsDrawTheHome) {
  Make({.ordering = Ordering::kStrict});
  BringAllUp();
  const PlaneIndex other(1u - paths.home[0]);
  EXPECT_EQ(Do([&](Effects& e) { peer->SetWeight(other, 65535, now, e); }),
            (Lines{"home " + std::to_string(other) + " {0123}", "unblock {0123}"}));
}

// ---- Routes: a plane without one to the peer has the weight 0.

TEST_F(Planes, APlaneWithoutARouteTakesNothing) {
  Make({});
  BringAllUp();
  Put(1, 0, 2);
  EXPECT_EQ(Weigh(1, 0), Lines{"unblock {0123}"});
  EXPECT_EQ(paths.usable, 1);
  EXPECT_EQ(paths.choice[0], 1);
  EXPECT_EQ(paths.open, 3) << "its health is as before";
  EXPECT_EQ(At(1).in_flight().bytes(), 200u) << "what is in flight there ends there";
  EXPECT_TRUE(peer->session(1).up());
  now = peer->session(1).deadline() + params.hello_interval;
  EXPECT_EQ(SessionDue(1), Lines{"say 1 PLANE up asks"});
  EXPECT_EQ(Weigh(1, 7), Lines{"unblock {0123}"});
  EXPECT_EQ(paths.usable, 3);
  EXPECT_EQ(paths.weight[1], 7);
}

TEST_F(Planes, TheHomeThatHasNoRouteIsLeftAsByADrain) {
  Make({.ordering = Ordering::kStrict});
  BringAllUp();
  const PlaneIndex home(paths.home[0]);
  Put(home, 0, 1);
  EXPECT_EQ(Weigh(home, 0), Lines{"count flow_moves_total"});
  EXPECT_TRUE(paths.moving);
  EXPECT_EQ(paths.choice[0], 0);
  PduList acked;
  connections[home].tx().OnAck(At(home).in_flight().oldest_psn(), now, transport, acked);
  paths.OnEnd(home, 100);
  own->inflight_bytes[home] -= 100;
  EXPECT_EQ(Do([&](Effects& e) { peer->choice().OnEnded(e); }),
            (Lines{"home " + std::to_string(1 - home) + " {0123}", "unblock {0123}"}));
}

TEST_F(Planes, NoRouteForLongIsUnreachable) {
  Make({});
  BringAllUp();
  Weigh(0, 0);
  EXPECT_EQ(Weigh(1, 0), Lines{}) << "it may come back";
  EXPECT_EQ(paths.usable, 0);
  const Time begun = now;
  now = begun + params.unreachable - std::chrono::nanoseconds(1);
  EXPECT_EQ(RoutesDue(), Lines{});
  now = begun + params.unreachable;
  EXPECT_EQ(RoutesDue(), (Lines{"count peer_unreachable_total", "tell unreachable", "lost {0123}",
                                "give up queued {0123}"}));
  EXPECT_EQ(RoutesDue(), Lines{}) << "once";
  EXPECT_EQ(Weigh(1, 5), (Lines{"found {0123}", "tell reachable", "unblock {0123}"}));
  EXPECT_EQ(paths.usable, 2);
}

TEST_F(Planes, NoRouteForLongIsUnreachableWhereNothingCanBeSentToo) {
  Make({});
  BringAllUp();
  Weigh(0, 0);
  Weigh(1, 0);
  now += params.unreachable;
  EXPECT_EQ(Do([&](Effects& e) { peer->association().OnMute(now, e); }),
            (Lines{"count peer_unreachable_total", "tell unreachable", "lost {0123}",
                   "give up queued {0123}"}));
}

TEST_F(Planes, TheWaitForARouteHasATimerAndNewSettingsShortenIt) {
  Make({});
  BringAllUp();
  Do([&](Effects& e) { peer->OnNewParams(0, 0, now, e); });
  now += params.unreachable;
  EXPECT_EQ(RoutesDue(), Lines{}) << "there are routes";
  Weigh(0, 0);
  Do([&](Effects& e) {
    peer->SetWeight(1, 0, now, e);
    EXPECT_EQ(ArmedFor(e, effect::Timer::kHandshake, 0, 0), now + params.unreachable);
  });
  params.unreachable /= 10;
  Do([&](Effects& e) { peer->OnNewParams(0, 0, now, e); });
  now += params.unreachable;
  EXPECT_EQ(RoutesDue().front(), "count peer_unreachable_total");
}

TEST_F(Planes, OtherWeightsThanTheUsualOnesAreKnownAtOnce) {
  Make({});
  own->shares.Begin({PlaneShares::kOne / 2, PlaneShares::kOne / 2});
  BringAllUp();
  EXPECT_FALSE(own->shares.any_uneven());
  Weigh(0, 3);
  EXPECT_TRUE(own->shares.any_uneven());
}

TEST_F(Planes, ARouteThatComesBackInTimeEndsTheWait) {
  Make({});
  BringAllUp();
  Weigh(0, 0);
  Weigh(1, 0);
  EXPECT_EQ(Weigh(0, 1), Lines{"unblock {0123}"});
  now += params.unreachable;
  EXPECT_EQ(RoutesDue(), Lines{});
}

TEST_F(Planes, WithoutRoutesAPlaneThatComesUpIsNotEnough) {
  Make({});
  BringAllUp();
  Weigh(0, 0);
  Weigh(1, 0);
  own->SetPort(0, false);
  Do([&](Effects& e) { peer->health().OnPlaneChange(0, PlaneDownReason::kLink, now, e); });
  now += params.unreachable;
  RoutesDue();
  own->SetPort(0, true);
  Do([&](Effects& e) { peer->health().OnPlaneChange(0, PlaneDownReason::kLink, now, e); });
  now += params.hold_down_max;
  EXPECT_EQ(BringUp(0), Lines({"count plane_ups_total", "tell plane up 0"}));
  EXPECT_EQ(paths.usable, 0);
  EXPECT_EQ(peer->reach().lost_vcs(), Reach::kAllVcs);
  EXPECT_EQ(Weigh(0, 1), (Lines{"found {0123}", "tell reachable", "unblock {0123}"}));
}

TEST_F(Planes, WhatMovesWithoutARouteIsGivenUp) {
  Make({});
  BringAllUp();
  Put(0, 0, 3);
  Weigh(0, 0);
  Weigh(1, 0);
  now += params.unreachable;
  RoutesDue();
  EXPECT_EQ(At(0).in_flight().count(), 3u) << "the plane lives: they may arrive yet";
  own->SetPort(0, false);
  Do([&](Effects& e) { peer->health().OnPlaneChange(0, PlaneDownReason::kLink, now, e); });
  Fenced fenced{.plane = 0, .generation = peer->session(0).tx_generation()};
  for (uint32_t vc = 0; vc < own->map.vc_count(); ++vc)
    fenced.expected[vc] = At(0, PathConnection(vc)).in_flight().oldest_psn();
  const Lines lines = Hears(1, fenced);
  EXPECT_EQ(lines, (Lines{"requeue 0 3", "give up queued {0123}"}));
}

TEST_F(Planes, APeerWithoutSessionsMayHaveNoRouteToo) {
  Make({.plain = true});
  Weigh(0, 0);
  Weigh(1, 0);
  EXPECT_EQ(paths.usable, 0);
  now += params.unreachable;
  EXPECT_EQ(RoutesDue().back(), "give up queued {0123}");
  Weigh(1, 1);
  EXPECT_EQ(paths.usable, 2);
  EXPECT_EQ(peer->reach().lost_vcs(), 0);
}

TEST_F(Planes, AnAddressOpensAPlane) {
  Make({.resolving = 2});
  BringAllUp();
  EXPECT_EQ(paths.usable, 1);
  EXPECT_EQ(Do([&](Effects& e) { peer->OnMac(1, e); }), Lines{"unblock {0123}"});
  EXPECT_EQ(paths.usable, 3);
}

// ---- Planes that carry less than their weights say.

class MeasuredPlanes : public PeerBench {
 protected:
  static constexpr uint64_t kLinkBps = 16'000'000'000;
  static constexpr Duration kRtt = std::chrono::microseconds(10);
  static constexpr uint32_t kPdus = 500;
  static constexpr uint32_t kBytes = 1000;

  void MakeMeasured() {
    Make({.planes = 2, .measures = true});
    own->link_bps.fill(kLinkBps);
    own->frame_octets = kBytes;
    own->shares.Begin({PlaneShares::kOne / 2, PlaneShares::kOne / 2});
    BringAllUp();
  }
  // Two windows of plane 0, the latter of which ends at the deadline of its session, with half of
  // the rate; there was less in the former one. `left`: bytes in flight throughout the latter.
  Lines FindHalf(Duration rtt = kRtt, uint32_t left = 100 * kBytes) {
    rates[0] = PathRate();  // its first window begins before it was up
    const Time end = peer->session(0).deadline();
    const uint32_t acked = At(0).tx().tx_pdus() - At(0).in_flight().count();
    for (uint32_t before = 2; before != 0; --before) {
      rates[0].CloseWindow({.inflight_bytes = kPdus * kBytes,
                            .acked_pdus = acked - before * kPdus,
                            .expected_bps = kLinkBps,
                            .min_rtt = rtt},
                           params.hello_interval, end - before * params.hello_interval);
      for (uint32_t i = 0; i < kPdus; ++i) {
        rates[0].OnAcked(kBytes, before == 1 ? left : 100 * kBytes);
      }
    }
    return SessionDue(0);
  }
  static bool Has(const Lines& lines, const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  }
};

TEST_F(MeasuredPlanes, ThePartThatWasMeasuredCountsInTheChoice) {
  MakeMeasured();
  Put(0, 0, 4);  // which do not count before they are acknowledged
  EXPECT_FALSE(own->shares.any_uneven());
  const uint32_t whole = paths.cost[0];
  const Lines lines = FindHalf();
  EXPECT_TRUE(Has(lines, "count plane_rates_total"));
  EXPECT_TRUE(Has(lines, "count plane_rate_changes_total"));
  EXPECT_EQ(paths.part[0], PathRate::kWhole / 2 + PathRate::kWhole / 64);
  EXPECT_TRUE(own->shares.any_uneven());
  EXPECT_EQ(paths.part[1], PathRate::kWhole);
  EXPECT_NEAR(static_cast<double>(paths.cost[0]) / paths.cost[1], 2, 0.1);
  EXPECT_NE(paths.cost[0], whole);
}

TEST_F(MeasuredPlanes, APlaneThatComesBackCountsAsWhole) {
  MakeMeasured();
  FindHalf();
  Hears(0, PlaneOfTheirs(0, PlaneState::kDown));
  EXPECT_LT(paths.part[0], PathRate::kWhole);
  now += params.hold_down_max;
  BringUp(0);
  ASSERT_TRUE(peer->session(0).up());
  EXPECT_EQ(paths.part[0], PathRate::kWhole);
  EXPECT_EQ(rates[0].part(), PathRate::kWhole);
}

TEST_F(MeasuredPlanes, ANewWeightCountsAsWhole) {
  MakeMeasured();
  FindHalf();
  Weigh(0, 3);
  EXPECT_EQ(paths.part[0], PathRate::kWhole);
}

// Half of the rate is all that can be expected of it where its link has no more.
TEST_F(MeasuredPlanes, TheSlowestLinkForItsWeightIsExpectedToBeFull) {
  MakeMeasured();
  own->link_bps[0] = kLinkBps / 2;
  EXPECT_TRUE(Has(FindHalf(), "count plane_rates_total"));
  EXPECT_EQ(paths.part[0], PathRate::kWhole);
}

TEST_F(MeasuredPlanes, APlaneWithoutARouteIsNotMeasured) {
  MakeMeasured();
  Weigh(0, 0);
  EXPECT_FALSE(Has(FindHalf(), "count plane_rates_total"));
}

// The bytes that a path carries meanwhile are no measure of the path.
TEST_F(MeasuredPlanes, APlaneWithAConnectionThatStandsStillIsNotMeasured) {
  enum class Still : uint8_t { kNot, kRefused, kTimedOut };
  for (const Still still : {Still::kNot, Still::kRefused, Still::kTimedOut}) {
    MakeMeasured();
    Put(0, 0, 4);
    if (still == Still::kRefused) Hears(0, NotReady{.expected = At(0).in_flight().oldest_psn()});
    if (still == Still::kTimedOut) ConnectionDue(0);
    EXPECT_EQ(Has(FindHalf(), "count plane_rates_total"), still == Still::kNot);
    Clear();
    rates = {};
  }
}

TEST_F(MeasuredPlanes, TheShortestRoundTripOfItsConnectionsIsThatOfThePath) {
  for (const bool is_known : {false, true}) {
    MakeMeasured();
    if (is_known) {
      Put(0, 0, 1);
      PduList acked;
      connections[0].tx().OnAck(At(0).in_flight().oldest_psn(), now + kRtt, transport, acked);
      paths.OnEnd(0, 100);
      own->inflight_bytes[0] -= 100;
      own->OnIdle(0);
    }
    // So much is a queue on a path of 10 us, and none on one of 100 us.
    EXPECT_EQ(Has(FindHalf(10 * kRtt, 30 * kBytes), "count plane_rates_total"), is_known);
    Clear();
    rates = {};
  }
}

// ---- Planes with the same addresses, sealed: frames of any may arrive on any.

class SealedPlanes : public PeerBench {
 protected:
  // Our plane 0 leads to the peer's plane 1, and is paired and up.
  void PairUp() {
    Make({});
    paths.alike = 3;
    Associate();
    SessionDue(0);
    NoteSaid(0);
    EXPECT_EQ(HearsSealed(0, 1, PlaneState::kInit),
              (Lines{"count plane_ups_total", "tell plane up 0", "unblock {0123}"}));
    ASSERT_TRUE(peer->session(0).paired());
    ASSERT_EQ(peer->session(0).peer_plane(), 1);
  }
  // A PLANE of the peer's plane `number`, which has heard our plane 0.
  Lines HearsSealed(PlaneIndex plane, uint8_t number, PlaneState state) {
    PlaneHello hello = PlaneOfTheirs(0, state);
    hello.plane = number;
    hello.heard_plane = 1;
    hello.paired = true;
    return Hears(plane, hello, {.sealed = true});
  }
};

TEST_F(SealedPlanes, APlaneOfAnotherPairChangesNothingWhileThePairIsUp) {
  PairUp();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(HearsSealed(1, 1, PlaneState::kDown), Lines{"count rx_plane_stale_total"});
    EXPECT_EQ(HearsSealed(0, 0, PlaneState::kDown), Lines{"count rx_plane_stale_total"});
    now += params.unreachable;
  }
  EXPECT_TRUE(peer->session(0).up());
  EXPECT_EQ(peer->session(1).peer_plane(), PlaneSession::kUnknownPlane);
}

TEST_F(SealedPlanes, APlaneThatDoesNotLeadThereIsIgnored) {
  Make({});
  paths.alike = 3;
  paths.present = 1;
  Associate();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(HearsSealed(1, 1, PlaneState::kInit), Lines{"count rx_plane_stale_total"});
    now += params.unreachable;
  }
}

// The planes lead elsewhere by now. Where PDUs were exchanged, that has to last.
TEST_F(SealedPlanes, PairsOfAnotherNetworkEndTheAssociation) {
  for (const bool exchanged : {false, true}) {
    PairUp();
    if (exchanged) connections[0].rx().Accept();
    HearsSealed(0, 1, PlaneState::kDown);
    ASSERT_FALSE(peer->session(0).up());
    const Time begun = now;
    while (HearsSealed(0, 0, PlaneState::kInit) == Lines{"count rx_plane_stale_total"}) {
      now += params.hello_interval;
      ASSERT_LE(now - begun, 2 * params.unreachable);
    }
    EXPECT_EQ(now - begun,
              exchanged ? params.unreachable : params.hello_interval * params.hello_multiplier);
    EXPECT_FALSE(peer->handshake().open());
    Clear();
  }
}

}  // namespace
}  // namespace suede
