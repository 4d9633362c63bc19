// SPDX-License-Identifier: Apache-2.0
#include "daemon/cpu_share.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace suede {
namespace {

class CpuShareTest : public ::testing::Test {
 protected:
  // Lets a second pass of which the lcore runs `percent`.
  void Second(int percent) {
    now += CpuShare::kInterval;
    if (used) *used += CpuShare::kInterval * percent / 100;
    Check();
  }
  void Check() {
    share.Check(
        lcore, now,
        [this](uint32_t cpu) {
          EXPECT_EQ(cpu, lcore.cpu);
          return used;
        },
        events);
  }
  LcoreConfig lcore{.cpu = 3};
  Time now = TimeFromNs(0);
  std::optional<Duration> used = Duration(0);
  EventLog events;
  CpuShare share;
};

TEST_F(CpuShareTest, ASharedCpuIsReportedOnce) {
  Second(100);
  Second(100);
  Second(90);
  EXPECT_EQ(events.newest(), 0u);
  Second(47);
  Second(50);
  ASSERT_EQ(events.newest(), 1u);
  const Event& event = *events.Read({}).events.front();
  EXPECT_EQ(event.row().name, "lcore_shares_cpu");
  EXPECT_EQ(std::get<int64_t>(event.values[0].value), 3);
  EXPECT_EQ(std::get<int64_t>(event.values[1].value), 47);
  EXPECT_NE(std::get<std::string>(event.values[2].value).find("isolcpus=3"), std::string::npos);
}

TEST_F(CpuShareTest, AMinuteAloneArmsItAgain) {
  Second(100);
  Second(0);
  for (int s = 0; s < 59; ++s) Second(100);
  Second(0);
  EXPECT_EQ(events.newest(), 1u) << "only 59 s alone";
  for (int s = 0; s < 60; ++s) Second(100);
  Second(0);
  EXPECT_EQ(events.newest(), 2u);
}

TEST_F(CpuShareTest, AnLcoreBeforeItsStartIsNotReported) {
  used.reset();
  Second(0);
  used = Duration(0);
  Second(0);
  EXPECT_EQ(events.newest(), 0u);
  Second(0);
  EXPECT_EQ(events.newest(), 1u);
}

TEST_F(CpuShareTest, CallsWithinASecondAreNotEvaluated) {
  Second(100);
  for (int i = 0; i < 99; ++i) {
    now += CpuShare::kInterval / 100;
    Check();
  }
  EXPECT_EQ(events.newest(), 0u);
}

TEST_F(CpuShareTest, AnLcoreThatYieldsMayShareItsCpu) {
  lcore.idle = LcoreConfig::Idle::kYield;
  for (int s = 0; s < 3; ++s) Second(0);
  EXPECT_EQ(events.newest(), 0u);
}

}  // namespace
}  // namespace suede
