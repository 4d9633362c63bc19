// SPDX-License-Identifier: Apache-2.0
#include "suedectl/top.h"

#include <gtest/gtest.h>

#include "suedectl/top_keys.h"

namespace suede::ctl {
namespace {

Json Parse(const std::string& text) { return TryParse<Json>(text).value(); }

std::string Counters(const std::string& of, const std::string& counters) {
  return R"({"sets":[{)" + (of.empty() ? "" : R"("of":")" + of + R"(",)") + R"("counters":{)" +
         counters + "}}]}";
}

TopSample Sample(double at_s, uint64_t n, uint64_t pdus) {
  const std::string count = std::to_string(n);
  TopSample sample;
  sample.at_s = at_s;
  sample.version = Parse(R"({"name":"left","uptime_s":7})");
  sample.ports = Parse(R"({"ports":[{"name":"p0","admin":"up","link_up":true,"pool_free":9}]})");
  sample.planes = Parse(
      R"({"planes":[{"xpu":3,"instance":0,"plane":0,"port":"p0","state":"up","weight":100,)"
      R"("peers_up":2,"peers_down":1,"inflight_bytes":9},)"
      R"({"xpu":3,"instance":0,"plane":1,"port":"p1","state":"down"}]})");
  sample.clients = Parse(R"({"clients":[{}]})");
  sample.connections = Parse(
      R"({"connections":[{"xpu":3,"instance":0,"peer":1,"plane":0,"vc":null,"state":"open","tx_pdus":5,)"
      R"("rx_pdus":5,"retransmissions":0,"unacked_pdus":2,"srtt_us":1.5},)"
      R"({"xpu":3,"instance":0,"peer":2,"plane":1,"vc":null,"state":"open","tx_pdus":)" +
      std::to_string(pdus) +
      R"(,"rx_pdus":0,"retransmissions":0,"unacked_pdus":0},)"
      R"({"xpu":3,"instance":0,"peer":2,"plane":0,"vc":null,"state":"open","tx_pdus":7,)"
      R"("rx_pdus":0}]})");
  sample.total = Parse(Counters("", R"("rx_drop_rcrc_total":)" + count +
                                        R"(,"rx_drop_version_total":3,"tx_pdus_total":)" + count));
  sample.of_ports = Parse(Counters(
      "p0", R"("port_tx_frames_total":)" + count + R"(,"port_tx_bytes_total":)" + count));
  sample.of_instances = Parse(Counters("3.0", R"("tx_commands_total":)" + count));
  sample.of_lcores = Parse(Counters("5", R"("busy_cycles_total":)" + count +
                                             R"(,"idle_cycles_total":)" + std::to_string(3 * n)));
  return sample;
}

TEST(TopTest, RatesAreOfTheTimeBetween) {
  const Json top = MakeTop(Sample(10, 1000, 4294967290), Sample(12, 1500, 4), {});
  EXPECT_EQ(top["name"], "left");
  EXPECT_EQ(top["seconds"], 2.0);
  EXPECT_EQ(top["clients"], 1);
  EXPECT_EQ(top["ports"][0]["tx_frames_s"], 250);
  EXPECT_EQ(top["ports"][0]["tx_bits_s"], 2000);
  EXPECT_TRUE(top["ports"][0]["rx_frames_s"].is_null()) << "a counter that is not there";
  EXPECT_EQ(top["instances"][0]["instance"], "3.0");
  EXPECT_EQ(top["instances"][0]["tx_commands_s"], 250);
  EXPECT_EQ(Dump(top["planes"][0]),
            R"({"xpu":3,"instance":0,"plane":0,"port":"p0","admin":null,"state":"up","weight":100,)"
            R"("peers_up":2,"peers_down":1,"inflight_bytes":9})");
  EXPECT_EQ(top["planes"][1]["state"], "down");
  EXPECT_EQ(top["lcores"][0]["lcore"], "5");
  EXPECT_EQ(top["lcores"][0]["busy"], 0.25);
  // Only drops in between; counts of connections go round.
  EXPECT_EQ(Dump(top["drops"]), R"([{"drop":"rx_drop_rcrc_total","per_s":250}])");
  EXPECT_EQ(top["peers"][0]["peer"], 2) << "the busiest first";
  EXPECT_EQ(top["peers"][0]["tx_pdus_s"], 5);
  EXPECT_EQ(top["peers"][0]["plane"], 1);
  EXPECT_EQ(top["peers"][1]["tx_pdus_s"], 0) << "of another plane to the same peer";
  EXPECT_EQ(MakeTop(Sample(10, 1, 1), Sample(11, 1, 2), {.peers = 1})["peers"].size(), 1u);
}

TEST(TopTest, TextHasAllOfIt) {
  const std::string text = TopText(MakeTop(Sample(10, 1000, 0), Sample(12, 1500, 4), {}));
  EXPECT_TRUE(text.starts_with("endpoint left  up 7 s  clients 1  connections 3\n\nport  admin"))
      << text;
  for (const char* part : {"\ninstance  tx_commands_s", "\nxpu  instance  plane", "\nlcore   busy", "0.250", "\nrx_drop_rcrc"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(TopTest, WhatADaemonLeavesOutIsNoMatter) {
  const TopSample nothing;
  const Json top = MakeTop(nothing, nothing, {});
  EXPECT_TRUE(top["ports"].empty() && top["peers"].empty() && top["drops"].empty());
  EXPECT_FALSE(TopText(top).empty());
  TopSample odd = Sample(1, 1, 1);
  odd.connections = Parse(R"({"connections":[7,{"tx_pdus":"x"}]})");
  odd.of_lcores = Parse(R"({"sets":7})");
  odd.ports = Parse("[]");
  EXPECT_EQ(MakeTop(odd, odd, {})["peers"].size(), 2u);
  EXPECT_FALSE(TopText(MakeTop(odd, odd, {})).empty());
}

TEST(TopViewTest, SelectsAndSortsRows) {
  const auto peers = [](const TopView& view) {
    std::string text;
    const Json top = MakeTop(Sample(10, 1000, 0), Sample(12, 1500, 4), view);
    for (const Json& row : top["peers"]) {
      text += Dump(row["peer"]) + "/" + Dump(row["plane"]) + " ";
    }
    return text;
  };
  EXPECT_EQ(peers({}), "2/1 1/0 2/0 ");
  EXPECT_EQ(peers({.sort = TopSort::kPeer}), "1/0 2/1 2/0 ");
  EXPECT_EQ(peers({.sort = TopSort::kUnacked}), "1/0 2/1 2/0 ");
  EXPECT_EQ(peers({.sort = TopSort::kRtt}), "1/0 2/1 2/0 ");
  EXPECT_EQ(peers({.plane = 0}), "1/0 2/0 ");
  EXPECT_EQ(peers({.peers = 1, .filter = "peer=2", .plane = 0}), "2/0 ");
  const Json top = MakeTop(Sample(10, 1000, 0), Sample(12, 1500, 4), {.filter = "state=down"});
  EXPECT_EQ(top["planes"].size(), 1u);
  EXPECT_TRUE(top["ports"].empty() && top["drops"].empty());
  EXPECT_EQ(MakeTop(Sample(10, 1, 0), Sample(12, 1, 4), {.plane = 1})["planes"].size(), 1u);
}

TEST(TopViewTest, ParametersGiveTheView) {
  const TopView view = ViewOf({{"peers", 3}, {"sort", "rtt"}, {"filter", "x"}, {"plane", 2}});
  EXPECT_EQ(view.peers, 3u);
  EXPECT_EQ(view.sort, TopSort::kRtt);
  EXPECT_EQ(view.filter, "x");
  EXPECT_EQ(view.plane, 2);
  std::string names;
  for (const std::string_view name : kTopSorts)
    names += (names.empty() ? "" : "|") + std::string(name);
  EXPECT_EQ(names, kTopSortChoices);
}

TEST(TopKeysTest, ChangeTheView) {
  TopKeys keys({}, true);
  const auto press = [&](const char* text) {
    for (; *text != '\0'; ++text) keys.On(*text);
  };
  press("sspp+c");
  EXPECT_EQ(keys.view().sort, TopSort::kUnacked);
  EXPECT_EQ(keys.view().plane, 1);
  EXPECT_EQ(keys.view().peers, 25u);
  EXPECT_FALSE(keys.has_colours());
  press("sssppp------");
  EXPECT_EQ(keys.view().sort, TopSort::kLoad);
  EXPECT_EQ(keys.view().plane, -1);
  EXPECT_EQ(keys.view().peers, 0u);
  press("fpeex\x7fr=2");
  EXPECT_NE(keys.Line(100).find(": peer=2_"), std::string::npos) << keys.Line(100);
  EXPECT_EQ(keys.view().filter, "") << "until Enter";
  press("\n");
  EXPECT_EQ(keys.view().filter, "peer=2");
  press("fxx\x1b");
  EXPECT_EQ(keys.view().filter, "peer=2");
  EXPECT_FALSE(keys.has_quit());
  press("fq\x1bq");
  EXPECT_TRUE(keys.has_quit());
  EXPECT_EQ(keys.Line(10).size(), 10u);
  EXPECT_NE(keys.Line(200).find("f filter=peer=2"), std::string::npos);
}

TEST(TopKeysTest, ColoursAndTheScreen) {
  EXPECT_EQ(WithColours("endpoint a\n\nplane  state\n0      up\n1      down\n2      downs\n\ndrop  "
                        "per_s\nx     1\n"),
            "\x1b[1mendpoint a\x1b[0m\n\n\x1b[1mplane  state\x1b[0m\n0      up\n"
            "\x1b[31m1      down\x1b[0m\n2      downs\n\n\x1b[1mdrop  per_s\x1b[0m\n"
            "\x1b[33mx     1\x1b[0m\n");
  EXPECT_EQ(FitScreen("abcd\nefgh\nij", 2, 3), "abc\nefg");
}

}  // namespace
}  // namespace suede::ctl
