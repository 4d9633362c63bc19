// SPDX-License-Identifier: Apache-2.0
// The kernel's routes to some prefixes, and their changes (rtnetlink). For use by one thread; never
// blocks.
//
// On any relevant notification, all routes are dumped again: so neither omissions in notifications,
// as for parts of a multipath route, nor losses when the socket overflows can leave a stale state.
#ifndef SUEDE_APP_FARE_KERNEL_ROUTES_H_
#define SUEDE_APP_FARE_KERNEL_ROUTES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fare_config.h"
#include "route_messages.h"

struct mnl_socket;

namespace suede::fare {

class KernelRoutes {
 public:
  // Opens a socket in the thread's network namespace, and requests the first dump.
  static absl::StatusOr<std::unique_ptr<KernelRoutes>> Open(std::vector<FarePrefix> prefixes,
                                                            uint32_t table);
  ~KernelRoutes();
  KernelRoutes(const KernelRoutes&) = delete;
  KernelRoutes& operator=(const KernelRoutes&) = delete;

  // Readable when Poll has work.
  int fd() const;
  // Processes a bounded number of messages. Returns whether the next hops were read again; an error
  // if the kernel does not reply.
  absl::StatusOr<bool> Poll();
  // Returns the working next hops of the route to a prefix, by its index in `prefixes`.
  const std::vector<KernelHop>& hops(size_t prefix) const { return hops_[prefix]; }

 private:
  enum class Step : uint8_t { kIdle, kNextHops, kRoutes4, kRoutes6 };

  KernelRoutes(mnl_socket* socket, std::vector<FarePrefix> prefixes, uint32_t table);
  absl::Status Ask(Step step);
  absl::Status Begin();
  absl::Status OnMessages(const char* buffer, size_t bytes, bool* fresh);
  void OnEntry(const nlmsghdr* message);
  absl::Status OnDone(bool* fresh);
  bool Matters(const nlmsghdr* message) const;
  bool Wants(Step step) const;
  void Finish();
  void Expand(uint32_t id, uint32_t share, std::vector<KernelHop>& out) const;

  mnl_socket* const socket_;
  const uint32_t table_;
  std::map<FarePrefix, size_t> places_;  // index of each prefix
  std::vector<std::vector<KernelHop>> hops_;
  // State of the current dump.
  Step step_ = Step::kIdle;
  uint32_t sequence_ = 0;
  bool again_ = true;         // routes have changed since the last request
  bool interrupted_ = false;  // routes have changed during the dump
  uint32_t interruptions_ = 0;
  std::map<uint32_t, NextHopMessage> next_hops_;
  std::vector<std::optional<RouteMessage>>
      routes_;  // for each prefix, the route with the lowest priority value
  std::vector<char> buffer_;
};

}  // namespace suede::fare

#endif  // SUEDE_APP_FARE_KERNEL_ROUTES_H_
