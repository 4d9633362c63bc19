#include "path/peer_paths.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

constexpr std::array<uint32_t, kMaxPlanes> kNothing{};

PeerPaths WithWeights(std::array<uint32_t, kMaxPlanes> weights) {
  PeerPaths paths;
  for (uint32_t plane = 0; plane < kMaxPlanes; ++plane) paths.SetWeight(plane, weights[plane]);
  return paths;
}

TEST(PeerPaths, NoPlaneOfAnEmptyMask) {
  const PeerPaths paths = WithWeights({1, 1, 1, 1});
  EXPECT_EQ(paths.Choose(0, kNothing), PeerPaths::kNoPlane);
  EXPECT_EQ(paths.Draw(0, 7), PeerPaths::kNoPlane);
}

TEST(PeerPaths, LeastInFlightForItsWeight) {
  PeerPaths paths = WithWeights({4, 2, 1, 1});
  paths.inflight_bytes = {3999, 2000, 1000, 1000};
  EXPECT_EQ(paths.Choose(0xf, kNothing), 0u);
  paths.inflight_bytes = {4001, 2000, 1000, 999};
  EXPECT_EQ(paths.Choose(0xf, kNothing), 3u);
  EXPECT_EQ(paths.Choose(0x6, kNothing), 1u);  // of those in the mask
  // What the instance has in flight to others counts as well.
  EXPECT_EQ(paths.Choose(0xf, {0, 0, 5000, 5000}), 1u);
}

TEST(PeerPaths, AmongEqualsTheOneThatCarriedLeastForItsWeight) {
  PeerPaths paths = WithWeights({4, 2, 1, 1});
  std::array<uint32_t, kMaxPlanes> carried{};
  for (int i = 0; i < 8000; ++i) {
    const uint32_t plane = paths.Choose(0xf, kNothing);
    ++carried[plane];
    paths.OnSend(plane, 1000);
    paths.OnEnd(plane, 1000);
  }
  EXPECT_NEAR(carried[0], 4000, 2);
  EXPECT_NEAR(carried[1], 2000, 2);
  EXPECT_NEAR(carried[2], 1000, 2);
  EXPECT_NEAR(carried[3], 1000, 2);
}

TEST(PeerPaths, SharesHoldWhenTheSumsWrap) {
  PeerPaths paths = WithWeights({1, 1, 1, 1});
  paths.carried = {0xfffffff0, 0xfffffff0, 0xfffffff0, 0xfffffff0};
  std::array<uint32_t, kMaxPlanes> carried{};
  for (int i = 0; i < 400; ++i) {
    const uint32_t plane = paths.Choose(0xf, kNothing);
    ++carried[plane];
    paths.OnSend(plane, 100);
    paths.OnEnd(plane, 100);
  }
  for (const uint32_t share : carried) EXPECT_EQ(share, 100u);
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
    const uint32_t plane = paths.Draw(0xf, key);
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

}  // namespace
}  // namespace suede
