// SPDX-License-Identifier: Apache-2.0
#include "route_messages.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cstring>

namespace suede::fare {
namespace {

// Ignores RTNH_F_LINKDOWN: the kernel uses next hops without carrier unless configured otherwise,
// and then marks them dead. Also, the kernel leaves that flag on some next hops whose carrier is
// back.
constexpr uint32_t kNotWorking = RTNH_F_DEAD;

// Calls `visit` for each attribute in `bytes` bytes.
template <class Visit>
void EachAttribute(const void* first, size_t bytes, Visit&& visit) {
  int left = static_cast<int>(bytes);
  for (const auto* one = static_cast<const nlattr*>(first); mnl_attr_ok(one, left);) {
    visit(*one, static_cast<uint16_t>(mnl_attr_get_type(one)));
    left -= static_cast<int>(MNL_ALIGN(one->nla_len));
    one = mnl_attr_next(one);
  }
}

template <class Header, class Visit>
const Header* EachAttributeOf(const nlmsghdr* message, Visit&& visit) {
  if (message->nlmsg_len < mnl_nlmsg_size(sizeof(Header))) return nullptr;
  EachAttribute(mnl_nlmsg_get_payload_offset(message, sizeof(Header)),
                mnl_nlmsg_get_payload_len(message) - MNL_ALIGN(sizeof(Header)),
                std::forward<Visit>(visit));
  return static_cast<const Header*>(mnl_nlmsg_get_payload(message));
}

uint32_t U32Of(const nlattr& attribute) {
  uint32_t value = 0;
  if (mnl_attr_get_payload_len(&attribute) >= sizeof value) {
    std::memcpy(&value, mnl_attr_get_payload(&attribute), sizeof value);
  }
  return value;
}

std::string AddressOf(int family, const void* bytes, size_t count) {
  if (count != (family == AF_INET6 ? 16u : 4u)) return "";
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family, bytes, text, sizeof text);
  return text;
}

// Parses a gateway, of the route's family or of another (RTA_VIA).
void TakeGateway(const nlattr& attribute, uint16_t type, int family, KernelHop& hop) {
  const auto* bytes = static_cast<const uint8_t*>(mnl_attr_get_payload(&attribute));
  const size_t count = mnl_attr_get_payload_len(&attribute);
  if (type == RTA_GATEWAY) hop.gateway = AddressOf(family, bytes, count);
  if (type != RTA_VIA || count < sizeof(rtvia)) return;
  uint16_t via = 0;
  std::memcpy(&via, bytes, sizeof via);
  hop.gateway = AddressOf(via, bytes + sizeof(rtvia), count - sizeof(rtvia));
}

void TakeMultipath(const nlattr& attribute, int family, std::vector<KernelHop>& hops) {
  const auto* at = static_cast<const uint8_t*>(mnl_attr_get_payload(&attribute));
  size_t left = mnl_attr_get_payload_len(&attribute);
  while (left >= sizeof(rtnexthop)) {
    rtnexthop head;
    std::memcpy(&head, at, sizeof head);
    if (head.rtnh_len < sizeof head || head.rtnh_len > left) return;
    KernelHop hop{.interface = static_cast<uint32_t>(head.rtnh_ifindex),
                  .share = head.rtnh_hops + 1u};
    EachAttribute(at + sizeof head, head.rtnh_len - sizeof head,
                  [&](const nlattr& one, uint16_t type) { TakeGateway(one, type, family, hop); });
    if ((head.rtnh_flags & kNotWorking) == 0) hops.push_back(std::move(hop));
    const size_t step = std::min<size_t>(RTNH_ALIGN(head.rtnh_len), left);
    at += step;
    left -= step;
  }
}

void TakeGroup(const nlattr& attribute, NextHopMessage& out) {
  const auto* at = static_cast<const uint8_t*>(mnl_attr_get_payload(&attribute));
  const size_t count = mnl_attr_get_payload_len(&attribute) / sizeof(nexthop_grp);
  for (size_t i = 0; i < count; ++i) {
    nexthop_grp one;
    std::memcpy(&one, at + i * sizeof one, sizeof one);
    out.group.emplace_back(one.id, one.weight + 1u);
  }
}

bool TakePrefix(const rtmsg& head, const nlattr* destination, FarePrefix& prefix) {
  prefix.is_v6 = head.rtm_family == AF_INET6;
  prefix.bits = head.rtm_dst_len;
  if (destination == nullptr) return head.rtm_dst_len == 0;
  const size_t bytes = prefix.is_v6 ? 16 : 4;
  if (mnl_attr_get_payload_len(destination) != bytes || prefix.bits > 8 * bytes) return false;
  std::memcpy(prefix.bytes.data(), mnl_attr_get_payload(destination), bytes);
  return true;
}

}  // namespace

std::optional<RouteMessage> ParseRoute(const nlmsghdr* message) {
  RouteMessage route;
  KernelHop single;
  const nlattr* destination = nullptr;
  const nlattr* multipath = nullptr;
  if (message->nlmsg_len < mnl_nlmsg_size(sizeof(rtmsg))) return std::nullopt;
  const int family = static_cast<const rtmsg*>(mnl_nlmsg_get_payload(message))->rtm_family;
  const rtmsg* head = EachAttributeOf<rtmsg>(message, [&](const nlattr& one, uint16_t type) {
    if (type == RTA_DST) destination = &one;
    if (type == RTA_OIF) single.interface = U32Of(one);
    if (type == RTA_PRIORITY) route.priority = U32Of(one);
    if (type == RTA_TABLE) route.table = U32Of(one);
    if (type == RTA_NH_ID) route.next_hop_id = U32Of(one);
    if (type == RTA_MULTIPATH) multipath = &one;
    TakeGateway(one, type, family, single);
  });
  if ((family != AF_INET && family != AF_INET6) || (head->rtm_flags & RTM_F_CLONED) != 0 ||
      !TakePrefix(*head, destination, route.prefix)) {
    return std::nullopt;
  }
  if (route.table == 0) route.table = head->rtm_table;
  if (head->rtm_type != RTN_UNICAST) {
    route.next_hop_id = 0;
    return route;
  }
  if (multipath != nullptr) {
    TakeMultipath(*multipath, family, route.hops);
  } else if (single.interface != 0 && (head->rtm_flags & kNotWorking) == 0) {
    route.hops.push_back(std::move(single));
  }
  return route;
}

std::optional<NextHopMessage> ParseNextHop(const nlmsghdr* message) {
  NextHopMessage out;
  KernelHop hop;
  bool drops = false;
  if (message->nlmsg_len < mnl_nlmsg_size(sizeof(nhmsg))) return std::nullopt;
  const int family = static_cast<const nhmsg*>(mnl_nlmsg_get_payload(message))->nh_family;
  const nhmsg* head = EachAttributeOf<nhmsg>(message, [&](const nlattr& one, uint16_t type) {
    if (type == NHA_ID) out.id = U32Of(one);
    if (type == NHA_OIF) hop.interface = U32Of(one);
    if (type == NHA_GROUP) TakeGroup(one, out);
    if (type == NHA_GATEWAY) TakeGateway(one, RTA_GATEWAY, family, hop);
    if (type == NHA_BLACKHOLE) drops = true;
  });
  if (out.id == 0) return std::nullopt;
  const bool works = !drops && hop.interface != 0 && (head->nh_flags & kNotWorking) == 0;
  if (works && out.group.empty()) out.hop = std::move(hop);
  return out;
}

}  // namespace suede::fare
