// SPDX-License-Identifier: Apache-2.0
#include "path/peer_paths.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace suede {
namespace {

constexpr std::array<uint32_t, kMaxPlanes> kNothing{};

PeerPaths WithWeights(std::array<uint32_t, kMaxPlanes> weights) {
  PeerPaths paths;
  for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) paths.SetWeight(plane, weights[plane]);
  paths.SetUsable(0xf);
  return paths;
}

// Shares of an instance whose destinations all have these paths.
PlaneShares SharesOf(const PeerPaths& paths) {
  PlaneShares shares;
  shares.Begin(paths.share);
  return shares;
}

TEST(PeerPaths, NoPlaneOfAnEmptyMask) {
  const PeerPaths paths = WithWeights({1, 1, 1, 1});
  EXPECT_EQ(paths.Choose(0, kNothing, SharesOf(paths), 1000), PeerPaths::kNoPlane);
  EXPECT_EQ(paths.Draw(0, 7), PeerPaths::kNoPlane);
}

// The number of `pdus` PDUs that each plane gets. `at_once` of them are in flight at a time, and
// the eldest is acknowledged first.
std::array<uint32_t, kMaxPlanes> Shares(PeerPaths& paths, uint32_t pdus, uint32_t bytes,
                                        uint32_t at_once = 1) {
  std::array<uint32_t, kMaxPlanes> shares{};
  std::deque<uint32_t> inflight;
  for (uint32_t i = 0; i < pdus; ++i) {
    if (inflight.size() == at_once) {
      paths.OnEnd(PlaneIndex(inflight.front()), bytes);
      inflight.pop_front();
    }
    const PlaneIndex plane(paths.Choose(0xf, kNothing, SharesOf(paths), bytes));
    ++shares[plane];
    paths.OnSend(plane, bytes);
    inflight.push_back(plane);
  }
  for (const uint32_t plane : inflight) paths.OnEnd(PlaneIndex(plane), bytes);
  return shares;
}

TEST(PeerPaths, OneWithMoreInFlightForItsWeightIsPassedOver) {
  PeerPaths paths = WithWeights({4, 2, 1, 1});
  constexpr uint32_t kBytes = 100;
  paths.inflight_bytes = {3999, 2000, 1000, 1000};
  EXPECT_EQ(paths.Choose(0xf, kNothing, SharesOf(paths), kBytes), 0u);
  // Plane 0 has more for its weight than plane 1 would have with the PDU.
  paths.inflight_bytes = {4210, 2000, 1100, 1100};
  EXPECT_EQ(paths.Choose(0xf, kNothing, SharesOf(paths), kBytes), 1u);
  EXPECT_EQ(paths.Choose(0xd, kNothing, SharesOf(paths), kBytes), 0u);  // of those in the mask
  EXPECT_EQ(paths.Choose(0xc, kNothing, SharesOf(paths), kBytes), 2u);
  // The instance's bytes in flight to others count as well.
  EXPECT_EQ(paths.Choose(0xf, {0, 5000, 0, 5000}, SharesOf(paths), kBytes), 0u);
  EXPECT_EQ(paths.Choose(0xe, {0, 5000, 0, 5000}, SharesOf(paths), kBytes), 2u);
}

TEST(PeerPaths, SharesAreThoseOfTheWeightsOneAtATime) {
  PeerPaths paths = WithWeights({4, 2, 1, 1});
  const std::array<uint32_t, kMaxPlanes> shares = Shares(paths, 8000, 1000);
  EXPECT_NEAR(shares[0], 4000, 2);
  EXPECT_NEAR(shares[1], 2000, 2);
  EXPECT_NEAR(shares[2], 1000, 2);
  EXPECT_NEAR(shares[3], 1000, 2);
}

// Where half of the destinations have no route over a plane, it has less in flight: that is no
// reason for the others to take it more.
TEST(PeerPaths, SharesAreThoseOfTheWeightsWhereOtherDestinationsHaveOthers) {
  std::array<PeerPaths, 8> paths;
  std::array<std::array<uint32_t, kMaxPlanes>, 8> shares{};
  PlaneShares mean = SharesOf(WithWeights({4, 4, 4, 2}));
  for (uint32_t peer = 0; peer < paths.size(); ++peer) {
    paths[peer] = WithWeights({4, 4, peer % 2 == 0 ? 0u : 4u, 2});
    paths[peer].SetUsable(peer % 2 == 0 ? 0xb : 0xf);
    paths[peer].PublishShares(mean);
  }
  std::array<uint32_t, kMaxPlanes> bytes{};
  struct Sent {
    uint32_t peer;
    uint32_t plane;
  };
  std::deque<Sent> inflight;
  std::array<uint32_t, 8> sent{};
  uint64_t random = 1;
  for (uint32_t i = 0; i < 80'000; ++i) {
    if (inflight.size() == 64) {
      const Sent first = inflight.front();
      inflight.pop_front();
      paths[first.peer].OnEnd(PlaneIndex(first.plane), 1000);
      bytes[first.plane] -= 1000;
    }
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto peer = static_cast<uint32_t>(random >> 61);
    ++sent[peer];
    const PlaneIndex plane(paths[peer].Choose(paths[peer].usable, bytes, mean, 1000));
    ++shares[peer][plane];
    paths[peer].OnSend(plane, 1000);
    mean.Note(paths[peer].share);
    bytes[plane] += 1000;
    inflight.push_back({peer, plane});
  }
  for (uint32_t peer = 0; peer < paths.size(); ++peer) {
    for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) {
      const double sum = peer % 2 == 0 ? 10 : 14;
      const double want = sent[peer] * paths[peer].weight[plane] / sum;
      EXPECT_NEAR(shares[peer][plane], want, want * 0.02) << peer << ", plane " << plane;
    }
  }
}

// An idle plane of a small weight has no more bandwidth left than a busy one of a great weight.
TEST(PeerPaths, SharesAreThoseOfTheWeightsWithAFewInFlight) {
  for (const uint32_t at_once : {1, 2, 4, 16, 64}) {
    for (const uint32_t bytes : {16, 64, 4000}) {
      PeerPaths paths = WithWeights({1000, 1, 1, 1});
      const std::array<uint32_t, kMaxPlanes> shares = Shares(paths, 100300, bytes, at_once);
      const std::string what =
          std::to_string(at_once) + " in flight of " + std::to_string(bytes) + " bytes";
      EXPECT_NEAR(shares[0], 100000, 20) << what;
      for (uint32_t plane = 1; plane < kMaxPlanes; ++plane) {
        EXPECT_NEAR(shares[plane], 100, 6) << what << ", plane " << plane;
      }
    }
  }
}

TEST(PeerPaths, SharesHoldForTheGreatestWeightAndTheLightestPdu) {
  PeerPaths paths = WithWeights({65535, 65535, 6554, 1});
  const std::array<uint32_t, kMaxPlanes> shares = Shares(paths, 2'000'000, 16);
  EXPECT_NEAR(shares[0], 952'000, 9520);
  EXPECT_NEAR(shares[1], 952'000, 9520);
  EXPECT_NEAR(shares[2], 95'200, 9520);
  EXPECT_NEAR(shares[3], 15, 3);
}

// The first PDU to each of many peers, none of which has sent yet, goes by weight as well.
TEST(PeerPaths, TheFirstTakesTheGreatestWeight) {
  const PeerPaths paths = WithWeights({1, 1, 1, 1000});
  EXPECT_EQ(paths.Choose(0xf, kNothing, SharesOf(paths), 1000), 3u);
  EXPECT_EQ(paths.Choose(0xf, {0, 0, 0, 50'000}, SharesOf(paths), 1000), 3u);
}

// Callers go on until a plane is left out of the mask: each mask must yield a plane.
TEST(PeerPaths, OneIsChosenWhateverTheyCarry) {
  PeerPaths paths = WithWeights({50000, 50000, 50000, 1});
  EXPECT_NE(paths.Choose(0xf, kNothing, SharesOf(paths), 0), PeerPaths::kNoPlane);
  paths.inflight_bytes = {1u << 30, 1u << 30, 1u << 30, 1u << 30};
  for (const auto mask : std::initializer_list<PlaneMask>{0x1, 0x3, 0x8, 0xf}) {
    EXPECT_NE(paths.Choose(mask, kNothing, SharesOf(paths), 0), PeerPaths::kNoPlane);
    EXPECT_NE(paths.Choose(mask, kNothing, SharesOf(paths), 4128), PeerPaths::kNoPlane);
  }
}

TEST(PeerPaths, SharesHoldWhenTheSumsAreRebased) {
  PeerPaths paths = WithWeights({1, 1, 1, 1});
  for (const uint32_t share : Shares(paths, 40'000, 100)) EXPECT_EQ(share, 10'000u);
  for (const uint32_t sum : paths.carried) EXPECT_LT(sum, 1u << 31);
}

// A plane that took nothing for long gets its share again, and the amount that it is owed is
// bounded.
TEST(PeerPaths, WhatAPlaneIsOwedIsBounded) {
  PeerPaths paths = WithWeights({1, 1, 1, 1});
  for (int i = 0; i < 100'000; ++i) {
    const PlaneIndex plane(paths.Choose(0x7, kNothing, SharesOf(paths), 1000));
    paths.OnSend(plane, 1000);
    paths.OnEnd(plane, 1000);
  }
  const std::array<uint32_t, kMaxPlanes> shares = Shares(paths, 4000, 1000);
  EXPECT_GE(shares[3], 1000u);
  EXPECT_LE(shares[3], 1000u + 50);
}

TEST(PeerPaths, HalfOfWhatAPlaneIsOwedIsForgottenWhereEachPduChooses) {
  for (const bool flows : {false, true}) {
    PeerPaths paths = WithWeights({1, 1, 1, 1});
    paths.flows = flows;
    const uint32_t step = PeerPaths::kWeightOne / 1024 * 1000;  // of 1000 bytes
    const uint32_t max = paths.carried_limit - 1;
    paths.carried = {max, max, max, max - (20 * step)};
    paths.OnSend(0, 1000);
    // The PDU of the turn, and 20.
    EXPECT_EQ(PeerPaths::kCarriedBase - paths.carried[3], (1 + (flows ? 20 : 10)) * step);
    EXPECT_EQ(PeerPaths::kCarriedBase - paths.carried[1], step);
  }
}

TEST(PeerPaths, OneThatJoinsOwesNothing) {
  PeerPaths paths = WithWeights({1, 1, 1, 1});
  paths.usable = 0x7;
  paths.carried = {500, 700, 600, 3};
  paths.Join(3);
  EXPECT_EQ(paths.carried[3], 700u);
  paths.carried = {500, 700, 600, 800};
  paths.Join(3);
  EXPECT_EQ(paths.carried[3], 800u);
}

TEST(PeerPaths, DrawsAreInProportionAndMoveOnlyWhatThePlaneHad) {
  const PeerPaths paths = WithWeights({4, 2, 1, 1});
  constexpr uint32_t kDestinations = 40000;
  std::array<uint32_t, kMaxPlanes> had{};
  for (uint32_t key = 0; key < kDestinations; ++key) {
    const PlaneIndex plane(paths.Draw(0xf, key));
    ++had[plane];
    const uint32_t without_0 = paths.Draw(0xe, key);
    EXPECT_NE(without_0, 0u);
    if (plane != 0) {
      EXPECT_EQ(without_0, plane);
    }
    EXPECT_EQ(paths.Draw(0xf, key), plane);
  }
  EXPECT_NEAR(had[0], kDestinations / 2, kDestinations / 50);
  EXPECT_NEAR(had[1], kDestinations / 4, kDestinations / 50);
  EXPECT_NEAR(had[2], kDestinations / 8, kDestinations / 50);
  EXPECT_NEAR(had[3], kDestinations / 8, kDestinations / 50);
}

TEST(PeerPaths, SharesAreUnevenWhereAPlaneThatOthersHaveIsMissing) {
  PeerPaths paths = WithWeights({1, 1, 1, 1});
  PlaneShares shares = SharesOf(paths);
  paths.PublishShares(shares);
  EXPECT_FALSE(shares.any_uneven());
  for (const PlaneMask left : {PlaneMask{1}, PlaneMask{2}, PlaneMask{7}}) {
    paths.SetUsable(left);
    paths.PublishShares(shares);
    EXPECT_TRUE(shares.any_uneven()) << uint32_t{left};
    paths.SetUsable(0);  // it has none of what is sent
    paths.PublishShares(shares);
    EXPECT_FALSE(shares.any_uneven()) << uint32_t{left};
  }
}

TEST(PeerPaths, WeightsAndPartsCountAtOnceInSharesAndCosts) {
  PeerPaths paths = WithWeights({1, 1, 0, 0});
  paths.SetUsable(3);
  paths.SetWeight(0, 3);
  EXPECT_EQ(paths.share[0], PlaneShares::kOne / 4 * 3);
  EXPECT_EQ(paths.share[1], PlaneShares::kOne / 4);
  for (const uint32_t weight : {1u, 100u, 65535u}) {
    paths.SetWeight(0, weight);
    paths.SetWeight(1, weight);
    paths.SetPart(0, PathRate::kWhole / 2);
    EXPECT_NEAR(static_cast<double>(paths.cost[0]) / paths.cost[1], 2, 0.01) << weight;
    EXPECT_NEAR(static_cast<double>(paths.share[1]) / paths.share[0], 2, 0.01) << weight;
  }
}

// 64 KiB to the peer, of which each of four planes carries a part.
TEST(PeerPaths, TheBaseIsTakenAnewSoonEnough) {
  PeerPaths paths = WithWeights({1, 1, 1, 1});
  const uint32_t most = (PeerPaths::kWeightOne / 1024) * ((64u << 10) / 4);
  for (int i = 0; i < 1000; ++i) {
    Shares(paths, 4, 1000);
    for (const uint32_t sum : paths.carried) EXPECT_LT(sum, PeerPaths::kCarriedBase + most);
  }
}

TEST(PeerPaths, TheChoicesOfAllVcsAndTheOnlyPlane) {
  PeerPaths paths;
  paths.choice = {1, 2, 4, 8};
  EXPECT_EQ(paths.choices(), 15);
  paths.OnSendAlone(70);
  paths.OnSendAlone(7);
  EXPECT_EQ(paths.inflight_bytes, (std::array<uint32_t, kMaxPlanes>{77}));
}

// The shares are an average while any peer has others, and the usual ones when none has.
TEST(PeerPaths, SharesOfTheInstanceFollowWhatIsSentWhileAnyPeerHasOthers) {
  PlaneShares shares;
  shares.Begin({PlaneShares::kOne / 2, PlaneShares::kOne / 2});
  EXPECT_EQ(shares.SumFor(0, 1000), 2000u);
  shares.OnUneven(true);
  shares.OnUneven(true);
  for (int i = 0; i < 4096; ++i) shares.Note({PlaneShares::kOne / 4, PlaneShares::kOne / 4 * 3});
  EXPECT_NEAR(static_cast<double>(shares.SumFor(0, 3000)), 12000, 100);
  EXPECT_NEAR(static_cast<double>(shares.SumFor(1, 3000)), 4000, 100);
  shares.OnUneven(false);
  EXPECT_NEAR(static_cast<double>(shares.SumFor(0, 3000)), 12000, 100) << "one has others still";
  shares.OnUneven(false);
  EXPECT_EQ(shares.SumFor(0, 1000), 2000u);
}

}  // namespace
}  // namespace suede
