// SPDX-License-Identifier: Apache-2.0
#include "perf/interval_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

namespace suede::perf {
namespace {

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(IntervalLog, ALineHasWhatCameSinceTheLastOne) {
  const std::string path = testing::TempDir() + "/interval-" + std::to_string(getpid());
  {
    auto log = IntervalLog::Open(path, 3600, "transfer");
    ASSERT_TRUE(log.ok()) << log.status();
    IntervalCells* const one = (*log)->NewCells(1);
    IntervalCells* const two = (*log)->NewCells(2);
    one->OnLoad({7, 3}, 256);
    one->OnLoad({7, 3}, 100);
    two->OnLoad({1023, 0}, 1);
    for (int i = 0; i < 99; ++i) one->OnLatency(1000);
    two->OnLatency(1000000);
    EXPECT_EQ((*log)->NextLine(std::chrono::system_clock::time_point()),
              "{\"time\":\"1970-01-01T00:00:00.000000Z\",\"flows\":["
              "{\"source\":7,\"destination\":1,\"vc\":3,\"commands\":2,\"data_bytes\":356},"
              "{\"source\":1023,\"destination\":2,\"vc\":0,\"commands\":1,\"data_bytes\":1}],"
              "\"latency\":{\"kind\":\"transfer\",\"samples\":100,\"p50_seconds\":1.007e-06,"
              "\"p99_seconds\":1.007e-06}}\n");
    EXPECT_EQ((*log)->NextLine(std::chrono::system_clock::time_point()),
              "{\"time\":\"1970-01-01T00:00:00.000000Z\",\"flows\":[],\"latency\":null}\n");
    one->OnLoad({7, 3}, 5);
  }
  // The last interval is written at the end.
  const auto lines = LinesOf(path);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], testing::HasSubstr("\"commands\":1,\"data_bytes\":5}"));
  unlink(path.c_str());
}

TEST(IntervalLog, LinesComeByThemselves) {
  const std::string path = testing::TempDir() + "/intervals-" + std::to_string(getpid());
  {
    auto log = IntervalLog::Open(path, 0.01, "rtt");
    ASSERT_TRUE(log.ok()) << log.status();
    while (LinesOf(path).size() < 3) usleep(1000);
  }
  EXPECT_GE(LinesOf(path).size(), 4u);
  unlink(path.c_str());
}

TEST(IntervalLog, AFileThatCannotBeMadeIsNamed) {
  const auto log = IntervalLog::Open("/nowhere/at/all", 1, "rtt");
  ASSERT_FALSE(log.ok());
  EXPECT_THAT(std::string(log.status().message()), testing::HasSubstr("/nowhere/at/all: No such"));
}

}  // namespace
}  // namespace suede::perf
