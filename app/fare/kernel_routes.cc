// SPDX-License-Identifier: Apache-2.0
#include "kernel_routes.h"

#include <libmnl/libmnl.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace suede::fare {
namespace {

constexpr size_t kReceiveBytes = 65536;  // larger than any part of a dump
constexpr int kQueueBytes = 1 << 20;     // socket buffer for notifications
constexpr int kPartsPerPoll = 256;
// Max repetitions of a dump because routes changed meanwhile; then the result is used as it is.
constexpr uint32_t kMaxInterruptions = 4;

absl::Status NetlinkError(const char* what) {
  return absl::UnavailableError(StrCat("netlink: ", what, ": ", std::strerror(errno)));
}

absl::Status Join(mnl_socket* socket) {
  for (const int group : {RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_LINK}) {
    int value = group;
    if (mnl_socket_setsockopt(socket, NETLINK_ADD_MEMBERSHIP, &value, sizeof value) < 0) {
      return NetlinkError("the notifications of routes");
    }
  }
  int group = RTNLGRP_NEXTHOP;  // absent before Linux 5.3, like nexthop objects
  mnl_socket_setsockopt(socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof group);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<KernelRoutes>> KernelRoutes::Open(std::vector<FarePrefix> prefixes,
                                                                 uint32_t table) {
  mnl_socket* socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket == nullptr) return NetlinkError("socket");
  std::unique_ptr<KernelRoutes> routes(new KernelRoutes(socket, std::move(prefixes), table));
  setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUF, &kQueueBytes, sizeof kQueueBytes);
  if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) return NetlinkError("bind");
  if (absl::Status joined = Join(socket); !joined.ok()) return joined;
  if (absl::Status begun = routes->Begin(); !begun.ok()) return begun;
  return routes;
}

KernelRoutes::KernelRoutes(mnl_socket* socket, std::vector<FarePrefix> prefixes, uint32_t table)
    : socket_(socket), table_(table), hops_(prefixes.size()), buffer_(kReceiveBytes) {
  for (size_t i = 0; i < prefixes.size(); ++i) places_.emplace(prefixes[i], i);
}

KernelRoutes::~KernelRoutes() { mnl_socket_close(socket_); }

int KernelRoutes::fd() const { return mnl_socket_get_fd(socket_); }

// ---- Requests.

bool KernelRoutes::Wants(Step step) const {
  if (step == Step::kNextHops) return true;
  return std::any_of(places_.begin(), places_.end(),
                     [&](const auto& one) { return one.first.is_v6 == (step == Step::kRoutes6); });
}

absl::Status KernelRoutes::Ask(Step step) {
  alignas(nlmsghdr) char buffer[256] = {};
  nlmsghdr* message = mnl_nlmsg_put_header(buffer);
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message->nlmsg_seq = ++sequence_;
  if (step == Step::kNextHops) {
    message->nlmsg_type = RTM_GETNEXTHOP;
    mnl_nlmsg_put_extra_header(message, sizeof(nhmsg));
  } else {
    message->nlmsg_type = RTM_GETROUTE;
    auto* head = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(rtmsg)));
    head->rtm_family = step == Step::kRoutes6 ? AF_INET6 : AF_INET;
  }
  step_ = step;
  if (mnl_socket_sendto(socket_, message, message->nlmsg_len) < 0)
    return NetlinkError("a question");
  return absl::OkStatus();
}

absl::Status KernelRoutes::Begin() {
  again_ = interrupted_ = false;
  next_hops_.clear();
  routes_.assign(hops_.size(), std::nullopt);
  return Ask(Step::kNextHops);
}

// ---- Replies.

absl::StatusOr<bool> KernelRoutes::Poll() {
  bool fresh = false;
  for (int i = 0; i < kPartsPerPoll; ++i) {
    const ssize_t n = mnl_socket_recvfrom(socket_, buffer_.data(), buffer_.size());
    if (n < 0 && errno == ENOBUFS) {
      again_ = true;  // notifications were lost
      // Parts of a dump may have been lost.
      if (step_ != Step::kIdle) step_ = Step::kIdle;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n < 0) return NetlinkError("routes");
    absl::Status received = OnMessages(buffer_.data(), static_cast<size_t>(n), &fresh);
    if (!received.ok()) return received;
  }
  if (again_ && step_ == Step::kIdle) {
    if (absl::Status begun = Begin(); !begun.ok()) return begun;
  }
  return fresh;
}

absl::Status KernelRoutes::OnMessages(const char* buffer, size_t bytes, bool* fresh) {
  int left = static_cast<int>(bytes);
  for (const auto* message = reinterpret_cast<const nlmsghdr*>(buffer); mnl_nlmsg_ok(message, left);
       message = mnl_nlmsg_next(message, &left)) {
    const bool answers = message->nlmsg_pid == mnl_socket_get_portid(socket_) &&
                         message->nlmsg_seq == sequence_ && step_ != Step::kIdle;
    if (!answers) {
      again_ |= Matters(message);
      continue;
    }
    interrupted_ |= (message->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
    // Kernels without nexthop objects reject the request for them.
    const bool refused = message->nlmsg_type == NLMSG_ERROR;
    if (refused && step_ != Step::kNextHops) {
      return absl::UnavailableError("netlink: the kernel rejected the route dump");
    }
    if (!refused && message->nlmsg_type != NLMSG_DONE) {
      OnEntry(message);
    } else if (absl::Status done = OnDone(fresh); !done.ok()) {
      return done;
    }
  }
  return absl::OkStatus();
}

void KernelRoutes::OnEntry(const nlmsghdr* message) {
  if (message->nlmsg_type == RTM_NEWNEXTHOP) {
    if (auto one = ParseNextHop(message)) next_hops_[one->id] = *std::move(one);
    return;
  }
  if (message->nlmsg_type != RTM_NEWROUTE) return;
  std::optional<RouteMessage> route = ParseRoute(message);
  if (!route || route->table != table_) return;
  const auto place = places_.find(route->prefix);
  if (place == places_.end()) return;
  std::optional<RouteMessage>& best = routes_[place->second];
  if (!best || route->priority < best->priority) {
    best = std::move(route);
  } else if (route->priority == best->priority && route->prefix.is_v6) {
    // Next hops of one IPv6 route may arrive in several messages.
    best->hops.insert(best->hops.end(), route->hops.begin(), route->hops.end());
  }
}

absl::Status KernelRoutes::OnDone(bool* fresh) {
  for (const Step next : {Step::kRoutes4, Step::kRoutes6}) {
    if (next > step_ && Wants(next)) return Ask(next);
  }
  step_ = Step::kIdle;
  again_ |= interrupted_;
  if (interrupted_ && ++interruptions_ < kMaxInterruptions) return absl::OkStatus();
  interruptions_ = 0;
  Finish();
  *fresh = true;
  return absl::OkStatus();
}

// Whether a notification may concern the prefixes' routes.
bool KernelRoutes::Matters(const nlmsghdr* message) const {
  switch (message->nlmsg_type) {
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
    case RTM_NEWLINK:
    case RTM_DELLINK:
      return true;
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      break;
    default:
      return false;
  }
  const std::optional<RouteMessage> route = ParseRoute(message);
  return route && route->table == table_ && places_.contains(route->prefix);
}

// ---- Result.

// Appends the next hops of a nexthop id: its own, or those of its group.
void KernelRoutes::Expand(uint32_t id, uint32_t share, std::vector<KernelHop>& out) const {
  const auto found = next_hops_.find(id);
  if (found == next_hops_.end()) return;
  if (found->second.hop) {
    out.push_back(*found->second.hop);
    out.back().share = share;
  }
  for (const auto& [member, weight] : found->second.group) {
    const auto one = next_hops_.find(member);
    if (one == next_hops_.end() || !one->second.hop) continue;
    out.push_back(*one->second.hop);
    out.back().share = weight;
  }
}

void KernelRoutes::Finish() {
  for (size_t i = 0; i < hops_.size(); ++i) {
    hops_[i].clear();
    if (!routes_[i]) continue;
    const uint32_t id = routes_[i]->next_hop_id;
    if (next_hops_.contains(id)) {
      Expand(id, 1, hops_[i]);
    } else {
      hops_[i] = std::move(routes_[i]->hops);
    }
  }
}

}  // namespace suede::fare
