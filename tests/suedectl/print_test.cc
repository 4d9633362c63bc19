// SPDX-License-Identifier: Apache-2.0
#include "suedectl/print.h"

#include <gtest/gtest.h>

namespace suede::ctl {
namespace {

std::string Text(const char* json) { return ToText(TryParse<Json>(json).value()); }

TEST(PrintTest, AListOfObjectsIsATable) {
  EXPECT_EQ(Text(R"({"ports":[{"name":"p0","mtu":9,"up":true,"speed":null},
                              {"name":"long","mtu":1500,"up":false}]})"),
            "name   mtu  up   speed\n"
            "p0       9  yes      -\n"
            "long  1500  no       -\n");
}

TEST(PrintTest, SetsOfCountersAreSections) {
  EXPECT_EQ(Text(R"({"scope":"lcore","seconds":1.5,
                     "sets":[{"of":"2","counters":{"a":1,"bcd":20}},{"of":"3","counters":{}}]})"),
            "scope: lcore\nseconds: 1.500\nof 2\na     1\nbcd  20\nof 3\n");
}

TEST(PrintTest, SmallNumbersKeepTheirDigits) {
  EXPECT_EQ(Text(R"({"loss":0.0001,"share":0.25,"none":0.0})"),
            "loss: 0.0001\nshare: 0.250\nnone: 0.000\n");
}

TEST(PrintTest, OtherValues) {
  EXPECT_EQ(Text(R"({"yaml":"a: 1\nb: 2\n"})"), "a: 1\nb: 2\n");
  EXPECT_EQ(Text(R"({"clients":[]})"), "no clients\n");
  EXPECT_EQ(Text(R"({"level":"info","n":7,"list":[1,2],"object":{"x":[]}})"),
            "level: info\nn: 7\nlist: 1,2\nx  -\n");
  EXPECT_EQ(Text("{}"), "");
}

}  // namespace
}  // namespace suede::ctl
