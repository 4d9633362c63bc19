// SPDX-License-Identifier: Apache-2.0
#include "suedectl/print.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>

#include "suedectl/watch_command.h"
#include "suedectl/xpu_names.h"

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

TEST(PrintTest, CountersThatAreNotZeroComeFirst) {
  EXPECT_EQ(Text(R"({"sets":[{"of":"p0","counters":{"a":0,"b":2,"c":0,"d":1}}]})"),
            "of p0\nb  2\nd  1\na  0\nc  0\n");
}

TEST(PrintTest, SmallNumbersKeepTheirDigits) {
  EXPECT_EQ(Text(R"({"loss":0.0001,"share":0.25,"none":0.0})"),
            "loss: 0.0001\nshare: 0.250\nnone: 0.000\n");
}

TEST(PrintTest, ATableHasAtMost100Columns) {
  Json row = Json::object();
  row["name"] = "p0";
  row["nothing"] = nullptr;
  for (int i = 0; i < 12; ++i) row["a_long_name_" + std::to_string(i)] = i;
  const Json result{{"ports", Json::array({row})}};
  const std::string text = ToText(result);
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    EXPECT_LE(end - at, kTextColumns) << text;
  }
  EXPECT_EQ(text.find("nothing"), std::string::npos);
  EXPECT_NE(text.find("a_long_name_5"), std::string::npos);
  EXPECT_NE(text.find("(--wide shows, too: a_long_name_6,"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(" a_long_name_11)\n")) << text;
  const std::string wide = ToText(result, SIZE_MAX);
  EXPECT_EQ(wide.find("--wide"), std::string::npos);
  EXPECT_NE(wide.find("nothing"), std::string::npos);
}

TEST(PrintTest, LongTextsAreCutBeforeColumnsGo) {
  const Json result{
      {"ports",
       Json::array({Json{{"name", "p0"}, {"device", std::string(150, 'x')}, {"link_up", true}}})}};
  EXPECT_EQ(ToText(result),
            "name  device                    link_up\n"
            "p0    xxxxxxxxxxxxxxxxxxxxxx..  yes\n"
            "(--wide shows, too: ends of long texts)\n");
}

TEST(PrintTest, OtherValues) {
  EXPECT_EQ(Text(R"({"yaml":"a: 1\nb: 2\n"})"), "a: 1\nb: 2\n");
  EXPECT_EQ(Text(R"({"clients":[]})"), "no clients\n");
  EXPECT_EQ(Text(R"({"level":"info","n":7,"list":[1,2],"object":{"x":[]}})"),
            "level: info\nn: 7\nlist: 1,2\nx  -\n");
  EXPECT_EQ(Text("{}"), "");
}

TEST(WrapTextTest, BreaksAtSpacesAndLongWordsAtCommas) {
  EXPECT_EQ(WrapText("one two three", 0, 2, 7), "one two\n  three");
  EXPECT_EQ(WrapText("one two", 6, 4, 9), "one\n    two");
  EXPECT_EQ(WrapText("aa,bb,cc,dd", 0, 1, 6), "aa,bb,\n cc,dd");
  EXPECT_EQ(WrapText("abcdefgh ij", 0, 1, 4), "abcdefgh\n ij");
}

TEST(PrintTest, NestedObjectsLoseTheEndsOfLongTexts) {
  const Json one{{"name", "x"}, {"about", Json{{"text", std::string(200, 'a')}, {"n", 1}}}};
  for (const Json& result : {Json{{"rows", Json::array({one})}}, Json{{"about", one["about"]}}}) {
    std::istringstream narrow(ToText(result));
    for (std::string line; std::getline(narrow, line);) EXPECT_LE(line.size(), 100u) << line;
    EXPECT_NE(ToText(result).find("aa.."), std::string::npos);
    EXPECT_NE(ToText(result, SIZE_MAX).find(std::string(200, 'a')), std::string::npos);
  }
}

TEST(XpuNamesTest, StandBehindNumbers) {
  const Json peers =
      TryParse<Json>(R"({"peers":[{"xpu":1,"name":"gpu1"},{"xpu":2,"name":""},{"xpu":3},
                                                 {"xpu":"x","name":"y"},7]})")
          .value();
  const XpuNames names = NamesIn(peers);
  EXPECT_EQ(names, (XpuNames{{1, "gpu1"}}));
  const Json rows =
      TryParse<Json>(R"({"rows":[{"xpu":0,"peer":1,"vc":2},{"xpu":0,"peer":2,"vc":3},7],
                                       "n":1})")
          .value();
  EXPECT_TRUE(HasXpus(rows));
  EXPECT_EQ(Dump(WithNames(rows, names)["rows"][0]),
            R"({"xpu":0,"peer":1,"peer_name":"gpu1","vc":2})");
  EXPECT_TRUE(WithNames(rows, names)["rows"][1]["peer_name"].is_null());
  EXPECT_EQ(WithNames(rows, {}), rows);
  EXPECT_EQ(WithNames(rows, {{9, "x"}}), rows) << "no row has it";
  EXPECT_FALSE(HasXpus(peers["peers"])) << "no object";
  EXPECT_EQ(WithNames(peers, names), peers) << "rows with names of their own";
}

TEST(XpuNamesTest, ReplaceNumbersInParameters) {
  const XpuNames names{{1, "gpu1"}, {7, "gpu7"}};
  EXPECT_EQ(*NumberOfXpu("peer", "gpu7", names), 7u);
  EXPECT_EQ(NumberOfXpu("peer", "gpu8", names).status().message(),
            "peer: no XPU has the name 'gpu8'; did you mean gpu1 or gpu7?");
  EXPECT_EQ(NumberOfXpu("xpu", "left", names).status().message(),
            "xpu: no XPU has the name 'left'; give its number, or a name of suedectl peers list");
  EXPECT_EQ(NumberOfXpu("peer", "gpu1", {}).status().message(),
            "peer: no XPU has the name 'gpu1'; give its number: the configuration names none "
            "(peers[].name)");
  EXPECT_EQ(NamedXpu(7, names), "7 (gpu7)");
  EXPECT_EQ(NamedXpu(8, names), "8");
}

TEST(XpuNamesTest, StandInEvents) {
  const Json event{
      {"time", "t"}, {"severity", "info"}, {"kind", "peer_up"}, {"xpu", 0}, {"peer", 1}};
  EXPECT_EQ(EventLine(event, {{1, "gpu1"}}), "t info    peer_up xpu=0 peer=1 (gpu1)\n");
}

}  // namespace
}  // namespace suede::ctl
