// SPDX-License-Identifier: Apache-2.0
#include "fare_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "configs.h"
#include "key_tables.h"
#include "page_tables.h"

namespace suede {
namespace {

constexpr char kGoodFare[] =
    R"(version: 1
endpoint: left
xpu: 3
source: bgp
scale: 100
planes:
  - {plane: 0, interfaces: [eth0], bandwidth_gbps: 400}
  - {plane: 2, interfaces: [eth1, eth2]}
peers:
  - {xpu: 1, prefix: 192.0.2.1/32}
  - {xpu: 7, prefix: "2001:db8::7"}
bgp: {name: host3}
damping: {half_life_ms: 1000}
)";

absl::StatusOr<FareConfig> ParseFare(const std::string& text) {
  return ParseFareConfig(text, "fare.yaml");
}

TEST(FareConfigTest, AGoodOneIsRead) {
  const auto config = ParseFare(kGoodFare);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->root.endpoint, "left");
  EXPECT_EQ(config->root.source, FareRoot::Source::kBgp);
  EXPECT_EQ(config->planes[1].plane, 2u);
  EXPECT_EQ(config->planes[1].interfaces, (std::vector<std::string>{"eth1", "eth2"}));
  EXPECT_DOUBLE_EQ(config->planes[0].bandwidth_gbps.value, 400);
  EXPECT_EQ(config->peers[0].parsed.bits, 32);
  EXPECT_EQ(config->peers[0].parsed.bytes[0], 192);
  EXPECT_TRUE(config->peers[1].parsed.is_v6);
  EXPECT_EQ(config->peers[1].parsed.bits, 128);
  EXPECT_EQ(*config->bgp.name, "host3");
  EXPECT_EQ(config->damping.half_life_ms, 1000u);
  EXPECT_EQ(config->damping.suppress, 2500u);
}

TEST(FareConfigTest, ADumpLoadsToTheSame) {
  const auto config = ParseFare(kGoodFare);
  ASSERT_TRUE(config.ok()) << config.status();
  const std::string dump = DumpFareConfig(*config);
  const auto again = ParseFare(dump);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << dump;
  EXPECT_EQ(DumpFareConfig(*again), dump);
}

TEST(FareConfigTest, ErrorsNamePlaceAndMend) {
  const RefusedPiece cases[] = {
      {"version: 1", "version: 2", "fare.yaml:1:10: version: version \"2\" of the format"},
      {"xpu: 3\n", "", "xpu: missing; add xpu: to the file"},
      {"source: bgp", "source: ospf", "fare.yaml:4:9: source: "},
      {"source: bgp", "source: kernel",
       "fare.yaml:7:52: planes[0].bandwidth_gbps: the kernel's routes have shares and no"},
      {"scale: 100", "scale: 0", "fare.yaml:5:8: scale: 0 makes every bandwidth 0; use more"},
      {"scale: 100", "scale: -1", "scale: -1 is out of range; use 0 to 1000000"},
      {"scale: 100", "socket: here", "socket: "},
      {"scale: 100", "scal: 100", "fare.yaml:5:1: scal: unknown key; did you mean scale?"},
      {"plane: 2", "plane: 0", "planes[1].plane: plane 0 is that of planes[0] already; remove"},
      {"plane: 2", "plane: 4", "planes[1].plane: 4 is out of range; use 0 to 3"},
      {"[eth1, eth2]", "[eth1, eth0]",
       "planes[1].interfaces: eth0 is an interface of planes[0] already; remove one"},
      {"[eth1, eth2]", "[eth1, eth1]", "eth1 is an interface of planes[1] already; remove one"},
      {"[eth1, eth2]", "[]", "planes[1].interfaces: the list is empty; name the interface"},
      {"[eth1, eth2]", "[a-name-that-is-too-long]", "planes[1].interfaces: "},
      {"interfaces: [eth1, eth2]", "x: 1", "planes[1].x: unknown key; the keys of planes[1] are"},
      {"  - {plane: 2, interfaces: [eth1, eth2]}\n", "",
       "planes: one plane has no weight in relation to others; give 2 to 4"},
      {"xpu: 1,", "xpu: 3,", "peers[0].xpu: that is the endpoint's own XPU; remove the entry"},
      {"xpu: 7", "xpu: 1", "peers[1].xpu: the same as of peers[0]; remove one"},
      {"\"2001:db8::7\"", "192.0.2.1", "peers[1].prefix: the same as of peers[0]; remove one"},
      {"192.0.2.1/32", "192.0.2.1/24",
       "peers[0].prefix: \"192.0.2.1/24\" has bits behind the prefix; write 192.0.2.0/24"},
      {"192.0.2.1/32", "192.0.2.1/33", "peers[0].prefix: \"192.0.2.1/33\" is no prefix; write it"},
      {"192.0.2.1/32", "192.0.2.1/", "\"192.0.2.1/\" is no prefix; write it as in 192.0.2.1/32"},
      {"192.0.2.1/32", "host", "peers[0].prefix: \"host\" is no prefix; write it as in"},
      {"half_life_ms: 1000", "reuse: 2500",
       "damping.reuse: 2500 is not below suppress; use less than 2500"},
      {"half_life_ms: 1000", "most: 2000", "damping.most: 2000 is below suppress, so that"},
  };
  ExpectEachRefused(kGoodFare, cases, "fare.yaml", ParseFare);
}

TEST(FareConfigTest, Examples) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(SUEDE_SOURCE_DIR "/conf/frr")) {
    if (file.path().extension() != ".yaml") continue;
    const auto config = LoadFareConfig(file.path().string());
    EXPECT_TRUE(config.ok()) << config.status();
    ++count;
  }
  EXPECT_GT(count, 0);
}

// The table of the page is the declaration's.
TEST(FareConfigTest, ThePageHasTheTable) {
  ExpectTable("docs/fare.md", "keys", KeysAsMarkdown(FareConfigKeys()));
}

}  // namespace
}  // namespace suede
