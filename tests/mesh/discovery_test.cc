// SPDX-License-Identifier: Apache-2.0
#include "mesh/discovery.h"

#include <gtest/gtest.h>

namespace suede::mesh {
namespace {

constexpr DevicePort kFar{.device = {.mesh = 1, .device = 4}, .port = 3};
constexpr CableEnd kOwn{.at = {.device = {.mesh = 0, .device = 2}, .port = 1},
                        .plane = 1,
                        .specification = 0x0123'4567'89ab};
constexpr CableEnd kNeighbour{.at = kFar, .plane = 1, .specification = 0x0123'4567'89ab};

// The examples of docs/mesh.md, "Discovery".
TEST(Discovery, FindsTheExpectedEnd) {
  EXPECT_EQ(Verify(kOwn, kFar, kNeighbour), CableVerdict::kGood);
  EXPECT_EQ(Describe(kOwn, kFar, kNeighbour), "M0D2P1 is cabled to M1D4P3");
}

TEST(Discovery, HasNoEndWithoutAPlace) {
  EXPECT_EQ(Verify(kOwn, kFar, std::nullopt), CableVerdict::kSilent);
  EXPECT_EQ(Describe(kOwn, kFar, std::nullopt), "M0D2P1 receives no place from M1D4P3");
}

TEST(Discovery, FindsAnotherEnd) {
  CableEnd neighbour = kNeighbour;
  neighbour.at.device.device = 5;
  EXPECT_EQ(Verify(kOwn, kFar, neighbour), CableVerdict::kOtherEnd);
  EXPECT_EQ(Describe(kOwn, kFar, neighbour), "M0D2P1 is cabled to M1D5P3, not to M1D4P3");
  neighbour = kNeighbour;
  neighbour.at.device.mesh = 2;
  EXPECT_EQ(Describe(kOwn, kFar, neighbour), "M0D2P1 is cabled to M2D4P3, not to M1D4P3");
  neighbour = kNeighbour;
  neighbour.at.port = 1;
  EXPECT_EQ(Describe(kOwn, kFar, neighbour), "M0D2P1 is cabled to M1D4P1, not to M1D4P3");
}

TEST(Discovery, NamesPlacesOutOfRange) {
  const CableEnd neighbour{.at = {.device = {.mesh = 65535, .device = 65535}, .port = 255}};
  EXPECT_EQ(Describe(kOwn, kFar, neighbour), "M0D2P1 is cabled to M65535D65535P255, not to M1D4P3");
}

TEST(Discovery, FindsAnotherPlane) {
  CableEnd neighbour = kNeighbour;
  neighbour.plane = 2;
  EXPECT_EQ(Verify(kOwn, kFar, neighbour), CableVerdict::kOtherPlane);
  EXPECT_EQ(Describe(kOwn, kFar, neighbour), "M0D2P1 is in plane 1, M1D4P3 in plane 2");
}

TEST(Discovery, FindsAnotherSpecificationUnlessOneHasNone) {
  CableEnd neighbour = kNeighbour;
  neighbour.specification = 0xba;
  EXPECT_EQ(Verify(kOwn, kFar, neighbour), CableVerdict::kOtherSpecification);
  EXPECT_EQ(Describe(kOwn, kFar, neighbour),
            "M0D2P1 has the specification 0123456789ab, M1D4P3 0000000000ba");
  neighbour.specification = 0;
  EXPECT_EQ(Verify(kOwn, kFar, neighbour), CableVerdict::kGood);
  CableEnd own = kOwn;
  own.specification = 0;
  EXPECT_EQ(Verify(own, kFar, kNeighbour), CableVerdict::kGood);
}

// The first difference decides: with another end the rest says little.
TEST(Discovery, ReportsTheFirstDifference) {
  CableEnd neighbour{.at = kOwn.at, .plane = 0, .specification = 1};
  EXPECT_EQ(Verify(kOwn, kFar, neighbour), CableVerdict::kOtherEnd);
  EXPECT_EQ(Describe(kOwn, kFar, neighbour), "M0D2P1 is cabled to M0D2P1, not to M1D4P3");
  neighbour.at = kFar;
  EXPECT_EQ(Verify(kOwn, kFar, neighbour), CableVerdict::kOtherPlane);
  neighbour.plane = kOwn.plane;
  EXPECT_EQ(Verify(kOwn, kFar, neighbour), CableVerdict::kOtherSpecification);
}

}  // namespace
}  // namespace suede::mesh
