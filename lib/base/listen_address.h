// SPDX-License-Identifier: Apache-2.0
// Address of a server: "127.0.0.1:9464". A port without an address means 127.0.0.1; port 0 means
// any free port.
#ifndef SUEDE_BASE_LISTEN_ADDRESS_H_
#define SUEDE_BASE_LISTEN_ADDRESS_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  const auto number = [](std::string_view digits, uint32_t max, uint32_t& out) {
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, out);
    return !digits.empty() && parsed.ec == std::errc() && parsed.ptr == end && out <= max;
  };
  ListenAddress address;
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  const bool is_port_alone = colon == std::string_view::npos;
  if (!number(is_port_alone ? text : text.substr(colon + 1), 65535, port)) return std::nullopt;
  address.port = static_cast<uint16_t>(port);
  if (is_port_alone) return address;
  address.ip = 0;
  const std::vector<std::string_view> bytes = Split(text.substr(0, colon), '.');
  if (bytes.size() != 4) return std::nullopt;
  for (const std::string_view byte : bytes) {
    uint32_t value = 0;
    if (byte.size() > 3 || !number(byte, 255, value)) return std::nullopt;
    address.ip = address.ip << 8 | value;
  }
  return address;
}

}  // namespace suede

#endif  // SUEDE_BASE_LISTEN_ADDRESS_H_
