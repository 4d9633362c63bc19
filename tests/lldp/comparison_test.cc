// SPDX-License-Identifier: Apache-2.0
// Each difference between both ends has its name, and no other appears.
#include "lldp/comparison.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "sample.h"

namespace suede::lldp {
namespace {

using Differences = std::vector<Difference>;

// Returns the differences after `change` of the neighbour's values.
template <class Change>
Differences After(Change change) {
  Lldpdu theirs = FullPdu();
  change(theirs);
  return Compare(FullPdu(), theirs);
}

TEST(Comparison, EqualEndsDoNotDiffer) { EXPECT_EQ(Compare(FullPdu(), FullPdu()), Differences{}); }

TEST(Comparison, NamesAndTextsDoNotMatter) {
  EXPECT_EQ(After([](Lldpdu& p) {
              p.chassis.value = "other";
              p.port.value = "other";
              p.ttl_s = 3;
              p.system_name = "other";
              p.system_description.reset();
              p.recommended_ets.reset();
            }),
            Differences{});
}

TEST(Comparison, AbsentTlvsAreNotCompared) {
  EXPECT_EQ(Compare(FullPdu(), SmallPdu()), Differences{});
  EXPECT_EQ(Compare(SmallPdu(), FullPdu()), Differences{});
}

TEST(Comparison, MaxFrame) {
  for (const uint16_t same : std::initializer_list<uint16_t>{1514, 1518, 1522, 1526, 1510}) {
    EXPECT_EQ(After([same](Lldpdu& p) { p.max_frame_bytes = same; }), Differences{}) << same;
  }
  EXPECT_EQ(After([](Lldpdu& p) { p.max_frame_bytes = 9018; }),
            (Differences{{"max_frame_bytes", "1518", "9018"}}));
  EXPECT_EQ(After([](Lldpdu& p) { p.max_frame_bytes = 1509; }),
            (Differences{{"max_frame_bytes", "1518", "1509"}}));
}

TEST(Comparison, PfcClasses) {
  EXPECT_EQ(After([](Lldpdu& p) { p.pfc->classes = 0x08; }),
            (Differences{{"pfc_classes", "0,1,2,3,6", "3"}}));
  EXPECT_EQ(After([](Lldpdu& p) { p.pfc->classes = 0; }),
            (Differences{{"pfc_classes", "0,1,2,3,6", "none"}}));
  EXPECT_EQ(After([](Lldpdu& p) { p.pfc->willing = false; }), Differences{});
}

TEST(Comparison, Ets) {
  EXPECT_EQ(After([](Lldpdu& p) {
              p.ets->class_of_priority[7] = 0;
              p.ets->selection[0] = Ets::kStrict;
              p.ets->percent = {50, 50};
            }),
            (Differences{{"ets_classes", "0,0,1,1,2,2,2,7", "0,0,1,1,2,2,2,0"},
                         {"ets_selection", "ets,ets,ets,strict,shaper,strict,vendor,strict",
                          "strict,ets,ets,strict,shaper,strict,vendor,strict"},
                         {"ets_percent", "20,30,50,0,0,0,0,0", "50,50,0,0,0,0,0,0"}}));
}

TEST(Comparison, Applications) {
  EXPECT_EQ(After([](Lldpdu& p) { p.applications->at(0).priority = 4; }),
            (Differences{{"application_priority", "dscp 26 priority 3", "dscp 26 priority 4"}}));
  EXPECT_EQ(After([](Lldpdu& p) { p.applications->at(1).priority = 0; }),
            (Differences{{"application_priority", "ethertype 0x8915 priority 7",
                          "ethertype 0x8915 priority 0"}}));
  // Protocols that one end alone has, and the same number of another selector.
  EXPECT_EQ(After([](Lldpdu& p) { p.applications = {{{.selector = 3, .protocol = 26}}}; }),
            Differences{});
}

TEST(Comparison, LinkOptions) {
  EXPECT_EQ(After([](Lldpdu& p) { p.link->llr = false; }), (Differences{{"llr", "on", "off"}}));
  EXPECT_EQ(After([](Lldpdu& p) { p.link->cbfc_sender = p.link->cbfc_receiver = false; }),
            (Differences{{"cbfc", "on", "off"}}));
  EXPECT_EQ(After([](Lldpdu& p) { p.link->ether_type = 0x88b5; }),
            (Differences{{"link_ether_type", "0xfe50", "0x88b5"}}));
  EXPECT_EQ(After([](Lldpdu& p) { p.link->by_pcp = false; }),
            (Differences{{"class_field", "pcp", "dscp"}}));
  EXPECT_EQ(After([](Lldpdu& p) { p.link->link_vc_of[1] = 4; }),
            (Differences{{"vc_map", "0,1,2,3,6", "0,4,2,3,6"}}));
  // Credits are granted by each end as it likes.
  EXPECT_EQ(After([](Lldpdu& p) {
              p.link->credit_octets = 256;
              p.link->credits = {};
            }),
            Differences{});
}

TEST(Comparison, CreditOfOneDirectionMatchesItsOtherEnd) {
  Lldpdu own = FullPdu();
  Lldpdu theirs = FullPdu();
  own.link->cbfc_receiver = false;
  theirs.link->cbfc_sender = false;
  EXPECT_EQ(Compare(own, theirs), Differences{});
  EXPECT_EQ(Compare(own, FullPdu()), (Differences{{"cbfc", "sender", "on"}}));
}

TEST(Comparison, UnknownVcsAreNotCompared) {
  EXPECT_EQ(After([](Lldpdu& p) { p.link->link_vc_of.fill(LinkOptions::kUnknownVc); }),
            Differences{});
}

TEST(Comparison, UnusedLinkLayerHasOneDifference) {
  Lldpdu own = FullPdu();
  own.link = LinkOptions{.ether_type = 1};
  EXPECT_EQ(Compare(own, FullPdu()), (Differences{{"llr", "off", "on"}, {"cbfc", "off", "on"}}));
}

}  // namespace
}  // namespace suede::lldp
