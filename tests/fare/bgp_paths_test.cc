// SPDX-License-Identifier: Apache-2.0
#include "bgp_paths.h"

#include <gtest/gtest.h>

namespace suede::fare {
namespace {

FarePrefix Prefix(const char* text) {
  std::string problem;
  return ParseFarePrefix(text, &problem).value_or(FarePrefix{});
}

// As FRR 8.4 writes it, shortened.
constexpr char kAnswer[] = R"JSON({
  "prefix":"192.0.2.2/32",
  "version":3,
  "paths":[
    {
      "valid":true,
      "multipath":true,
      "extendedCommunity":{
        "string":"LB:65102:500000000 (4.000 Gbps)"
      },
      "nexthops":[ { "ip":"10.1.0.2", "afi":"ipv4", "used":true } ],
      "peer":{ "peerId":"10.1.0.2" }
    },
    {
      "valid":true,
      "multipath":true,
      "bestpath":{ "overall":true },
      "extendedCommunity":{
        "string":"RT:65000:1 LB:65101:1000000000 (8.000 Gbps)"
      },
      "nexthops":[ { "ip":"10.0.0.2", "afi":"ipv4", "used":true } ],
      "peer":{ "peerId":"10.0.0.2" }
    },
    {
      "valid":true,
      "nexthops":[ { "ip":"10.2.0.2" } ],
      "peer":{ "peerId":"10.2.0.2" }
    },
    {
      "valid":false,
      "multipath":true,
      "nexthops":[ { "ip":"10.3.0.2" } ]
    }
  ]
}
{
}
{
  "prefix":"2001:db8::3/128",
  "paths":[
    {
      "valid":true,
      "bestpath":{ "overall":true },
      "nexthops":[ { "ip":"fe80::1", "scope":"link-local" } ],
      "peer":{ "peerId":"fe80::1", "interface":"p0" }
    }
  ]
}
)JSON";

TEST(BgpPaths, UsedPathsHaveTheirBandwidths) {
  const auto all = ReadBgpPaths(kAnswer);
  ASSERT_EQ(all.size(), 2u);
  const PathBandwidths& paths = all.at(Prefix("192.0.2.2"));
  ASSERT_EQ(paths.size(), 2u) << "paths of which no routes are made are left out";
  EXPECT_EQ(paths.at("10.0.0.2"), 8000.0);
  EXPECT_EQ(paths.at("10.1.0.2"), 4000.0);
}

TEST(BgpPaths, ANeighbourWithoutAnAddressIsNamedByItsInterface) {
  const auto all = ReadBgpPaths(kAnswer);
  const PathBandwidths& paths = all.at(Prefix("2001:db8::3"));
  EXPECT_EQ(paths.at("%p0"), std::nullopt);
  EXPECT_EQ(paths.at("fe80::1"), std::nullopt) << "no bandwidth was announced";
}

TEST(BgpPaths, TextOfCommunities) {
  EXPECT_EQ(BandwidthIn("LB:65101:1000000000 (8.000 Gbps)"), 8000.0);
  EXPECT_EQ(BandwidthIn("LB:65101:125000 (1.000 Mbps)"), 1.0);
  EXPECT_EQ(BandwidthIn("LB:4200000000:0 (0 bps)"), 0.0);
  for (const char* none :
       {"", "RT:1:2", "LB:", "LB:1", "LB:1:", "LB:1:x", "LB:1:nan", "LB:1:-5", "XLB:1:5"}) {
    EXPECT_EQ(BandwidthIn(none), std::nullopt) << none;
  }
}

TEST(BgpPaths, AnythingElseIsPassedOver) {
  for (const char* text :
       {"", "{", "}", "% Unknown command", "[]", "{\"prefix\":5}", "{\"prefix\":\"x\"}",
        "{\"paths\":[]}", "null\n}\n{\n}", "{\"prefix\":\"1.2.3.4/33\"}"}) {
    EXPECT_TRUE(ReadBgpPaths(text).empty()) << text;
  }
  const auto strange = ReadBgpPaths(
      R"({"prefix":"1.2.3.4/32","paths":[5,{"valid":1},{"valid":true,"multipath":true,"nexthops":7},)"
      R"({"valid":true,"multipath":true,"nexthops":[{"ip":9},3],"peer":4,"extendedCommunity":[]}]})");
  ASSERT_EQ(strange.size(), 1u);
  EXPECT_TRUE(strange.begin()->second.empty());
}

}  // namespace
}  // namespace suede::fare
