// SPDX-License-Identifier: Apache-2.0
// suedectl why: samples become shares of causes, and conclusions with remedies.
#include "suedectl/why.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/text.h"
#include "mgmt/endpoint_rows.h"

namespace suede::ctl {
namespace {

Json Parsed(const std::string& text) { return *TryParse<Json>(text); }

class WhyTest : public testing::Test {
 protected:
  void Sample(const std::string& waits, const std::string& readers = "",
              const std::string& queues = R"({"client":3,"queue":0,"state":"open"})") {
    ASSERT_TRUE(own.Add(Parsed(StrCat(R"({"waits":[)", waits, R"(],"readers":[)", readers, "]}")),
                        Parsed(StrCat(R"({"queues":[)", queues, "]}"))));
  }
  Json Why() { return WhyJson({.own = own, .seconds = 1}); }
  std::string Text() { return WhyText(Why(), 100); }
  static std::string Wait(std::string_view cause, uint32_t tx = 5, std::string_view more = "") {
    return StrCat(R"({"xpu":0,"instance":0,"peer":1,"vc":2,"cause":")", cause, R"(","tx_pdus":)",
                  tx, more, "}");
  }

  WhySamples own;
};

TEST_F(WhyTest, SharesAreOfAllSamples) {
  Sample(Wait("credit", 4294967290u));
  Sample(Wait("credit", 4294967295u));
  Sample(Wait("window", 3));
  Sample("");
  const Json why = Why();
  EXPECT_EQ(Dump(why["waits"][0]["causes"]),
            R"([{"cause":"credit","percent":50},{"cause":"window","percent":25},)"
            R"({"cause":"none","percent":25}])");
  EXPECT_EQ(why["waits"][0]["tx_pdus"], 9) << "the count wraps";
  ASSERT_EQ(why["conclusions"].size(), 1u);
  EXPECT_EQ(why["conclusions"][0]["of"], "XPU 0.0 to XPU 1, VC 2");
  EXPECT_EQ(Text().find("XPU 0.0 to XPU 1, VC 2: credit in 50 % of the samples: the peer's client"),
            0u)
      << Text();
}

TEST_F(WhyTest, NamesXpus) {
  Sample(Wait("credit"));
  const XpuNames names{{1, "gpu1"}};
  const Json why = WhyJson({.own = own, .seconds = 1, .names = names});
  EXPECT_EQ(why["conclusions"][0]["of"], "XPU 0.0 to XPU 1 (gpu1), VC 2");
  EXPECT_EQ(why["waits"][0]["peer"], 1u);
  EXPECT_NE(WhyText(why, 100, names).find(" 1 (gpu1) "), std::string::npos);
}

TEST_F(WhyTest, TimesAreTheLongest) {
  Sample(Wait("pause", 5, R"(,"plane":1,"since_us":2500.5,"queued_us":10,"inflight_us":null)"));
  Sample(Wait("pause", 5, R"(,"plane":1,"since_us":7,"queued_us":3000000,"inflight_us":4)"));
  const Json row = Why()["waits"][0];
  EXPECT_EQ(row["since_us"], 2500.5);
  EXPECT_EQ(row["queued_us"], 3000000);
  const std::string text = Text();
  for (const char* part : {"(plane 1)", "2.5 ms", "3.0 s", "4 us", "pause 100%"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
}

TEST_F(WhyTest, AFullRingAccusesItsReader) {
  Sample("", R"({"xpu":0,"instance":0,"vc":1,"client":7,"ring_lines":64,"filled_lines":60})");
  const std::string text = Text();
  EXPECT_NE(text.find("VC 1 of XPU 0.0: client 7 reads here more slowly than commands arrive: its "
                      "ring is 94 % full"),
            std::string::npos)
      << text;
}

TEST_F(WhyTest, TheFarReaderOfThePeerCounts) {
  Sample(Wait("credit"));
  WhySamples far;
  far.Add(Parsed(R"({"waits":[],"readers":[)"
                 R"({"xpu":1,"instance":0,"vc":2,"client":9,"ring_lines":64,"filled_lines":64},)"
                 R"({"xpu":8,"instance":0,"vc":2,"client":9,"ring_lines":64,"filled_lines":64}]})"),
          Parsed(R"({"queues":[]})"));
  const Json why = WhyJson({.own = own, .far = &far, .peer = 1, .seconds = 1});
  ASSERT_EQ(why["far_readers"].size(), 1u) << "another XPU there has no part in it";
  ASSERT_EQ(why["conclusions"].size(), 2u);
  EXPECT_EQ(why["conclusions"][1]["finding"],
            "client 9 reads there more slowly than commands arrive: its ring is 100 % full");
}

TEST_F(WhyTest, UnclaimedCommandsAndBrokenQueuesAreNamed) {
  Sample("", R"({"xpu":0,"instance":0,"vc":1,"client":null,"ring_lines":0,"unclaimed_pdus":3})",
         R"({"client":3,"queue":0,"state":"broken"},)"
         R"({"client":3,"queue":1,"state":"open","ring_lines":64,"waiting_lines":64})");
  const std::string text = Text();
  for (const char* part : {"no client has claimed the VC", "queue 0 of client 3: is not served",
                           "has not taken 64 of 64 lines"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
}

TEST_F(WhyTest, IdleClientsAreNamed) {
  Sample("");
  EXPECT_NE(Text().find("the clients hand over no commands"), std::string::npos) << Text();
  own = {};
  Sample("", "", "");
  EXPECT_NE(Text().find("no client is attached"), std::string::npos) << Text();
}

TEST_F(WhyTest, NonsenseOfTheDaemonIsNoHarm) {
  EXPECT_FALSE(own.Add(Parsed("[]"), Parsed("7")));
  EXPECT_FALSE(own.Add(Parsed(R"({"waits":[]})"), Parsed("{}")));
  EXPECT_TRUE(own.Add(Parsed(R"({"waits":[5,{"cause":7},{"cause":"new"},null],"readers":{}})"),
                      Parsed(R"({"queues":[[],{"client":"x","waiting_lines":-4}]})")));
  EXPECT_NE(Text().find("unknown to this suedectl"), std::string::npos) << Text();
}

// Every cause of the catalog is explained, here and on the page.
TEST_F(WhyTest, EachCauseIsExplained) {
  std::ifstream file(SUEDE_WHY_PAGE);
  std::ostringstream page;
  page << file.rdbuf();
  std::string names;
  for (const WhyCause& cause : WhyCauses()) {
    StrAppend(&names, names.empty() ? "" : "|", cause.name);
    const std::string row =
        StrCat("| `", cause.name, "` | ", cause.meaning, " | ", cause.remedy, " |");
    EXPECT_NE(page.str().find(row), std::string::npos) << row;
  }
  EXPECT_EQ(names, kWaitCauseNames);
}

}  // namespace
}  // namespace suede::ctl
