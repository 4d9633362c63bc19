// SPDX-License-Identifier: Apache-2.0
// Address of a server: "127.0.0.1:9464". A port without an address means 127.0.0.1; port 0 means
// any free port.
#ifndef SUEDE_BASE_LISTEN_ADDRESS_H_
#define SUEDE_BASE_LISTEN_ADDRESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"

namespace suede {

struct ListenAddress {
  uint32_t ip = 0x7f000001;
  uint16_t port = 0;

  bool is_loopback() const { return ip >> 24 == 127; }
  std::string host() const {
    return StrCat(ip >> 24, ".", ip >> 16 & 0xff, ".", ip >> 8 & 0xff, ".", ip & 0xff);
  }
  std::string text() const { return StrCat(host(), ":", port); }
};

inline std::optional<ListenAddress> ParseListenAddress(std::string_view text) {
  ListenAddress address;
  const size_t colon = text.rfind(':');
  const bool is_port_alone = colon == std::string_view::npos;
  const auto port = ParseNumber<uint16_t>(is_port_alone ? text : text.substr(colon + 1));
  if (!port) return std::nullopt;
  address.port = *port;
  if (is_port_alone) return address;
  address.ip = 0;
  const std::vector<std::string_view> bytes = Split(text.substr(0, colon), '.');
  if (bytes.size() != 4) return std::nullopt;
  for (const std::string_view byte : bytes) {
    const auto value = ParseNumber<uint8_t>(byte);
    if (byte.size() > 3 || !value) return std::nullopt;
    address.ip = address.ip << 8 | *value;
  }
  return address;
}

}  // namespace suede

#endif  // SUEDE_BASE_LISTEN_ADDRESS_H_
