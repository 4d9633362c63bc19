// SPDX-License-Identifier: Apache-2.0
// The keys of congestion control (docs/congestion.md).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/config.h"
#include "configs.h"

namespace suede {
namespace {

using std::chrono::microseconds;

constexpr char kGoodCongestion[] =
    "version: 1\n"          // 1
    "name: left\n"          // 2
    "lcores: [{cpu: 1}]\n"  // 3
    "ports:\n"              // 4
    "  - {name: p0, device: net_null0, bandwidth_gbps: 100, trimmed_dscp: 40, receive_mbps: "
    "90000}\n"                                                                      // 5
    "instances:\n"                                                                  // 6
    "  - {xpu: 0, congestion: nscc, ports: [{port: p0, ip: 198.18.0.1}]}\n"         // 7
    "  - {xpu: 1, congestion: rccc, ports: [{port: p0, ip: 198.18.0.2}]}\n"         // 8
    "  - {xpu: 2, ports: [{port: p0, ip: 198.18.0.4}]}\n"                           // 9
    "peers:\n"                                                                      // 10
    "  - {xpu: 3, ports: [{port: p0, ip: 198.18.0.3, mac: 02:00:00:00:00:03}]}\n"   // 11
    "classes:\n"                                                                    // 12
    "  vc: [{ecn: 2}, {}, {}, {}]\n"                                                // 13
    "congestion:\n"                                                                 // 14
    "  {base_rtt_us: 5, initial_percent: 26, ask_bdp: 9, repeat_us: 21,\n"          // 15
    "   repeat_max_us: 999, slice_us: 2, hold_bdp: 5, target_percent: 75,\n"        // 16
    "   window_max_percent: 151, window_min_permille: 51, decrease_percent: 81,\n"  // 17
    "   proportional_percent: 101, fair_percent: 102, eta_percent: 103,\n"          // 18
    "   base_rtt_period_us: 7}\n";                                                  // 19

TEST(CongestionConfigTest, EveryKeyIsReadAndDumped) {
  const auto config = ParseConfig(kGoodCongestion, "wrong.yaml", kMachine);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->congestion, (CongestionConfig{{.base_rtt = microseconds(5),
                                                   .initial_percent = 26,
                                                   .ask_bdp = 9,
                                                   .repeat = microseconds(21),
                                                   .repeat_max = microseconds(999),
                                                   .target_percent = 75,
                                                   .window_max_percent = 151,
                                                   .window_min_permille = 51,
                                                   .decrease_percent = 81,
                                                   .proportional_percent = 101,
                                                   .fair_percent = 102,
                                                   .eta_percent = 103,
                                                   .base_rtt_period = microseconds(7)},
                                                  microseconds(2),
                                                  5}));
  EXPECT_EQ(config->ports[0].trimmed_dscp, 40);
  EXPECT_EQ(config->ports[0].receive_mbps, 90000u);
  ASSERT_EQ(config->instances.size(), 3u);
  EXPECT_EQ(config->instances[0].congestion, CongestionControl::kNscc);
  EXPECT_EQ(config->instances[1].congestion, CongestionControl::kRccc);
  EXPECT_EQ(config->instances[2].congestion, CongestionControl::kFixed);
  const std::string dump = DumpConfig(*config);
  const auto again = ParseConfig(dump, "dump", kMachine);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << dump;
  EXPECT_EQ(*again, *config) << dump;
}

TEST(CongestionConfigTest, WithoutKeysThereAreWindowsAlone) {
  const std::string all = kGoodCongestion;
  const auto config = ParseConfig(
      Replaced(Replaced(all.substr(0, all.find("congestion:\n")), ", trimmed_dscp: 40", ""),
               ", receive_mbps: 90000", ""),
      "wrong.yaml", kMachine);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->congestion, CongestionConfig{});
  EXPECT_EQ(config->ports[0].trimmed_dscp, std::nullopt);
  EXPECT_EQ(config->ports[0].receive_mbps, std::nullopt);
}

TEST(CongestionConfigTest, NsccWithoutMarksIsWarnedOf) {
  std::vector<std::string> warnings;
  ASSERT_TRUE(ParseConfig(kGoodCongestion, "wrong.yaml", kMachine, {}, &warnings).ok());
  EXPECT_TRUE(warnings.empty()) << warnings[0];
  const std::string unmarked = Replaced(kGoodCongestion, "{ecn: 2}", "{ecn: 0}");
  ASSERT_TRUE(ParseConfig(unmarked, "wrong.yaml", kMachine, {}, &warnings).ok());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("instances[0].congestion: no class"), std::string::npos)
      << warnings[0];
  EXPECT_NE(warnings[0].find("set ecn: 2"), std::string::npos) << warnings[0];
  warnings.clear();
  const std::string credit = Replaced(unmarked, "nscc", "rccc");
  ASSERT_TRUE(ParseConfig(credit, "wrong.yaml", kMachine, {}, &warnings).ok());
  EXPECT_TRUE(warnings.empty()) << warnings[0];
}

class WrongCongestionTest : public testing::TestWithParam<Wrong> {};

TEST_P(WrongCongestionTest, IsRefusedWithPlaceAndMend) {
  ExpectRefused(kGoodCongestion, GetParam(), kMachine);
}

const Wrong kWrongCongestion[] = {
    {"congestion: nscc", "congestion: swift",
     "7:26: instances[0].congestion: ", "use fixed, rccc or nscc"},
    {"repeat_max_us: 999", "repeat_max_us: 20",
     "16:19: congestion.repeat_max_us: 20 is less than repeat_us, 21", "raise it"},
    {"repeat_us: 21,\n   repeat_max_us: 999", "repeat_us: 0,\n   repeat_max_us: 19",
     "16:19: congestion.repeat_max_us: 19 is less than four times base_rtt_us, 20", "raise it"},
    {"base_rtt_us: 5", "base_rtt_us: 0", "15:17: congestion.base_rtt_us: ", "use 1 to 100000"},
    {"initial_percent: 26", "initial_percent: 1001",
     "15:37: congestion.initial_percent: ", "use 1 to 1000"},
    {"ask_bdp: 9", "ask_bdp: 65", "15:50: congestion.ask_bdp: ", "use 1 to 64"},
    {"target_percent: 75", "target_percent: 9",
     "16:66: congestion.target_percent: ", "use 10 to 1000"},
    {"window_max_percent: 151", "window_max_percent: 99",
     "17:24: congestion.window_max_percent: ", "use 100 to 1000"},
    {"trimmed_dscp: 40", "trimmed_dscp: 64", "5:70: ports[0].trimmed_dscp: ", "use 0 to 63"},
    {"trimmed_dscp: 40", "encapsulation: afh2, trimmed_dscp: 40",
     "5:91: ports[0].trimmed_dscp: ", "leave it out"},
    {"receive_mbps: 90000", "receive_mbps: 0",
     "5:88: ports[0].receive_mbps: ", "use 1 to 10000000"},
};

INSTANTIATE_TEST_SUITE_P(Keys, WrongCongestionTest, testing::ValuesIn(kWrongCongestion));

}  // namespace
}  // namespace suede
