// SPDX-License-Identifier: Apache-2.0
#include "fare/shares.h"

#include <gtest/gtest.h>

#include <vector>

namespace suede::fare {
namespace {

FareParams TwoPlanes() {
  FareParams params{
      .planes = {{.plane = 0, .interfaces = {"a"}}, {.plane = 1, .interfaces = {"b", "c"}}},
      .peers = 1};
  return params;
}

NextHop Hop(const char* interface, uint32_t share) {
  return {.interface = interface, .share = share, .mbps = {}};
}
NextHop Path(const char* interface, std::optional<double> mbps) {
  return {.interface = interface, .share = 1, .mbps = mbps};
}

TEST(Shares, OfTheKernelAreRelativeToThePlaneThatHasMost) {
  const std::vector<NextHop> hops = {Hop("a", 66), Hop("b", 33)};
  const Shares shares = SharesOf(TwoPlanes(), Measure::kShare, hops);
  EXPECT_EQ(shares[0], 10000);
  EXPECT_EQ(shares[1], 5000);
}

TEST(Shares, OfAPlaneAreTheSumOfItsNextHops) {
  const std::vector<NextHop> hops = {Hop("a", 50), Hop("b", 25), Hop("c", 25)};
  const Shares shares = SharesOf(TwoPlanes(), Measure::kShare, hops);
  EXPECT_EQ(shares[0], 10000);
  EXPECT_EQ(shares[1], 10000);
}

TEST(Shares, APlaneWithoutANextHopHasNone) {
  const std::vector<NextHop> hops = {Hop("b", 1), Hop("elsewhere", 99)};
  const Shares shares = SharesOf(TwoPlanes(), Measure::kShare, hops);
  EXPECT_EQ(shares[0], 0);
  EXPECT_EQ(shares[1], 10000);
  EXPECT_EQ(SharesOf(TwoPlanes(), Measure::kShare, {}), Shares{});
}

TEST(Shares, OfBandwidthsAreScaled) {
  FareParams params = TwoPlanes();
  params.scale = 100;
  const std::vector<NextHop> hops = {Path("a", 8000), Path("b", 2000), Path("c", 2000)};
  const Shares shares = SharesOf(params, Measure::kBandwidth, hops);
  EXPECT_EQ(shares[0], 800'000);
  EXPECT_EQ(shares[1], 400'000);
}

TEST(Shares, AnOwnLinkIsABound) {
  FareParams params = TwoPlanes();
  params.planes[0].own_mbps = 3000;
  params.planes[1].own_mbps = 9000;
  const std::vector<NextHop> hops = {Path("a", 8000), Path("b", 4000)};
  const Shares shares = SharesOf(params, Measure::kBandwidth, hops);
  EXPECT_EQ(shares[0], 3000);
  EXPECT_EQ(shares[1], 4000);
}

TEST(Shares, APathWithoutABandwidthMakesAllAlike) {
  const std::vector<NextHop> hops = {Path("a", 8000), Path("b", {}), Path("c", 10)};
  const Shares shares = SharesOf(TwoPlanes(), Measure::kBandwidth, hops);
  EXPECT_EQ(shares[0], 5000) << "one next hop of three";
  EXPECT_EQ(shares[1], 10000);
  const std::vector<NextHop> elsewhere = {Path("a", 8000), Path("b", 4000), Path("other", {})};
  EXPECT_EQ(SharesOf(TwoPlanes(), Measure::kBandwidth, elsewhere)[0], 8000)
      << "what is on no plane does not matter";
}

}  // namespace
}  // namespace suede::fare
