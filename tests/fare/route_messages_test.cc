// SPDX-License-Identifier: Apache-2.0
#include "route_messages.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <libmnl/libmnl.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>

#include <cstring>
#include <random>
#include <vector>

namespace suede::fare {
namespace {

// Messages as the kernel would send them.
class RouteMessages : public ::testing::Test {
 protected:
  void Route(int family, uint8_t bits, uint8_t type = RTN_UNICAST) {
    message = mnl_nlmsg_put_header(buffer);
    message->nlmsg_type = RTM_NEWROUTE;
    route = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(rtmsg)));
    route->rtm_family = static_cast<uint8_t>(family);
    route->rtm_dst_len = bits;
    route->rtm_table = RT_TABLE_MAIN;
    route->rtm_type = type;
  }
  void NextHopOf(int family, uint32_t id) {
    message = mnl_nlmsg_put_header(buffer);
    message->nlmsg_type = RTM_NEWNEXTHOP;
    auto* head = static_cast<nhmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(nhmsg)));
    head->nh_family = static_cast<uint8_t>(family);
    mnl_attr_put_u32(message, NHA_ID, id);
  }
  void Put(uint16_t type, const char* address) {
    uint8_t bytes[16];
    const bool is_v6 = std::strchr(address, ':') != nullptr;
    ASSERT_EQ(inet_pton(is_v6 ? AF_INET6 : AF_INET, address, bytes), 1);
    mnl_attr_put(message, type, is_v6 ? 16 : 4, bytes);
  }
  void Multipath(std::initializer_list<rtnexthop> hops, const char* gateway) {
    nlattr* nest = mnl_attr_nest_start(message, RTA_MULTIPATH);
    for (rtnexthop hop : hops) {
      hop.rtnh_len = sizeof hop + MNL_ATTR_HDRLEN + 4;
      uint8_t bytes[sizeof(rtnexthop) + MNL_ATTR_HDRLEN + 4];
      const nlattr head{.nla_len = MNL_ATTR_HDRLEN + 4, .nla_type = RTA_GATEWAY};
      std::memcpy(bytes, &hop, sizeof hop);
      std::memcpy(bytes + sizeof hop, &head, sizeof head);
      inet_pton(AF_INET, gateway, bytes + sizeof hop + sizeof head);
      auto* at = static_cast<char*>(mnl_nlmsg_get_payload_tail(message));
      std::memcpy(at, bytes, sizeof bytes);
      message->nlmsg_len += sizeof bytes;
    }
    mnl_attr_nest_end(message, nest);
  }

  alignas(nlmsghdr) char buffer[4096] = {};
  nlmsghdr* message = nullptr;
  rtmsg* route = nullptr;
};

TEST_F(RouteMessages, ARouteWithOneNextHop) {
  Route(AF_INET, 32);
  Put(RTA_DST, "192.0.2.2");
  Put(RTA_GATEWAY, "10.0.0.2");
  mnl_attr_put_u32(message, RTA_OIF, 7);
  mnl_attr_put_u32(message, RTA_PRIORITY, 20);
  mnl_attr_put_u32(message, RTA_TABLE, 1001);
  const auto found = ParseRoute(message);
  ASSERT_TRUE(found);
  std::string problem;
  EXPECT_EQ(found->prefix, ParseFarePrefix("192.0.2.2", &problem));
  EXPECT_EQ(found->table, 1001u);
  EXPECT_EQ(found->priority, 20u);
  ASSERT_EQ(found->hops.size(), 1u);
  EXPECT_EQ(found->hops[0], (KernelHop{.interface = 7, .share = 1, .gateway = "10.0.0.2"}));
}

TEST_F(RouteMessages, MultipathHasWeightsAndDeadNextHops) {
  Route(AF_INET, 32);
  Put(RTA_DST, "192.0.2.2");
  Multipath({{.rtnh_flags = 0, .rtnh_hops = 65, .rtnh_ifindex = 3},
             {.rtnh_flags = RTNH_F_LINKDOWN, .rtnh_hops = 0, .rtnh_ifindex = 4},
             {.rtnh_flags = RTNH_F_DEAD | RTNH_F_LINKDOWN, .rtnh_hops = 9, .rtnh_ifindex = 5},
             {.rtnh_flags = RTNH_F_DEAD, .rtnh_hops = 9, .rtnh_ifindex = 6}},
            "10.0.0.2");
  const auto found = ParseRoute(message);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->table, static_cast<uint32_t>(RT_TABLE_MAIN));
  ASSERT_EQ(found->hops.size(), 2u);
  EXPECT_EQ(found->hops[0], (KernelHop{.interface = 3, .share = 66, .gateway = "10.0.0.2"}));
  EXPECT_EQ(found->hops[1].share, 1u);
}

TEST_F(RouteMessages, AnIpv4RouteThroughAnIpv6Neighbour) {
  Route(AF_INET, 32);
  Put(RTA_DST, "192.0.2.2");
  mnl_attr_put_u32(message, RTA_OIF, 7);
  uint8_t via[sizeof(rtvia) + 16] = {};
  const uint16_t family = AF_INET6;
  std::memcpy(via, &family, sizeof family);
  inet_pton(AF_INET6, "fe80::1", via + sizeof(rtvia));
  mnl_attr_put(message, RTA_VIA, sizeof via, via);
  EXPECT_EQ(ParseRoute(message)->hops[0].gateway, "fe80::1");
}

TEST_F(RouteMessages, Ipv6) {
  Route(AF_INET6, 128);
  Put(RTA_DST, "2001:db8::2");
  Put(RTA_GATEWAY, "fe80::2");
  mnl_attr_put_u32(message, RTA_OIF, 7);
  const auto found = ParseRoute(message);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->prefix.is_v6);
  EXPECT_EQ(found->hops[0].gateway, "fe80::2");
}

TEST_F(RouteMessages, WhatDropsHasNoNextHops) {
  Route(AF_INET, 32, RTN_UNREACHABLE);
  Put(RTA_DST, "192.0.2.2");
  mnl_attr_put_u32(message, RTA_OIF, 1);
  mnl_attr_put_u32(message, RTA_NH_ID, 5);
  const auto found = ParseRoute(message);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->hops.empty());
  EXPECT_EQ(found->next_hop_id, 0u);
}

TEST_F(RouteMessages, ClonesAndOtherFamiliesAreNoRoutes) {
  Route(AF_INET6, 128);
  route->rtm_flags = RTM_F_CLONED;
  Put(RTA_DST, "2001:db8::2");
  EXPECT_FALSE(ParseRoute(message));
  Route(AF_MPLS, 20);
  EXPECT_FALSE(ParseRoute(message));
  Route(AF_INET, 33);
  Put(RTA_DST, "192.0.2.2");
  EXPECT_FALSE(ParseRoute(message));
  Route(AF_INET, 32);
  EXPECT_FALSE(ParseRoute(message)) << "no destination";
  message->nlmsg_len = MNL_NLMSG_HDRLEN;
  EXPECT_FALSE(ParseRoute(message));
}

TEST_F(RouteMessages, NextHopsAndGroups) {
  NextHopOf(AF_INET, 17);
  mnl_attr_put_u32(message, NHA_OIF, 3);
  Put(NHA_GATEWAY, "10.1.0.2");
  auto found = ParseNextHop(message);
  ASSERT_TRUE(found && found->hop);
  EXPECT_EQ(found->id, 17u);
  EXPECT_EQ(found->hop->gateway, "10.1.0.2");
  NextHopOf(AF_UNSPEC, 16);
  const nexthop_grp group[] = {{.id = 17, .weight = 32}, {.id = 18, .weight = 65}};
  mnl_attr_put(message, NHA_GROUP, sizeof group, group);
  found = ParseNextHop(message);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->hop);
  EXPECT_EQ(found->group, (std::vector<std::pair<uint32_t, uint32_t>>{{17, 33}, {18, 66}}));
  NextHopOf(AF_INET, 19);
  mnl_attr_put(message, NHA_BLACKHOLE, 0, nullptr);
  EXPECT_FALSE(ParseNextHop(message)->hop);
}

// Any bytes behind the header: nothing is read beyond the message (sanitizers look).
TEST_F(RouteMessages, AnyBytesWillDo) {
  std::mt19937 random(5);
  for (int i = 0; i < 200'000; ++i) {
    const auto length = static_cast<uint32_t>(MNL_NLMSG_HDRLEN + random() % 120);
    std::vector<char> bytes(length);
    for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : random() % 32);
    auto* any = reinterpret_cast<nlmsghdr*>(bytes.data());
    any->nlmsg_len = length;
    if (length > MNL_NLMSG_HDRLEN) bytes[MNL_NLMSG_HDRLEN] = random() % 2 == 0 ? AF_INET : AF_INET6;
    ParseRoute(any);
    ParseNextHop(any);
  }
}

}  // namespace
}  // namespace suede::fare
