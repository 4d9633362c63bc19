// SPDX-License-Identifier: Apache-2.0
#include "daemon/log_line.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

std::string Shown(std::string_view line) {
  const LogLine split = SplitLogLine(line);
  std::string out(split.words);
  for (const auto& [name, value] : split.fields) {
    out += "|" + std::string(name);
    if (const auto* number = std::get_if<int64_t>(&value)) out += "#" + std::to_string(*number);
    else out += ":" + std::get<std::string>(value);
  }
  return out;
}

TEST(LogLineTest, WordsThenFields) {
  EXPECT_EQ(Shown("link_down port=p0 sequence=12"), "link_down|port:p0|sequence#12");
  EXPECT_EQ(Shown("starting dpdk=\"DPDK 22.11\" n=-3"), "starting|dpdk:DPDK 22.11|n#-3");
  EXPECT_EQ(Shown("two words a=1"), "two words|a#1");
  EXPECT_EQ(Shown("a=1 b=2"), "|a#1|b#2");
  EXPECT_EQ(Shown(""), "");
}

TEST(LogLineTest, WhatIsNoFieldStaysText) {
  EXPECT_EQ(Shown("a=1 then words"), "a=1 then words");
  EXPECT_EQ(Shown("bad A=1 =2"), "bad A=1 =2");
  EXPECT_EQ(Shown("open=\"never ends"), "open=\"never ends");
  EXPECT_EQ(Shown("behind=\"it\"there"), "behind=\"it\"there");
  EXPECT_EQ(Shown("odd n=007 m=+1 k=9999999999999999999 e="),
            "odd|n:007|m:+1|k:9999999999999999999|e:");
}

TEST(LogLineTest, AnyTextReadsBackAsItself) {
  for (const char* text :
       {"p0", "", "12", "-5", "two words", "q\"uo\\te", "a=b", "line\nend", "é"}) {
    std::string line = "event";
    AppendLogField(&line, "value", text);
    AppendLogField(&line, "number", int64_t{-7});
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(Shown(line), "event|value:" + std::string(text) + "|number#-7") << line;
  }
}

}  // namespace
}  // namespace suede
