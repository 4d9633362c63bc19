// SPDX-License-Identifier: Apache-2.0
// Credit of a link (docs/link.md): counters, updates, and the two state machines by
// themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "link/credit_receiver.h"
#include "link/credit_sender.h"
#include "link/link_credit.h"

namespace suede {
namespace {

using Kind = CreditVerdict::Kind;

constexpr Time At(int64_t us) { return TimeFromNs(1'000'000'000 + us * 1000); }

CreditGrant GrantOf(std::initializer_list<uint32_t> limits) {
  CreditGrant grant;
  std::ranges::copy(limits, grant.limits.begin());
  return grant;
}

CreditUpdate UpdateOf(uint16_t serial, uint32_t vc, uint32_t counter) {
  CreditUpdate update{.serial = serial, .vcs = 1u << vc};
  update.counters[vc] = Credit20(counter);
  return update;
}

TEST(LinkCredit, CountersAreCyclic) {
  const Credit20 last((1u << 20) - 1);
  EXPECT_EQ(last.Plus(1).value(), 0u);
  EXPECT_EQ(Credit20(0).Plus(-1), last);
  EXPECT_EQ(last.Plus(5).DistanceFrom(last), 5);
  EXPECT_EQ(last.DistanceFrom(last.Plus(5)), -5);
  std::mt19937 dice(1);
  for (int i = 0; i < 10'000; ++i) {
    const Credit20 from(static_cast<uint32_t>(dice()));
    const auto way = static_cast<int32_t>(dice() % (1u << 20)) - (1 << 19);
    EXPECT_EQ(from.Plus(way).DistanceFrom(from), way);
  }
}

TEST(LinkCredit, AFrameHasTheCreditsOfItsOctets) {
  const CreditRule plain;
  EXPECT_EQ(plain.CreditsOf(1), 1u) << "padded to 60";
  EXPECT_EQ(plain.CreditsOf(128), 1u);
  EXPECT_EQ(plain.CreditsOf(129), 2u);
  EXPECT_EQ(plain.CreditsOf(4096), 32u);
  const CreditRule more{.shift = 7, .overhead = 24};
  EXPECT_EQ(more.CreditsOf(104), 1u);
  EXPECT_EQ(more.CreditsOf(105), 2u);
  const CreditRule less{.shift = 5, .overhead = -16};
  EXPECT_EQ(less.CreditsOf(60), 2u) << "44 octets";
  EXPECT_EQ(less.CreditsOf(80), 2u);
  EXPECT_EQ(less.CreditsOf(81), 3u);
}

TEST(LinkCredit, AGrantHasToPermitTheLargestFrame) {
  EXPECT_TRUE(GrantOf({32, 0, 40}).Permits(4096));
  EXPECT_FALSE(GrantOf({31, 0, 40}).Permits(4096));
  EXPECT_FALSE(GrantOf({kMaxLinkCredits + 1}).Permits(60));
  CreditGrant grant = GrantOf({100});
  grant.rule.shift = 13;
  EXPECT_FALSE(grant.Permits(60));
  grant.rule = {.overhead = 128};
  EXPECT_FALSE(grant.Permits(60));
  for (const int16_t overhead : std::initializer_list<int16_t>{-17, -16, 127, 128}) {
    grant.rule = {.overhead = overhead};
    EXPECT_EQ(grant.Permits(60), overhead == -16 || overhead == 127) << overhead;
  }
  for (const uint8_t shift : std::initializer_list<uint8_t>{4, 5, 12, 13}) {
    grant.rule = {.shift = shift};
    EXPECT_EQ(grant.Permits(60), shift == 5 || shift == 12) << int{shift};
  }
  EXPECT_TRUE(GrantOf({kMaxLinkCredits}).Permits(60));
  EXPECT_EQ(GrantOf({1, 0, 3}).controlled(), 0b101u);
}

TEST(CreditUpdate, TheBodyIsThePages) {
  CreditUpdate update = UpdateOf(0x0506, 3, 0xabcde);
  update.vcs |= 1u << 31;
  update.starts = 1u << 31;
  update.counters[31] = Credit20(1);
  update.serial = 0;
  uint8_t body[CreditUpdate::kMaxBytes];
  const uint32_t bytes = EncodeCreditUpdate(update, body);
  const uint8_t expected[] = {2, 0, 0, 0, 0x18, 0x0a, 0xbc, 0xde, 0xfc, 0, 0, 1};
  ASSERT_EQ(bytes, sizeof expected);
  EXPECT_EQ(std::memcmp(body, expected, bytes), 0);
  EXPECT_EQ(DecodeCreditUpdate(body, bytes), update);
}

TEST(CreditUpdate, AnyUpdateComesBack) {
  std::mt19937 dice(7);
  for (int i = 0; i < 2000; ++i) {
    CreditUpdate update;
    update.vcs = static_cast<uint32_t>(dice()) | 1u;
    if (i % 16 == 0) update.vcs = ~0u;
    update.starts = update.vcs & static_cast<uint32_t>(dice());
    for (uint32_t vc = 0; vc < kLinkVcs; ++vc) {
      if ((update.vcs >> vc & 1) != 0)
        update.counters[vc] = Credit20(static_cast<uint32_t>(dice()));
    }
    uint8_t body[CreditUpdate::kMaxBytes];
    const uint32_t bytes = EncodeCreditUpdate(update, body);
    EXPECT_EQ(DecodeCreditUpdate(body, bytes), update);
    EXPECT_FALSE(DecodeCreditUpdate(body, bytes - 1).has_value());
  }
}

TEST(CreditUpdate, IllFormedBodiesAreRefused) {
  CreditUpdate update = UpdateOf(0, 3, 5);
  update.vcs |= 1u << 7;
  uint8_t body[CreditUpdate::kMaxBytes + 4] = {};
  const uint32_t bytes = EncodeCreditUpdate(update, body);
  EXPECT_FALSE(DecodeCreditUpdate(body, 3).has_value());
  body[0] = 0;
  EXPECT_FALSE(DecodeCreditUpdate(body, bytes).has_value()) << "no entry";
  body[0] = 33;
  EXPECT_FALSE(DecodeCreditUpdate(body, sizeof body).has_value()) << "more than link VCs";
  body[0] = 2;
  std::swap(body[4], body[8]);
  EXPECT_FALSE(DecodeCreditUpdate(body, bytes).has_value()) << "not in order";
  body[4] = body[8];
  EXPECT_FALSE(DecodeCreditUpdate(body, bytes).has_value()) << "twice";
}

TEST(CreditSender, AControlledLinkVcIsClosedUntilTheReceiverHasAnswered) {
  CreditSender sender;
  EXPECT_TRUE(sender.MaySend(0, 1000)) << "off";
  sender.Start(GrantOf({100, 0}), At(0));
  EXPECT_FALSE(sender.MaySend(0, 1));
  EXPECT_TRUE(sender.MaySend(1, 1'000'000)) << "uses no credit";
  const auto start = sender.Poll(At(0));
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->vcs, 1u);
  EXPECT_EQ(start->starts, 1u);
  EXPECT_EQ(start->counters[0], Credit20(0));
  EXPECT_FALSE(sender.Poll(At(255)).has_value());
  EXPECT_TRUE(sender.Poll(At(256)).has_value()) << "lost: said again";
  // The receiver still holds frames of 30 credits from before.
  EXPECT_TRUE(sender.OnFreed(UpdateOf(1, 0, (1u << 20) - 30)).opened);
  EXPECT_EQ(sender.free(0), 70u);
  EXPECT_TRUE(sender.MaySend(0, 70));
  EXPECT_FALSE(sender.MaySend(0, 71));
  sender.Stop();
  EXPECT_TRUE(sender.MaySend(0, 1000));
  EXPECT_EQ(sender.deadline(), kNever);
  sender.CheckInvariants();
}

TEST(CreditSender, ImpossibleAndStaleUpdatesChangeNothing) {
  CreditSender sender;
  EXPECT_EQ(sender.OnFreed(UpdateOf(1, 0, 0)).kind, Kind::kOff);
  sender.Start(GrantOf({100}), At(0));
  sender.OnFreed(UpdateOf(5, 0, 0));
  sender.OnSent(0, 40, At(0));
  EXPECT_EQ(sender.OnFreed(UpdateOf(5, 0, 40)).kind, Kind::kStale);
  EXPECT_EQ(sender.OnFreed(UpdateOf(4, 0, 40)).kind, Kind::kStale);
  EXPECT_EQ(sender.OnFreed(UpdateOf(6, 0, 41)).impossible, 1u) << "more freed than used";
  EXPECT_EQ(sender.OnFreed(UpdateOf(7, 0, (1u << 20) - 61)).impossible, 1u) << "above the limit";
  EXPECT_EQ(sender.OnFreed(UpdateOf(8, 1, 0)).impossible, 1u) << "uses no credit";
  EXPECT_EQ(sender.used(0), 40u);
  const CreditVerdict verdict = sender.OnFreed(UpdateOf(9, 0, 40));
  EXPECT_EQ(verdict.kind, Kind::kTaken);
  EXPECT_EQ(verdict.impossible, 0u);
  EXPECT_EQ(sender.used(0), 0u);
}

TEST(CreditSender, ALinkAtRestSaysNothing) {
  CreditSender sender;
  sender.Start(GrantOf({100}), At(0));
  sender.OnFreed(UpdateOf(1, 0, 0));
  EXPECT_FALSE(sender.Poll(At(0)).has_value());
  EXPECT_EQ(sender.deadline(), kNever);
  sender.OnSent(0, 10, At(1));
  EXPECT_EQ(sender.deadline(), At(257));
  ASSERT_TRUE(sender.Poll(At(257)).has_value());
  EXPECT_EQ(sender.deadline(), At(513));
  sender.OnFreed(UpdateOf(2, 0, 10));
  EXPECT_FALSE(sender.Poll(At(513)).has_value());
  EXPECT_EQ(sender.deadline(), kNever);
  sender.CheckInvariants();
}

struct Receiving : ::testing::Test {
  CreditReceiver receiver{GrantOf({400, 8, 0}), CreditTimes{}};
  void Begin() {
    receiver.Start();
    CreditUpdate start = UpdateOf(1, 0, 0);
    start.vcs = start.starts = 3;
    EXPECT_EQ(receiver.OnConsumed(start, At(0)).kind, Kind::kTaken);
    EXPECT_TRUE(receiver.Poll(At(0)).has_value());
  }
};

TEST_F(Receiving, SaysNothingOfALinkVcWhoseStartItHasNotHeard) {
  EXPECT_EQ(receiver.OnFrame(0, 1000), 0u) << "off";
  Begin();
  EXPECT_EQ(receiver.OnFrame(2, 1000), 0u) << "uses no credit";
  EXPECT_EQ(receiver.OnFrame(0, 1000), 8u);
  // Another epoch: frames that come before the sender counts were sent without credit.
  receiver.Start();
  EXPECT_EQ(receiver.OnFrame(0, 1000), 0u);
  EXPECT_EQ(receiver.deadline(), kNever);
  CreditUpdate start = UpdateOf(2, 0, 0);
  start.starts = 1;
  receiver.OnConsumed(start, At(0));
  const auto update = receiver.Poll(At(0));
  ASSERT_TRUE(update.has_value());
  EXPECT_EQ(update->counters[0], Credit20((1u << 20) - 8)) << "a frame from before is held";
  EXPECT_EQ(receiver.OnFrame(0, 1000), 8u);
  receiver.CheckInvariants();
}

TEST_F(Receiving, FreedCreditIsToldByOctetsOrByTime) {
  Begin();
  const uint32_t small = receiver.OnFrame(0, 1000);
  receiver.OnDrained(0, small, At(10));
  EXPECT_FALSE(receiver.Poll(At(14)).has_value());
  const auto by_time = receiver.Poll(At(15));
  ASSERT_TRUE(by_time.has_value());
  EXPECT_EQ(by_time->counters[0], Credit20(8));
  EXPECT_EQ(receiver.deadline(), kNever);
  for (int i = 0; i < 7; ++i) {
    receiver.OnDrained(0, receiver.OnFrame(0, 1000), At(20));
    EXPECT_EQ(receiver.Poll(At(20)).has_value(), i == 6) << "6400 octets";
  }
  // A quarter of a small limit is enough.
  receiver.OnDrained(1, receiver.OnFrame(1, 256), At(30));
  const auto small_limit = receiver.Poll(At(30));
  ASSERT_TRUE(small_limit.has_value());
  EXPECT_EQ(small_limit->vcs, 1u << 1) << "of the other link VC all was told";
  receiver.CheckInvariants();
}

TEST_F(Receiving, WhatWasLostOrCameTwiceIsRepaired) {
  Begin();
  receiver.OnDrained(0, receiver.OnFrame(0, 1000), At(1));
  receiver.Poll(At(6));
  EXPECT_EQ(receiver.OnConsumed(UpdateOf(2, 0, 20), At(10)).repaired, 12u);
  auto update = receiver.Poll(At(10));
  ASSERT_TRUE(update.has_value()) << "a CC_Update is answered";
  EXPECT_EQ(update->counters[0], Credit20(20));
  receiver.OnDrained(0, receiver.OnFrame(0, 1000), At(11));
  receiver.OnDrained(0, receiver.OnFrame(0, 1000), At(11));  // the same one again
  EXPECT_EQ(receiver.OnConsumed(UpdateOf(3, 0, 28), At(12)).repaired, 8u);
  update = receiver.Poll(At(12));
  ASSERT_TRUE(update.has_value());
  EXPECT_EQ(update->counters[0], Credit20(28));
  receiver.CheckInvariants();
}

TEST_F(Receiving, ImplausibleCountersChangeNothingUntilTheyPersist) {
  Begin();
  uint16_t serial = 2;
  for (int i = 0; i < 7; ++i, ++serial) {
    EXPECT_EQ(receiver.OnConsumed(UpdateOf(serial, 0, 801), At(1)).impossible, 1u);
    EXPECT_EQ(receiver.counted(0), Credit20(0));
  }
  EXPECT_EQ(receiver.OnConsumed(UpdateOf(serial++, 0, 801), At(1)).repaired, 801u);
  EXPECT_EQ(receiver.OnConsumed(UpdateOf(serial++, 0, 400), At(1)).impossible, 1u);
  EXPECT_EQ(receiver.OnConsumed(UpdateOf(serial++, 0, 401), At(1)).impossible, 0u);
  EXPECT_EQ(receiver.OnConsumed(UpdateOf(serial++, 2, 0), At(1)).impossible, 1u)
      << "uses no credit";
  CreditUpdate start = UpdateOf(serial, 0, 100'000);
  start.starts = 1;
  EXPECT_EQ(receiver.OnConsumed(start, At(1)).impossible, 0u) << "a sender that begins anew";
  EXPECT_EQ(receiver.counted(0), Credit20(100'000));
  EXPECT_EQ(receiver.OnConsumed(start, At(1)).kind, Kind::kStale);
  receiver.Stop();
  EXPECT_EQ(receiver.deadline(), kNever);
  EXPECT_EQ(receiver.OnConsumed(UpdateOf(99, 0, 0), At(1)).kind, Kind::kOff);
}

TEST_F(Receiving, ASenderThatExceedsItsCreditIsSeen) {
  Begin();
  for (int i = 0; i < 4; ++i) {
    receiver.OnFrame(1, 256);
    EXPECT_TRUE(receiver.IsWithin(1));
  }
  receiver.OnFrame(1, 60);
  EXPECT_FALSE(receiver.IsWithin(1));
  EXPECT_TRUE(receiver.IsWithin(0));
}

TEST_F(Receiving, AnUpdateThatCouldNotBeSentIsDueAgain) {
  Begin();
  receiver.OnDrained(0, receiver.OnFrame(0, 6400), At(1));
  const auto first = receiver.Poll(At(1));
  ASSERT_TRUE(first.has_value());
  receiver.Unsent(*first, At(1));
  const auto second = receiver.Poll(At(1));
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->counters[0], first->counters[0]);
  EXPECT_EQ(second->serial, first->serial + 1);
}

// The neighbour may have restarted: its serials and counters are new.
TEST_F(Receiving, AnEpochThatBeginsAnewOwesNothingOfTheLast) {
  Begin();
  receiver.OnConsumed(UpdateOf(9, 0, 0), At(1));
  receiver.OnDrained(0, receiver.OnFrame(0, 6400), At(1));
  ASSERT_EQ(receiver.deadline(), At(1));
  receiver.Start();
  EXPECT_EQ(receiver.started(), 0u);
  EXPECT_EQ(receiver.deadline(), kNever);
  EXPECT_FALSE(receiver.Poll(At(100)).has_value());
  EXPECT_EQ(receiver.freed(0), Credit20(0));
  Begin();
  receiver.CheckInvariants();
}

TEST_F(Receiving, HeldFramesOutliveAnEpoch) {
  Begin();
  const uint32_t credits = receiver.OnFrame(0, 1000);
  receiver.Stop();
  EXPECT_EQ(receiver.OnFrame(0, 1000), 0u);
  EXPECT_EQ(receiver.held(0), credits);
  Begin();
  EXPECT_EQ(receiver.freed(0), Credit20(0).Plus(-static_cast<int32_t>(credits)));
  receiver.OnDrained(0, credits, At(1));
  EXPECT_EQ(receiver.unannounced(0), credits);
  receiver.CheckInvariants();
}

}  // namespace
}  // namespace suede
