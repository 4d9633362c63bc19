// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "suedectl/record_command.h"

namespace suede::ctl {
namespace {

TEST(RecordCommandTest, TimesHaveAUnit) {
  EXPECT_EQ(ParseMicros("500us"), 500u);
  EXPECT_EQ(ParseMicros("1ms"), 1000u);
  EXPECT_EQ(ParseMicros("2s"), 2'000'000u);
  for (const char* text : {"", "1", "ms", "1m", "1.5ms", "-1ms", "1 ms", "1msx",
                           "99999999999999999999us", "86400000001us"}) {
    EXPECT_EQ(ParseMicros(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace suede::ctl
