// SPDX-License-Identifier: Apache-2.0
// Addresses and impairments between the socket's units and the fabric's.
#include <gtest/gtest.h>

#include "switch/address_text.h"
#include "switch/impair_values.h"

namespace suede {
namespace {

using fabric::Forwarding;
using fabric::ForwardingTable;
using fabric::Switch;

fabric::SwitchParams ParamsFor(Forwarding forwarding) {
  fabric::SwitchParams params{.forwarding = forwarding};
  params.ports.resize(1);
  return params;
}

std::string RoundTrip(std::string_view text, Forwarding forwarding, uint32_t vid = 0) {
  const Switch the_switch(ParamsFor(forwarding));
  const absl::StatusOr<NetAddress> key = KeyOf(text, vid, forwarding);
  if (!key.ok()) return std::string(key.status().message());
  return KeyText(*key, the_switch.table().KindOf(*key));
}

TEST(AddressText, IsReadAsItIsWritten) {
  EXPECT_EQ(RoundTrip("02:00:5e:00:00:0a", Forwarding::kMac, 5), "02:00:5e:00:00:0a");
  EXPECT_EQ(RoundTrip("02:00:5e:00:00:0a", Forwarding::kIp), "02:00:5e:00:00:0a");
  EXPECT_EQ(RoundTrip("10.1.2.255", Forwarding::kIp), "10.1.2.255");
  EXPECT_EQ(RoundTrip("2001:db8::7", Forwarding::kIp), "2001:db8::7");
  EXPECT_EQ(RoundTrip("65535", Forwarding::kAfh1), "65535");
  EXPECT_EQ(RoundTrip("0xffffffff", Forwarding::kAfh2), "4294967295");
  EXPECT_EQ(ForwardingTable::VidOf(*KeyOf("02:00:5e:00:00:0a", 5, Forwarding::kMac)), 5);
}

TEST(AddressText, WhatIsNoAddressOfTheSwitchIsRefused) {
  for (const char* text : {"", "x", "02:00:5e:00:00", "02:00:5e:00:00:0g", "02-00-5e-00-00-0a",
                           "01:00:5e:00:00:01", "10.1.2.3"}) {
    EXPECT_FALSE(KeyOf(text, 0, Forwarding::kMac).ok()) << text;
  }
  EXPECT_FALSE(KeyOf("65536", 0, Forwarding::kAfh1).ok());
  EXPECT_FALSE(KeyOf("4294967296", 0, Forwarding::kAfh2).ok());
  EXPECT_FALSE(KeyOf("7", 1, Forwarding::kAfh2).ok());
  EXPECT_FALSE(KeyOf("10.1.2.3", 1, Forwarding::kIp).ok());
}

TEST(ImpairValues, ValuesAreShownAsTheyWereSet) {
  for (int millionths = 0; millionths <= 1'000'000; millionths += millionths < 1000 ? 1 : 997) {
    fabric::ImpairmentParams params;
    const double share = millionths / 1e6;
    ASSERT_TRUE(Apply({.delay_us = millionths / 1e3, .loss = share}, &params).ok());
    ASSERT_EQ(ToView(params, true).loss, share);
    ASSERT_EQ(ToView(params, true).delay_us, millionths / 1e3);
  }
  fabric::ImpairmentParams of_class{.loss = 5};
  ASSERT_TRUE(Apply({.delay_us = 2, .loss = 0.5, .traffic_class = 3}, &of_class).ok());
  EXPECT_EQ(of_class.loss, 5u);
  EXPECT_EQ(of_class.delay, Duration::zero());
  const ImpairView shown = ToView(of_class, true);
  ASSERT_EQ(shown.of_class.size(), 1u);
  EXPECT_EQ(shown.of_class[0].traffic_class, 3u);
  EXPECT_EQ(shown.of_class[0].loss, 0.5);
  EXPECT_EQ(shown.of_class[0].delay_us, 2);
  ASSERT_TRUE(Apply({.longest_bytes = 1500}, &of_class).ok());
  EXPECT_EQ(of_class.max_bytes, 1500u);
  EXPECT_EQ(ToView(of_class, true).longest_bytes, 1500);
  ASSERT_TRUE(Apply({.longest_bytes = 0}, &of_class).ok());
  EXPECT_EQ(of_class.max_bytes, UINT32_MAX);
  fabric::ImpairmentParams params;
  ASSERT_TRUE(Apply({.rate_gbps = 0.1, .burst_ends = 1, .burst_loss = 0}, &params).ok());
  EXPECT_EQ(params.rate_bps, 100'000'000u);
  EXPECT_EQ(params.to_good, UINT32_MAX);
  EXPECT_EQ(ToView(params, true).burst_ends, 1);
  EXPECT_EQ(ToView(params, true).burst_loss, 0);
}

TEST(ImpairValues, RewrittenFieldsAreShownAsTheyWereSet) {
  using Field = std::optional<uint32_t>;
  fabric::ImpairmentParams params;
  ASSERT_TRUE(
      Apply({.dscp = 63, .ecn = 0, .pcp = 7, .hop_limit = 255, .strip_tag = true}, &params).ok());
  EXPECT_EQ(params.rewrite,
            (fabric::RewriteParams{.dscp = 63, .ecn = 0, .pcp = 7, .hop_limit = 255}));
  EXPECT_TRUE(params.strip_tag);
  ImpairView view = ToView(params, true);
  EXPECT_TRUE(view.impaired);
  EXPECT_EQ((std::vector<Field>{view.dscp, view.ecn, view.pcp, view.hop_limit}),
            (std::vector<Field>{63, 0, 7, 255}));
  EXPECT_TRUE(view.strip_tag);
  ASSERT_TRUE(Apply({.ecn = 1, .pcp = Field(), .strip_tag = false}, &params).ok());
  EXPECT_EQ(params.rewrite, (fabric::RewriteParams{.dscp = 63, .ecn = 1, .hop_limit = 255}));
  EXPECT_FALSE(params.strip_tag);
  // Fields of one class.
  ASSERT_TRUE(Apply({.dscp = Field(), .ecn = Field(), .hop_limit = Field()}, &params).ok());
  EXPECT_FALSE(ToView(params, true).impaired);
  ASSERT_TRUE(Apply({.dscp = 0, .hop_limit = 1, .traffic_class = 4}, &params).ok());
  view = ToView(params, true);
  EXPECT_EQ(view.dscp, Field());
  ASSERT_EQ(view.of_class.size(), 1u);
  EXPECT_EQ(view.of_class[0].traffic_class, 4u);
  EXPECT_EQ(view.of_class[0].dscp, Field(0));
  EXPECT_EQ(view.of_class[0].hop_limit, Field(1));
  EXPECT_EQ(view.of_class[0].pcp, Field());
}

TEST(ImpairValues, WhatIsNotGivenStays) {
  fabric::ImpairmentParams params{.delay = std::chrono::microseconds(3), .loss = 77};
  ASSERT_TRUE(Apply({.rate_gbps = 5,
                     .down = true,
                     .hole_classes = std::vector<uint32_t>{0, 7},
                     .hole_destinations = std::vector<std::string>{"02:00:00:00:00:01", "0x10"}},
                    &params)
                  .ok());
  EXPECT_EQ(params.loss, 77u);
  EXPECT_EQ(params.delay, std::chrono::microseconds(3));
  EXPECT_EQ(params.rate_bps, 5'000'000'000u);
  EXPECT_TRUE(params.down);
  EXPECT_EQ(params.hole_classes, 0x81);
  EXPECT_EQ(params.hole_destinations, (std::vector<uint64_t>{0x020000000001, 16}));
  const ImpairView view = ToView(params, /*by_mac=*/false);
  EXPECT_EQ(view.hole_destinations[1], "16");
  EXPECT_FALSE(Apply({.hole_destinations = std::vector<std::string>{"x"}}, &params).ok());
  EXPECT_EQ(params.hole_destinations.size(), 2u);
}

}  // namespace
}  // namespace suede
