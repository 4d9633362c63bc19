// SPDX-License-Identifier: Apache-2.0
// An IP address with a port, as of a TCP connection: "198.18.0.1:7420", "[2001:db8::1]:7420". No
// host names, and so no name resolution.
#ifndef SUEDE_BASE_SOCKET_ADDRESS_H_
#define SUEDE_BASE_SOCKET_ADDRESS_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"

namespace suede {

class SocketAddress {
 public:
  SocketAddress() = default;
  // `storage`: filled in by a system call such as accept().
  explicit SocketAddress(const sockaddr_storage& storage) : storage_(storage) {}

  int family() const { return storage_.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t bytes() const { return is_v6() ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }
  // Returns the IPv4 address, or the first half of the IPv6 address, which identifies a source.
  uint64_t network() const {
    uint64_t network = 0;
    if (is_v6()) {
      std::memcpy(&network, &v6()->sin6_addr, sizeof network);
    } else {
      network = v4()->sin_addr.s_addr;
    }
    return network;
  }
  // Returns the IP address without the port.
  std::string host() const {
    char host[INET6_ADDRSTRLEN] = "";
    const void* const ip = is_v6() ? static_cast<const void*>(&v6()->sin6_addr) : &v4()->sin_addr;
    inet_ntop(family(), ip, host, sizeof host);
    return host;
  }
  std::string text() const {
    if (is_v6()) return StrCat("[", host(), "]:", ntohs(v6()->sin6_port));
    return StrCat(host(), ":", ntohs(v4()->sin_port));
  }
  // Whether the address is the wildcard address.
  bool is_any() const {
    return is_v6() ? IN6_IS_ADDR_UNSPECIFIED(&v6()->sin6_addr)
                   : v4()->sin_addr.s_addr == INADDR_ANY;
  }
  // Returns the same IP address with port 0, for which the kernel chooses a port.
  SocketAddress without_port() const {
    SocketAddress address = *this;
    static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
    reinterpret_cast<sockaddr_in*>(&address.storage_)->sin_port = 0;
    return address;
  }

 private:
  friend std::optional<SocketAddress> ParseSocketAddress(std::string_view text);
  bool is_v6() const { return storage_.ss_family == AF_INET6; }
  const sockaddr_in* v4() const { return reinterpret_cast<const sockaddr_in*>(&storage_); }
  const sockaddr_in6* v6() const { return reinterpret_cast<const sockaddr_in6*>(&storage_); }

  sockaddr_storage storage_{};
};

// Returns nullopt if the text is invalid. Port 0 is invalid.
inline std::optional<SocketAddress> ParseSocketAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const uint16_t port = ParseNumber<uint16_t>(text.substr(colon + 1)).value_or(0);
  if (port == 0) return std::nullopt;
  std::string host(text.substr(0, colon));
  if (host.find('\0') != std::string::npos) return std::nullopt;
  SocketAddress address;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&address.storage_);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    host = host.substr(1, host.size() - 2);
    if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) != 1) return std::nullopt;
    return address;
  }
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&address.storage_);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) != 1) return std::nullopt;
  return address;
}

}  // namespace suede

#endif  // SUEDE_BASE_SOCKET_ADDRESS_H_
