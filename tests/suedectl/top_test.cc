// SPDX-License-Identifier: Apache-2.0
#include "suedectl/top.h"

#include <gtest/gtest.h>

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
  const Json top = MakeTop(Sample(10, 1000, 4294967290), Sample(12, 1500, 4), 20);
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
  EXPECT_EQ(MakeTop(Sample(10, 1, 1), Sample(11, 1, 2), 1)["peers"].size(), 1u);
}

TEST(TopTest, TextHasAllOfIt) {
  const std::string text = TopText(MakeTop(Sample(10, 1000, 0), Sample(12, 1500, 4), 20));
  EXPECT_TRUE(text.starts_with("endpoint left  up 7 s  clients 1  connections 3\n\nport  admin"))
      << text;
  for (const char* part : {"\ninstance  tx_commands_s", "\nxpu  instance  plane", "\nlcore   busy", "0.250", "\nrx_drop_rcrc"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(TopTest, WhatADaemonLeavesOutIsNoMatter) {
  const TopSample nothing;
  const Json top = MakeTop(nothing, nothing, 20);
  EXPECT_TRUE(top["ports"].empty() && top["peers"].empty() && top["drops"].empty());
  EXPECT_FALSE(TopText(top).empty());
  TopSample odd = Sample(1, 1, 1);
  odd.connections = Parse(R"({"connections":[7,{"tx_pdus":"x"}]})");
  odd.of_lcores = Parse(R"({"sets":7})");
  odd.ports = Parse("[]");
  EXPECT_EQ(MakeTop(odd, odd, 20)["peers"].size(), 2u);
  EXPECT_FALSE(TopText(MakeTop(odd, odd, 20)).empty());
}

}  // namespace
}  // namespace suede::ctl
