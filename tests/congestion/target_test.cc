// SPDX-License-Identifier: Apache-2.0
// The receiver's side of RCCC: to whom credit is granted, how much, and when.
#include "congestion/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "congestion/bandwidth_delay.h"

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class Target : public ::testing::Test {
 protected:
  static constexpr uint64_t kRate = 99'500'000'000;
  static constexpr uint32_t kPdu = 1024;
  static constexpr int64_t kBdp = 124'375;
  static constexpr int64_t kReserve = 30 * 1024;
  static constexpr int64_t kSlice = 12'544;
  static constexpr int64_t kHold = 497'664;  // 4 BDP, in whole units
  static constexpr uint64_t kRoom = 1 << 30;

  Target() : target_(Params()) { target_.Resize(8); }
  static TargetParams Params() {
    TargetParams params;
    params.rate_bps = kRate;
    params.largest_octets = kPdu;
    return params;
  }
  void Request(uint32_t sender, int64_t target, int64_t sent, int64_t limit) {
    const CreditRequest request = {Credit24::Ceil(target), Credit24::Floor(sent),
                                   Credit24::Floor(limit)};
    target_.OnRequest(sender, request, now_);
    target_.CheckInvariants();
  }
  std::optional<CreditTarget::Grant> Poll(uint64_t room = kRoom) {
    const auto grant = target_.Poll(now_, room);
    target_.CheckInvariants();
    return grant;
  }
  // The limit that the sender was granted; 0 for none.
  int64_t PollFor(uint32_t sender, uint64_t room = kRoom) {
    const auto grant = Poll(room);
    if (!grant) return 0;
    EXPECT_EQ(grant->sender, sender);
    return grant->limit.Octets(0);
  }
  // The sender of the next grant, when that is due; its PDUs arrive at once.
  uint32_t Next() {
    now_ = std::max(now_, target_.deadline());
    const auto grant = Poll();
    if (!grant) return UINT32_MAX;
    target_.OnArrived(grant->sender, static_cast<uint32_t>(kHold));
    return grant->sender;
  }
  // All grants of `time`, in octets for each sender, whose PDUs arrive as they are granted.
  std::map<uint32_t, int64_t> Run(Duration time, uint64_t room = kRoom) {
    std::map<uint32_t, int64_t> granted;
    for (const Time end = now_ + time; now_ < end; now_ += Duration(100)) {
      while (const auto grant = Poll(room)) {
        int64_t& limit = limits_[grant->sender];
        const int64_t more = grant->limit.Octets(limit) - limit;
        limit += more;
        granted[grant->sender] += more;
        target_.OnArrived(grant->sender, static_cast<uint32_t>(more));
      }
    }
    return granted;
  }

  CreditTarget target_;
  Time now_ = TimeFromNs(1'000'000);
  std::map<uint32_t, int64_t> limits_;
};

TEST_F(Target, IsIdleAtFirst) {
  EXPECT_TRUE(target_.idle());
  EXPECT_EQ(target_.active(), 0u);
  EXPECT_EQ(target_.deadline(), kNever);
  EXPECT_FALSE(Poll());
}

TEST_F(Target, GrantsASliceFromWhereTheSourceBegan) {
  Request(3, kReserve + 10 * kBdp, 0, kReserve);
  EXPECT_FALSE(target_.idle());
  EXPECT_EQ(target_.active(), 1u);
  // A sender's first turn is longer by part of a PDU.
  const int64_t limit = PollFor(3);
  EXPECT_GE(limit, kReserve + kSlice);
  EXPECT_LT(limit, kReserve + kSlice + kPdu);
  EXPECT_EQ(PollFor(3), limit + kSlice);
}

TEST_F(Target, GrantsNoMoreThanIsAskedFor) {
  Request(3, 2 * kReserve + 2000, 0, kReserve);
  int64_t limit = 0;
  while (const int64_t next = PollFor(3)) limit = next;
  now_ += milliseconds(1);
  while (const int64_t next = PollFor(3)) limit = next;
  EXPECT_EQ(limit, Credit24::Ceil(2 * kReserve + 2000).Octets(0));
  EXPECT_TRUE(target_.idle());
}

TEST_F(Target, FirstTurnsDifferByPartsOfAPdu) {
  std::set<int64_t> parts;
  for (uint32_t sender = 0; sender != 8; ++sender) Request(sender, 100'000'000, 0, kReserve);
  std::map<uint32_t, int64_t> first;
  for (int turn = 0; turn != 16; ++turn) {
    now_ = std::max(now_, target_.deadline());
    const auto grant = Poll();
    ASSERT_TRUE(grant);
    const int64_t limit = grant->limit.Octets(0);
    if (first.try_emplace(grant->sender, limit).second) {
      parts.insert(limit - kReserve - kSlice);
    } else {
      EXPECT_EQ(limit, first[grant->sender] + kSlice);
    }
  }
  EXPECT_EQ(parts, (std::set<int64_t>{0, 256, 512, 768}));
}

TEST_F(Target, ATurnHasTwoLargestPdusAtLeast) {
  TargetParams params = Params();
  params.largest_octets = 9000;
  target_ = CreditTarget(params);
  target_.Resize(1);
  Request(0, 100'000'000, 0, 27'136);
  const int64_t limit = PollFor(0);
  EXPECT_EQ(PollFor(0), limit + 18'176);  // in whole units
}

// A new sender counts as granted four base RTTs ago.
TEST_F(Target, ASenderThatWantsNoMoreThanItsShareGoesFirst) {
  for (uint32_t sender = 0; sender != 2; ++sender) Request(sender, 100'000'000, 0, kReserve);
  for (int i = 0; i < 30; ++i) Next();
  const uint32_t last = Next();
  const uint32_t next = 1 - last;
  Request(2, kReserve + 2048, 0, kReserve);
  EXPECT_EQ(Next(), 2u);
  // One of the others has a turn before another request goes first.
  Request(3, kReserve + 2048, 0, kReserve);
  EXPECT_EQ(Next(), next);
  Request(4, kReserve + 2048, 0, kReserve);
  EXPECT_EQ(Next(), 4u);
  EXPECT_EQ(Next(), last);
  EXPECT_EQ(Next(), 3u);
  EXPECT_EQ(Next(), next);
  // A third of 40 us.
  Request(5, kReserve + 165'632, 0, kReserve);
  EXPECT_EQ(Next(), 5u);
  target_.Forget(5);
  EXPECT_EQ(Next(), last);
  Request(6, kReserve + 166'144, 0, kReserve);
  EXPECT_EQ(Next(), next);
  EXPECT_EQ(Next(), last);
  EXPECT_EQ(Next(), 6u);
}

TEST_F(Target, LessThanAPduIsNoTurnOfItsOwn) {
  Request(3, kReserve + kSlice + kPdu, 0, kReserve);
  EXPECT_EQ(PollFor(3), kReserve + kSlice + kPdu);
}

TEST_F(Target, APduAndASliceAreOneTurnAndMoreIsTwo) {
  // The first turn of sender 0 is no longer than others.
  Request(0, kReserve + kSlice + kPdu, 0, kReserve);
  EXPECT_EQ(PollFor(0), kReserve + kSlice + kPdu);
  target_.Forget(0);
  Request(0, kReserve + kSlice + kPdu + kCreditUnitOctets, 0, kReserve);
  EXPECT_EQ(PollFor(0), kReserve + kSlice);
}

TEST_F(Target, NothingIsOwedForTheReserveOfAnIdleSource) {
  Request(3, 5000 + kReserve, 5000, kReserve);
  while (PollFor(3) != 0) now_ += microseconds(1);
  target_.OnArrived(3, 5000);
  EXPECT_EQ(target_.outstanding(), 0u);
  EXPECT_EQ(target_.deadline(), kNever);
}

TEST_F(Target, CountsWhatIsOutstanding) {
  Request(3, 2 * kReserve + kBdp, 0, kReserve);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(kReserve));  // its backlog has more
  const int64_t limit = PollFor(3);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(limit));
  target_.OnArrived(3, 10'000);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(limit - 10'000));
  target_.OnArrived(3, 10'000'000);  // more than there can be
  EXPECT_EQ(target_.outstanding(), 0u);
  target_.CheckInvariants();
}

// A sender uses it with its next turns, and only then it counts.
TEST_F(Target, ARestThatIsTooLittleForAPduIsNotOutstanding) {
  const Time idle = target_.deadline();
  Request(3, 100'000'000, 0, kPdu / 2);
  EXPECT_EQ(target_.outstanding(), 0u);
  EXPECT_LT(target_.deadline(), idle);
  const int64_t limit = PollFor(3);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(limit - kPdu / 2));
  Request(2, 100'000'000, 0, kPdu);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(limit + kPdu / 2));
  target_.OnArrived(1, 10'240);
  Request(1, 100'000'000, 10'240, 10'240 + kPdu / 2);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(limit + kPdu / 2));
}

TEST_F(Target, WhatASourceHasSentAlreadyIsOutstandingUntilItArrives) {
  target_.OnArrived(3, 4096);
  EXPECT_EQ(target_.outstanding(), 0u);
  Request(3, 100'000'000, 10'240, kReserve);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(kReserve - 4096));
}

TEST_F(Target, WhatArrivedBeforeTheFirstRequestIsNotWaitedFor) {
  target_.OnArrived(3, 4096);
  Request(3, 100'000'000, 10'240, kReserve);
  const double ns = static_cast<double>(kReserve - 4096) * 8e9 / kRate;
  const Duration base_rtt = Params().base_rtt;
  EXPECT_NEAR(static_cast<double>((target_.deadline() - now_ + base_rtt).count()), ns, 2);
}

TEST_F(Target, PacesAtItsRate) {
  for (uint32_t sender = 0; sender != 8; ++sender) {
    Request(sender, 100'000'000, 0, kReserve);
    limits_[sender] = kReserve;
  }
  Run(microseconds(100));  // what the sources send without a grant is waited for
  int64_t sum = 0;
  for (const auto& [sender, octets] : Run(milliseconds(10))) sum += octets;
  EXPECT_NEAR(static_cast<double>(sum), 1e-2 * kRate / 8, 3e-4 * 1e-2 * kRate / 8);
}

TEST_F(Target, SharesByTurns) {
  for (uint32_t sender = 0; sender != 5; ++sender) {
    Request(sender, 100'000'000, 0, kReserve);
    limits_[sender] = kReserve;
  }
  const auto granted = Run(milliseconds(10));
  ASSERT_EQ(granted.size(), 5u);
  for (const auto& [sender, octets] : granted) {
    EXPECT_NEAR(static_cast<double>(octets), 1e-2 * kRate / 8 / 5, 3 * kSlice) << sender;
  }
}

TEST_F(Target, WaitsForWhatComesWithoutAGrant) {
  for (uint32_t sender = 0; sender != 8; ++sender) Request(sender, 1'000'000, 0, kReserve);
  // 8 reserves are 2 BDP: the first grant is due a round trip before they are through.
  const Time due = target_.deadline();
  const double ns = 8.0 * kReserve * 8e9 / kRate - 10'000;
  EXPECT_NEAR(static_cast<double>((due - now_).count()), ns, 2000);
  EXPECT_FALSE(Poll());
  now_ = due;
  EXPECT_TRUE(Poll());
}

TEST_F(Target, KeepsOneBdpInFrontOfThePort) {
  Request(3, 100'000'000, 0, kReserve);
  int64_t limit = 0;
  while (const int64_t next = PollFor(3)) limit = next;
  EXPECT_NEAR(static_cast<double>(limit), kBdp, 2.0 * kSlice);
}

TEST_F(Target, LatePollLosesTheTurns) {
  for (uint32_t sender = 0; sender != 8; ++sender) Request(sender, 100'000'000, 0, kReserve);
  Run(microseconds(100));
  now_ += milliseconds(5);
  int64_t turns = 0;
  while (Poll()) ++turns;
  EXPECT_LE(turns, 11);  // of a round trip
}

TEST_F(Target, RoomLimitsWhatIsOutstanding) {
  for (uint32_t sender = 0; sender != 8; ++sender) Request(sender, 100'000'000, 0, 1024);
  const uint64_t room = 60'000;
  for (int i = 0; i < 1000; ++i) {
    now_ += Duration(37);  // too short for credit to be taken for useless
    while (const auto grant = Poll(room)) EXPECT_LE(target_.outstanding(), room);
  }
  EXPECT_GT(target_.outstanding(), room - kPdu);
  const uint64_t before = target_.outstanding();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Poll(0));
  EXPECT_EQ(target_.outstanding(), before);
  EXPECT_LE(target_.deadline(), now_);  // the room alone is short
}

TEST_F(Target, RoomForOnePduIsEnough) {
  Request(3, 100'000'000, 0, 0);
  EXPECT_FALSE(Poll(kPdu - 1));
  EXPECT_EQ(PollFor(3, kPdu), kPdu);
}

TEST_F(Target, RoomForAllThatIsAskedForIsEnough) {
  Request(3, kPdu / 2, 0, 0);
  EXPECT_FALSE(Poll(kPdu / 2 - 1));
  EXPECT_EQ(PollFor(3, kPdu / 2), kPdu / 2);
}

TEST_F(Target, CreditThatNobodyUsesDoesNotBlockOthers) {
  Request(1, 100'000'000, 0, 1024);
  const uint64_t room = 50'000;
  int64_t last = 0;
  while (const int64_t next = PollFor(1, room)) last = next;
  Request(2, 100'000'000, 0, 1024);
  EXPECT_FALSE(Poll(room));
  now_ += microseconds(40) - Duration(1);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(Poll(room));
  now_ += Duration(1);
  EXPECT_FALSE(Poll(room));
  EXPECT_EQ(PollFor(1, room), last + kSlice) << "a turn is as long as ever";
}

TEST_F(Target, CreditThatNobodyUsesDoesNotBlockOthersWhereATurnIsMoreThanTheRoom) {
  constexpr uint64_t kLittle = 4 * kPdu;
  Request(1, 100'000'000, 0, 0);
  EXPECT_EQ(PollFor(1, kLittle), 4 * kPdu);
  Request(2, 100'000'000, 0, 0);
  EXPECT_FALSE(Poll(kLittle));
  now_ += microseconds(40);
  EXPECT_FALSE(Poll(kLittle));
  EXPECT_EQ(Poll(kLittle)->limit, Credit24::Floor(8 * kPdu));
}

TEST_F(Target, CreditThatIsUsedAfterAllCountsAgainstTheRoomAgain) {
  const uint64_t room = 50'000;
  Request(1, 100'000'000, 0, 1024);
  while (Poll(room)) {
  }
  now_ += microseconds(40);
  EXPECT_FALSE(Poll(room));
  while (Poll(room)) {
  }
  EXPECT_GT(target_.outstanding(), room);
  target_.OnArrived(1, static_cast<uint32_t>(target_.outstanding()));
  now_ += microseconds(20);
  while (Poll(room)) EXPECT_LE(target_.outstanding(), room);
  EXPECT_GT(target_.outstanding(), room / 2);
}

TEST_F(Target, HoldsSendersThatKeepCredit) {
  Request(1, 100'000'000, 0, kReserve);
  now_ += milliseconds(1);
  for (int i = 0; i < 1000; ++i) {
    now_ += microseconds(1);
    Poll();
  }
  EXPECT_LE(target_.outstanding(), static_cast<uint64_t>(kHold));
  EXPECT_GT(target_.outstanding(), static_cast<uint64_t>(kHold - 2 * kSlice));
  EXPECT_EQ(target_.active(), 1u);
  EXPECT_TRUE(target_.idle());  // until something arrives
  EXPECT_NE(target_.deadline(), now_);
  // Other senders have the port for themselves.
  Request(2, 10'000'000, 0, kReserve);
  limits_[2] = kReserve;
  EXPECT_GT(Run(microseconds(100))[2], 10 * kBdp * 9 / 10);
  target_.OnArrived(1, 2 * kSlice);
  target_.CheckInvariants();
  EXPECT_GT(Run(microseconds(10))[1], 0);
}

TEST_F(Target, ASenderKeepsExactlyWhatItMayHold) {
  constexpr int64_t kTurns = 39;
  Request(0, 100'000'000, 0, kHold - kTurns * kSlice);
  for (int i = 0; i < 1000; ++i) {
    now_ += microseconds(1);
    Poll();
  }
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(kHold));
  // The next turn is due once there is room for a whole one.
  ASSERT_TRUE(target_.idle());
  target_.OnArrived(0, kSlice - 1);
  EXPECT_TRUE(target_.idle());
  target_.OnArrived(0, 1);
  EXPECT_FALSE(target_.idle());
}

// hold_bdp is 4 by default: of the largest BDPs that is a quarter of the numbers of credit.
TEST_F(Target, ASenderMayKeepFourOfTheLargestBdps) {
  TargetParams params = Params();
  params.base_rtt = milliseconds(100);
  params.slice = milliseconds(1);
  params.age = std::chrono::seconds(10);
  target_ = CreditTarget(params);
  target_.Resize(1);
  Request(0, 2'000'000'000, 0, 0);
  for (int i = 0; i < 200; ++i) {
    now_ += milliseconds(1);
    Poll(kCreditSpan);
  }
  constexpr uint64_t kMaxOutstanding = 4 * kLargestBdp;
  constexpr uint64_t kTurn = kRate / 8 / 1000;
  EXPECT_LE(target_.outstanding(), kMaxOutstanding);
  EXPECT_GT(target_.outstanding(), kMaxOutstanding - 2 * kTurn);
}

TEST_F(Target, RepeatsAGrantThatWasLost) {
  Request(3, kReserve + kSlice, 0, kReserve);
  const int64_t limit = PollFor(3);
  Request(3, kReserve + kSlice, 0, kReserve);  // crosses the grant
  now_ += Params().base_rtt - Duration(1);
  Request(3, kReserve + kSlice, 0, kReserve);
  EXPECT_EQ(PollFor(3), 0);
  now_ += Duration(1);
  Request(3, kReserve + kSlice, 0, kReserve);
  Request(3, kReserve + kSlice, 0, kReserve);
  EXPECT_EQ(target_.deadline(), Time{});
  EXPECT_EQ(PollFor(3), limit);
  EXPECT_EQ(PollFor(3), 0);
  EXPECT_TRUE(target_.idle());
  Request(3, kReserve + kSlice, 0, kReserve);  // crosses the repeated one
  EXPECT_EQ(PollFor(3), 0);
}

TEST_F(Target, AnswersASourceThatWaitsWithoutRoom) {
  Request(3, 100'000'000, 0, 1024);
  EXPECT_FALSE(Poll(0));
  now_ += microseconds(40);
  Request(3, 100'000'000, 0, 1024);
  EXPECT_EQ(PollFor(3, 0), 1024);
  EXPECT_EQ(PollFor(3, 0), 0);
}

TEST_F(Target, GrantThatCouldNotBeSentComesAgain) {
  Request(3, 100'000'000, 0, kReserve);
  const auto grant = Poll();
  ASSERT_TRUE(grant);
  target_.Requeue(*grant);
  target_.Requeue(*grant);
  target_.Requeue({17, Credit24(1)});  // no such sender
  EXPECT_FALSE(target_.idle());
  const auto again = Poll();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->limit, grant->limit);
  EXPECT_GT(PollFor(3), again->limit.Octets(0));
}

// Where no grant comes for long, a source goes on without one.
TEST_F(Target, GrantsGoOnBehindWhatASourceTookWithoutOne) {
  Request(3, kReserve + 10 * kBdp, 0, kReserve);
  const int64_t limit = PollFor(3);
  const Time due = target_.deadline();
  const int64_t taken = limit + 4 * kPdu;
  Request(3, kReserve + 10 * kBdp, limit, taken);
  // The port receives that first, so the next grant is due later.
  const double ns = 4.0 * kPdu * 8e9 / kRate;
  EXPECT_NEAR(static_cast<double>((target_.deadline() - due).count()), ns, 2);
  now_ += microseconds(10);
  EXPECT_EQ(PollFor(3), taken + kSlice);
}

TEST_F(Target, ASourceIsFollowedAsFarAsOneMayHaveOutstanding) {
  Request(3, kReserve + 10 * kBdp, 0, kReserve);
  Request(3, kReserve + 10 * kBdp, 0, kReserve + kHold);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(kHold));
  Request(2, kReserve + 10 * kBdp, 0, kReserve);
  Request(2, kReserve + 10 * kBdp, 0, kReserve + kHold + kCreditUnitOctets);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(kHold + kReserve));
}

// The bytes that have arrived of it are not known.
TEST_F(Target, ASourceThatIsMetInTheMidstHasAsMuchOutstandingAsItMay) {
  for (const int64_t sent : {int64_t{10'240'000}, kCreditSpan}) {
    Request(3, sent + 2 * kHold, sent, sent + kReserve);
    EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(kHold)) << sent;
    target_.Forget(3);
  }
}

TEST_F(Target, StragglersChangeNothing) {
  Request(3, 200'000, 100'000, 100'000);
  const auto outstanding = target_.outstanding();
  Request(3, 100'000, 50'000, 50'000);
  EXPECT_EQ(target_.outstanding(), outstanding);
  EXPECT_EQ(target_.active(), 1u);
}

// However many come, one that is in order in between shows that the source goes on.
TEST_F(Target, StragglersThatAreNotInARowChangeNothing) {
  Request(3, 200'000, 100'000, 100'000);
  for (int i = 0; i < 8; ++i) {
    Request(3, 100'000, 50'000, 50'000);
    if (i % 3 == 2) Request(3, 200'000, 100'000, 100'000);
  }
  int64_t limit = 0;
  for (int i = 0; i < 100; ++i) {
    now_ += microseconds(1);
    limit = std::max(limit, PollFor(3));
  }
  EXPECT_EQ(limit, Credit24::Ceil(200'000).Octets(0));
}

TEST_F(Target, FollowsASourceThatBeganAnew) {
  Request(3, 100'000'000, 90'000'000, 90'000'000);
  while (Poll()) {
  }
  for (int i = 0; i < 4; ++i) Request(3, kReserve + kSlice, 0, kReserve);
  now_ += microseconds(100);
  EXPECT_EQ(PollFor(3), kReserve + kSlice);
}

TEST_F(Target, WhatASourceThatBeganAnewHasSentIsCountedAnew) {
  constexpr int64_t kPart = kReserve / 3;
  for (const int64_t sent : {int64_t{0}, 2 * kPart, kReserve}) {
    Request(3, 100'000'000, sent, kReserve);
  }
  for (int i = 0; i < 4; ++i) Request(3, 100'000'000, 2 * kPart, kReserve);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(kReserve));
  now_ += microseconds(40);
  Request(3, 100'000'000, 2 * kPart, kReserve);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(kPart));
}

TEST_F(Target, LostDataIsNoLeak) {
  Request(3, 10'000'000, 0, kReserve);
  int64_t limit = 0;
  while (const int64_t next = PollFor(3)) limit = next;
  EXPECT_GT(target_.outstanding(), 0u);
  // The sender has sent all of it, and nothing arrived.
  Request(3, limit + kReserve, limit, limit);
  now_ += microseconds(100);
  Request(3, limit + kReserve, limit, limit);
  while (Poll()) now_ += microseconds(1);
  EXPECT_EQ(target_.outstanding(), 0u);
}

// Four base RTTs after a request said that it was sent.
TEST_F(Target, WhatWasSentHasArrivedOrIsLostAfterFourBaseRtts) {
  constexpr int64_t kThird = kReserve / 3;
  const auto outstanding = [this](int64_t sent) {
    Request(3, 100'000'000, sent, kReserve);
    return static_cast<int64_t>(target_.outstanding());
  };
  EXPECT_EQ(outstanding(0), kReserve);
  EXPECT_EQ(outstanding(kThird), kReserve);
  now_ += microseconds(1);
  EXPECT_EQ(outstanding(2 * kThird), kReserve);
  now_ += microseconds(39) - Duration(1);
  EXPECT_EQ(outstanding(kReserve), kReserve);
  now_ += Duration(1);
  EXPECT_EQ(outstanding(kReserve), 2 * kThird);
  now_ += microseconds(40) - Duration(1);
  EXPECT_EQ(outstanding(kReserve), 2 * kThird);
  now_ += Duration(1);
  EXPECT_EQ(outstanding(kReserve), 0);
}

TEST_F(Target, WritesOffEverySenderThatIsSilentBetweenOneAndTwoAges) {
  for (const uint32_t senders : {8u, 33u, 64u}) {
    target_ = CreditTarget(Params());
    target_.Resize(senders);
    for (uint32_t sender = 0; sender != senders; ++sender) {
      Request(sender, 100'000'000, 0, kReserve);
    }
    const Time begin = now_;
    for (; now_ - begin < Params().age; now_ += microseconds(10)) {
      while (Poll()) {
      }
    }
    EXPECT_EQ(target_.active(), senders);
    for (; now_ - begin <= 2 * Params().age; now_ += microseconds(10)) {
      while (Poll()) {
      }
    }
    EXPECT_EQ(target_.active(), 0u) << senders;
    EXPECT_EQ(target_.outstanding(), 0u) << senders;
  }
}

TEST_F(Target, WritesOffASenderThatIsGone) {
  Request(1, 100'000'000, 0, kReserve);
  Request(2, 100'000'000, 0, kReserve);
  while (Poll()) {
  }
  target_.OnArrived(2, 1000);
  const Time begin = now_;
  while (target_.deadline() != kNever) {
    now_ = std::max(now_ + microseconds(10), target_.deadline());
    while (Poll()) {
    }
    ASSERT_LT(now_ - begin, milliseconds(100));
  }
  EXPECT_EQ(target_.outstanding(), 0u);
  EXPECT_EQ(target_.active(), 0u);
  EXPECT_GE(now_ - begin, Params().age);
  // Sender 1 was not gone: it goes on from its limit.
  Request(1, 200'000'000, 100'000, 100'000);
  EXPECT_EQ(target_.outstanding(), 0u);
  const int64_t limit = PollFor(1);
  EXPECT_GT(limit, 100'000);
  EXPECT_GT(PollFor(1), limit);
}

// Its requests may all be lost.
TEST_F(Target, ASenderWhoseDataArrivesIsNotSilent) {
  Request(1, 100'000'000, 0, kReserve);
  for (const Time begin = now_; now_ - begin < 4 * Params().age; now_ += microseconds(100)) {
    Poll();
    target_.OnArrived(1, 1);
  }
  EXPECT_EQ(target_.active(), 1u);
}

// It has its reserve, and once it has a backlog again, that arrives.
TEST_F(Target, TheReserveOfASenderThatWasWrittenOffCountsWhenItIsUsed) {
  constexpr int64_t kBegun = 5120;
  constexpr int64_t kLimit = kReserve + kBegun;
  Request(3, kLimit, kBegun, kReserve);
  ASSERT_EQ(PollFor(3), kLimit);
  // The unit by which a source may have rounded its request up is not waited for.
  constexpr int64_t kCharged = kBegun - kCreditUnitOctets;
  ASSERT_EQ(target_.outstanding(), static_cast<uint64_t>(kCharged));
  for (; target_.deadline() != kNever; Poll()) now_ = target_.deadline();
  ASSERT_EQ(target_.outstanding(), 0u);
  Request(3, 100'000'000, 2 * kBegun, kLimit);
  EXPECT_EQ(target_.outstanding(), static_cast<uint64_t>(kLimit - kBegun));
}

TEST_F(Target, ForgetsASender) {
  Request(1, 100'000'000, 0, kReserve);
  Request(2, 100'000'000, 0, kReserve);
  const auto grant = Poll();
  target_.Requeue(*grant);
  target_.Forget(1);
  target_.CheckInvariants();
  EXPECT_EQ(target_.active(), 1u);
  target_.Forget(2);
  target_.Forget(100);
  EXPECT_EQ(target_.outstanding(), 0u);
  EXPECT_FALSE(Poll());
  EXPECT_TRUE(target_.idle());
  Request(1, kReserve + kSlice, 0, kReserve);
  now_ += microseconds(100);
  EXPECT_EQ(PollFor(1), kReserve + kSlice);
}

TEST_F(Target, AForgottenSenderTakesNoGrantFromThoseBehindIt) {
  for (uint32_t sender = 1; sender != 4; ++sender) Request(sender, kReserve + kPdu, 0, kReserve);
  std::vector<CreditTarget::Grant> grants;
  for (int i = 0; i != 3; ++i) {
    now_ = std::max(now_, target_.deadline());
    grants.push_back(*Poll());
  }
  for (const auto& grant : grants) target_.Requeue(grant);
  target_.Forget(grants[0].sender);
  target_.CheckInvariants();
  for (int i = 1; i != 3; ++i) {
    const auto again = Poll();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->sender, grants[static_cast<size_t>(i)].sender);
  }
  EXPECT_FALSE(Poll());
}

TEST_F(Target, GrantsThatCouldNotBeSentComeAgainInOrderAndOnce) {
  std::vector<CreditTarget::Grant> grants;
  for (uint32_t sender = 1; sender != 4; ++sender) {
    Request(sender, kReserve + kPdu, 0, kReserve);
    now_ = std::max(now_, target_.deadline());
    grants.push_back(*Poll());
  }
  for (const size_t count : {3u, 1u, 2u}) {
    for (size_t i = 0; i != count; ++i) target_.Requeue(grants[i]);
    for (size_t i = 0; i != count; ++i) EXPECT_EQ(PollFor(grants[i].sender), kReserve + kPdu);
    EXPECT_FALSE(Poll());
  }
}

TEST_F(Target, FactsOfSendersThatThereAreNotChangeNothing) {
  for (const uint32_t sender : {8u, 100u}) {
    Request(sender, 100'000'000, 0, kReserve);
    target_.OnArrived(sender, 1000);
    target_.Requeue({sender, Credit24(1)});
    target_.Forget(sender);
    target_.CheckInvariants();
  }
  EXPECT_TRUE(target_.idle());
  EXPECT_FALSE(Poll());
}

TEST_F(Target, ResizeForgetsAllSenders) {
  for (uint32_t sender = 0; sender != 8; ++sender) Request(sender, 100'000'000, 0, 0);
  std::vector<CreditTarget::Grant> grants;
  while (const auto grant = Poll()) grants.push_back(*grant);
  for (const auto& grant : grants) target_.Requeue(grant);
  target_.Resize(2);
  target_.CheckInvariants();
  EXPECT_TRUE(target_.idle());
  EXPECT_EQ(target_.active(), 0u);
  EXPECT_EQ(target_.outstanding(), 0u);
  EXPECT_EQ(target_.deadline(), kNever);
  EXPECT_FALSE(Poll());
  now_ += milliseconds(1);
  Request(1, kReserve + kPdu, 0, kReserve);
  EXPECT_EQ(PollFor(1), kReserve + kPdu);
}

// A sender that wants credit after all claims its part at once, so that others make way for it.
TEST_F(Target, ClaimsItsPartOnceASenderWantsCredit) {
  EXPECT_EQ(target_.claims(), 0u);
  Request(1, 100'000'000, 0, 0);
  EXPECT_EQ(target_.claims(), 1u);
  EXPECT_FALSE(Poll(0));
  EXPECT_EQ(target_.claims(), 0u);
  Request(1, 0, 0, 0);
  ASSERT_EQ(target_.active(), 0u);
  Request(2, 100'000'000, 0, 0);
  EXPECT_EQ(target_.claims(), 1u);
}

// With others, but without senders of its own, a queue pair counts as one.
TEST_F(Target, AnIdleQueuePairThatIsToldOfOthersGrantsItsPartLater) {
  target_.SetOthers(6);
  Request(3, 100'000'000, 0, kReserve);
  limits_[3] = kReserve;
  Run(microseconds(200));
  int64_t sum = 0;
  for (const auto& [sender, octets] : Run(milliseconds(10))) sum += octets;
  EXPECT_NEAR(static_cast<double>(sum), 1e-2 * kRate / 8 / 6, 2.0 * kSlice);
}

TEST_F(Target, SharesThePortWithOtherQueuePairs) {
  for (uint32_t sender = 0; sender != 2; ++sender) {
    Request(sender, 100'000'000, 0, kReserve);
    limits_[sender] = kReserve;
  }
  target_.SetOthers(6);
  Run(microseconds(100));
  int64_t sum = 0;
  for (const auto& [sender, octets] : Run(milliseconds(10))) sum += octets;
  EXPECT_NEAR(static_cast<double>(sum), 1e-2 * kRate / 8 / 4, 2.0 * kSlice);
  target_.SetOthers(0);
  sum = 0;
  for (const auto& [sender, octets] : Run(milliseconds(5))) sum += octets;
  EXPECT_NEAR(static_cast<double>(sum), 5e-3 * kRate / 8, 1.0 * kBdp);
}

TEST_F(Target, FollowsTheRateOfThePort) {
  for (uint32_t sender = 0; sender != 2; ++sender) {
    Request(sender, 100'000'000, 0, kReserve);
    limits_[sender] = kReserve;
    target_.OnArrived(sender, kReserve);
  }
  Run(milliseconds(1));
  for (const uint64_t part : {10, 100, 1}) {
    TargetParams params = Params();
    params.rate_bps = kRate / part;
    target_.SetRate(params);
    target_.SetOthers(0);
    target_.CheckInvariants();
    Run(milliseconds(1));
    int64_t sum = 0;
    for (const auto& [sender, octets] : Run(milliseconds(5))) sum += octets;
    const double rate = 5e-3 * kRate / 8 / static_cast<double>(part);
    EXPECT_NEAR(static_cast<double>(sum), rate, 0.01 * rate + 2 * kSlice) << part;
  }
}

TEST_F(Target, OutstandingCreditStaysWithinWhatASlowerPortHolds) {
  Request(3, 100'000'000, 0, kReserve);
  while (PollFor(3) != 0) now_ += microseconds(1);
  EXPECT_GT(target_.outstanding(), 400'000u);
  TargetParams params = Params();
  params.rate_bps = kRate / 10;
  target_.SetRate(params);
  target_.CheckInvariants();
  EXPECT_LT(target_.outstanding(), 60'000u);
}

TEST_F(Target, AFasterPortFreesSendersThatWereHeld) {
  Request(0, 100'000'000, 0, kReserve);
  for (int i = 0; i < 1000; ++i) {
    now_ += microseconds(1);
    Poll();
  }
  ASSERT_TRUE(target_.idle());
  TargetParams params = Params();
  params.rate_bps = 10 * kRate;
  target_.SetRate(params);
  target_.CheckInvariants();
  EXPECT_FALSE(target_.idle());
  EXPECT_NE(PollFor(0), 0);
}

TEST_F(Target, ALiarTakesNothingFromOthers) {
  Request(0, 1'000'000'000, 0, kReserve);
  limits_[0] = kReserve;
  Run(microseconds(100));
  std::mt19937_64 random(7);
  int64_t sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const CreditRequest lie = {Credit24(static_cast<uint32_t>(random())),
                               Credit24(static_cast<uint32_t>(random())),
                               Credit24(static_cast<uint32_t>(random()))};
    target_.OnRequest(1, lie, now_);
    target_.CheckInvariants();
    const auto granted = Run(microseconds(10));
    sum += granted.contains(0) ? granted.at(0) : 0;
  }
  // Every tenth part of a round trip it asks for anything, and half of the port is its at most.
  EXPECT_GT(static_cast<double>(sum), 0.45 * 1e-2 * kRate / 8);
}

// Two queue pairs of one port, which share its rate by their claims.
class SharedPort : public ::testing::Test {
 protected:
  static constexpr uint64_t kRate = 99'500'000'000;
  static constexpr double kOctetsPerNs = 1e-9 * kRate / 8;
  static constexpr uint64_t kRoom = 1 << 30;
  static constexpr int64_t kMuch = 100'000'000;

  struct QueuePair {
    explicit QueuePair(uint32_t senders) : target(Params()), limits(senders) {
      target.Resize(senders);
    }
    CreditTarget target;
    std::vector<int64_t> limits;
    uint32_t shown = 0;
    uint32_t others = 0;
    int64_t granted = 0;
    double room = kRoom;     // that is left in its rings
    double read_per_ns = 0;  // octets that its client reads; 0: its room stays
    uint32_t silent = 0;     // the first senders, which keep what they are granted
  };

  static TargetParams Params() {
    TargetParams params;
    params.rate_bps = kRate;
    params.largest_octets = 4150;
    return params;
  }
  void AskMuch(QueuePair& pair) const {
    for (uint32_t sender = 0; sender != pair.limits.size(); ++sender) {
      const Credit24 limit = Credit24::Floor(pair.limits[sender]);
      const Credit24 sent = sender < pair.silent ? Credit24() : limit;
      pair.target.OnRequest(sender, {Credit24::Floor(pair.limits[sender] + kMuch), sent, limit},
                            now_);
    }
  }
  void Turn(QueuePair& pair) {
    const uint32_t others = all_ - pair.shown;
    if (pair.target.deadline() > now_ && others == pair.others) return;
    pair.others = others;
    pair.target.SetOthers(others);
    while (const auto grant = pair.target.Poll(now_, static_cast<uint64_t>(pair.room))) {
      int64_t& limit = pair.limits[grant->sender];
      const int64_t more = grant->limit.Octets(limit) - limit;
      limit += more;
      if (grant->sender < pair.silent) continue;
      pair.granted += more;
      pair.room -= pair.read_per_ns == 0 ? 0 : static_cast<double>(more);
      pair.target.OnArrived(grant->sender, static_cast<uint32_t>(more));
    }
    pair.target.CheckInvariants();
    all_ += pair.target.claims() - pair.shown;
    pair.shown = pair.target.claims();
  }
  // Parts of the rate that the two pairs are granted.
  std::pair<double, double> Run(QueuePair& one, QueuePair& other, Duration time) {
    const int64_t before[2] = {one.granted, other.granted};
    const auto step = Duration(100);
    const Time begin = now_;
    for (Time ask = now_; now_ - begin < time; now_ += step) {
      if (now_ >= ask) {
        AskMuch(one);
        AskMuch(other);
        ask = now_ + milliseconds(1);
      }
      for (QueuePair* pair : {&one, &other}) {
        pair->room += pair->read_per_ns * static_cast<double>(step.count());
        Turn(*pair);
      }
    }
    const double all = kOctetsPerNs * static_cast<double>(time.count());
    return {static_cast<double>(one.granted - before[0]) / all,
            static_cast<double>(other.granted - before[1]) / all};
  }

  Time now_ = TimeFromNs(1'000'000);
  uint32_t all_ = 0;
};

TEST_F(SharedPort, IsDividedByTheNumberOfSenders) {
  QueuePair many(31);
  QueuePair one(1);
  Run(many, one, milliseconds(1));
  const auto [of_many, of_one] = Run(many, one, milliseconds(20));
  EXPECT_NEAR(of_many, 31.0 / 32, 0.01);
  EXPECT_NEAR(of_one, 1.0 / 32, 0.003);
}

TEST_F(SharedPort, IsNotDividedWithAQueuePairThatHasNoRoom) {
  QueuePair full(63);
  full.room = 0;
  QueuePair one(1);
  Run(full, one, milliseconds(1));
  const auto [of_full, of_one] = Run(full, one, milliseconds(10));
  EXPECT_EQ(of_full, 0);
  EXPECT_GT(of_one, 0.98);
}

// The sum stays that of the port: a queue pair that grants now and then claims its part for the
// time of each grant.
TEST_F(SharedPort, OfASlowReaderIsDividedByWhatItReads) {
  for (const double part : {0.02, 0.1, 0.25, 0.5, 0.9}) {
    QueuePair slow(63);
    slow.room = 8 * 4150;
    slow.read_per_ns = part * kOctetsPerNs;
    QueuePair one(1);
    Run(slow, one, milliseconds(1));
    const auto [of_slow, of_one] = Run(slow, one, milliseconds(5));
    EXPECT_NEAR(of_slow, part, 0.02) << part;
    EXPECT_GT(of_slow + of_one, 0.95) << part;
    EXPECT_LT(of_slow + of_one, 1.02) << part;
    all_ = 0;
  }
}

TEST_F(SharedPort, IsNotDividedWithSendersThatKeepTheirCredit) {
  QueuePair kept(63);
  kept.silent = 63;
  QueuePair one(1);
  Run(kept, one, milliseconds(3));  // the time of what they were granted
  EXPECT_GT(Run(kept, one, milliseconds(10)).second, 0.98);
}

TEST_F(SharedPort, ASenderAmongThoseThatKeepTheirCreditCountsAlone) {
  QueuePair kept(63);
  kept.silent = 62;
  QueuePair one(1);
  Run(kept, one, 2 * Params().age + milliseconds(3));
  const auto [of_kept, of_one] = Run(kept, one, milliseconds(10));
  EXPECT_NEAR(of_kept, 0.5, 0.02);
  EXPECT_NEAR(of_one, 0.5, 0.02);
}

// Senders that want little go before others, but not all of them each time: together they may want
// more than there is.
TEST(ManySenders, WhoWantsLittleDoesNotStarveOthers) {
  TargetParams params;
  params.rate_bps = 99'500'000'000;
  params.largest_octets = 4150;
  for (int64_t octets = 6'000; octets != 40'000; octets += 2'000) {
    for (int64_t step = 2; step != 12; ++step) {
      CreditTarget target(params);
      target.Resize(5);
      std::vector<int64_t> limits(5);
      Time now = TimeFromNs(1'000'000);
      for (int i = 0; i < 500; ++i, now += microseconds(step)) {
        for (uint32_t sender = 0; sender != 5; ++sender) {
          const Credit24 limit = Credit24::Floor(limits[sender]);
          target.OnRequest(sender, {Credit24::Ceil(limits[sender] + octets), limit, limit}, now);
        }
        while (const auto grant = target.Poll(now, UINT64_MAX)) {
          int64_t& limit = limits[grant->sender];
          const int64_t more = grant->limit.Octets(limit) - limit;
          limit += more;
          target.OnArrived(grant->sender, static_cast<uint32_t>(more));
          target.CheckInvariants();
        }
      }
      const auto [min, max] = std::minmax_element(limits.begin(), limits.end());
      EXPECT_GT(*min, *max / 3) << octets << " " << step;
    }
  }
}

TEST(ManySenders, NoneStarvesAndMemoryIsBounded) {
  TargetParams params;
  params.rate_bps = 99'500'000'000;
  params.largest_octets = 4150;
  CreditTarget target(params);
  target.Resize(1023);
  Time now = TimeFromNs(77);
  std::vector<int64_t> limits(1023, 32'000);
  std::vector<int64_t> first(1023);
  for (uint32_t sender = 0; sender != 1023; ++sender) {
    target.OnRequest(sender, {Credit24::Floor(900'000'000), Credit24(0), Credit24(125)}, now);
  }
  const Time begin = now;
  int64_t sum = 0;
  while (now - begin < milliseconds(30)) {
    now = std::max(now, target.deadline());
    while (const auto grant = target.Poll(now, UINT64_MAX)) {
      int64_t& limit = limits[grant->sender];
      const int64_t more = grant->limit.Octets(limit) - limit;
      if (first[grant->sender] == 0) first[grant->sender] = (now - begin).count();
      limit += more;
      sum += more;
      target.OnArrived(grant->sender, static_cast<uint32_t>(more));
    }
    now += Duration(50);
  }
  const auto [min, max] = std::minmax_element(limits.begin(), limits.end());
  EXPECT_LE(*max - *min, 2 * 12'544 + 4150);
  EXPECT_GT(*min, 10 * 12'544);
  EXPECT_LE(*std::max_element(first.begin(), first.end()) - first[0], 1'500'000);
  EXPECT_EQ(target.active(), 1023u);
  // All senders fall silent.
  while (target.deadline() != kNever && now - begin < milliseconds(200)) {
    now = std::max(now + microseconds(1), target.deadline());
    while (target.Poll(now, 0)) {
    }
  }
  EXPECT_EQ(target.outstanding(), 0u);
  EXPECT_EQ(target.active(), 0u);
  target.CheckInvariants();
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace suede
