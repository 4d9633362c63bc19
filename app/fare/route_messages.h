// SPDX-License-Identifier: Apache-2.0
// Parses rtnetlink messages about routes and next hops. No I/O.
#ifndef SUEDE_APP_FARE_ROUTE_MESSAGES_H_
#define SUEDE_APP_FARE_ROUTE_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fare_config.h"

struct nlmsghdr;

namespace suede::fare {

// A working next hop, as far as the kernel knows.
struct KernelHop {
  uint32_t interface = 0;  // interface index
  uint32_t share = 1;      // weight
  std::string gateway;     // inet_ntop's format; empty: the peer is on-link
  friend bool operator==(const KernelHop&, const KernelHop&) = default;
};

struct RouteMessage {
  FarePrefix prefix;
  uint32_t table = 0;
  uint32_t priority = 0;        // metric; the kernel prefers the lowest
  uint32_t next_hop_id = 0;     // a nexthop object or group; 0: `hops` are complete
  std::vector<KernelHop> hops;  // empty: the route drops
};
// Returns nullopt if the message is malformed or about another kind of route.
std::optional<RouteMessage> ParseRoute(const nlmsghdr* message);

// A nexthop object, or a group of them.
struct NextHopMessage {
  uint32_t id = 0;
  std::optional<KernelHop> hop;                      // nullopt: a group, dead or a blackhole
  std::vector<std::pair<uint32_t, uint32_t>> group;  // ids and weights
};
std::optional<NextHopMessage> ParseNextHop(const nlmsghdr* message);

}  // namespace suede::fare

#endif  // SUEDE_APP_FARE_ROUTE_MESSAGES_H_
