// SPDX-License-Identifier: Apache-2.0
// Messages of rtnetlink about routes and next hops, as values. No I/O.
#ifndef SUEDE_APP_FARE_ROUTE_MESSAGES_H_
#define SUEDE_APP_FARE_ROUTE_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/fare_config.h"

struct nlmsghdr;

namespace suede::fare {

// A next hop that works, as far as the kernel knows.
struct KernelHop {
  uint32_t interface = 0;  // its index
  uint32_t share = 1;      // the weight
  std::string gateway;     // as inet_ntop writes it; empty: the peer is on the link
  friend bool operator==(const KernelHop&, const KernelHop&) = default;
};

struct RouteMessage {
  FarePrefix prefix;
  uint32_t table = 0;
  uint32_t priority = 0;        // of several routes, the kernel takes the one with the least
  uint32_t next_hop_id = 0;     // of a next hop or a group of them; 0: `hops` are all
  std::vector<KernelHop> hops;  // none: what is sent there is dropped
};
// None: the message is malformed, or about another kind of route.
std::optional<RouteMessage> ParseRoute(const nlmsghdr* message);

// A next hop that has a number, or a group of them.
struct NextHopMessage {
  uint32_t id = 0;
  std::optional<KernelHop> hop;                      // none: a group, or it drops
  std::vector<std::pair<uint32_t, uint32_t>> group;  // numbers and weights
};
std::optional<NextHopMessage> ParseNextHop(const nlmsghdr* message);

}  // namespace suede::fare

#endif  // SUEDE_APP_FARE_ROUTE_MESSAGES_H_
