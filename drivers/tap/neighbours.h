// SPDX-License-Identifier: Apache-2.0
// IP addresses of an interface, and its neighbours' MAC addresses in the kernel's neighbour table.
#ifndef SUEDE_TAP_NEIGHBOURS_H_
#define SUEDE_TAP_NEIGHBOURS_H_

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct mnl_socket;
struct nlmsghdr;

namespace suede {

// IPv4 in low, IPv6 in high and low; in host order.
struct LinkAddress {
  bool is_v6 = false;
  uint64_t high = 0;
  uint64_t low = 0;
  friend auto operator<=>(const LinkAddress&, const LinkAddress&) = default;
};

// Adds an address to an interface; no error if the interface already has it.
absl::Status AddAddress(uint32_t interface, const LinkAddress& address, uint32_t prefix_bits);

// For use by one thread.
class Neighbours {
 public:
  using Mac = std::array<uint8_t, 6>;
  using Found = std::function<void(const LinkAddress&, const Mac&)>;

  // Opens the neighbour table of an interface in the thread's network namespace.
  static absl::StatusOr<std::unique_ptr<Neighbours>> Open(uint32_t interface);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  // Readable when Poll has work.
  int fd() const;
  // Calls `found` for the neighbours that the kernel has learnt since the last call; the first
  // calls report all known neighbours. Bounded per call.
  void Poll(const Found& found);
  // Requests that the kernel resolve the neighbour, or verify its reachability.
  void Resolve(const LinkAddress& address);

 private:
  Neighbours(mnl_socket* socket, uint32_t interface) : socket_(socket), interface_(interface) {}
  void RequestDump();
  void OnMessage(const nlmsghdr* message, const Found& found) const;

  mnl_socket* const socket_;
  const uint32_t interface_;
  uint32_t sequence_ = 0;
};

}  // namespace suede

#endif  // SUEDE_TAP_NEIGHBOURS_H_
