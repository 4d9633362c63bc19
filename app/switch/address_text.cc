// SPDX-License-Identifier: Apache-2.0
#include "switch/address_text.h"

#include <arpa/inet.h>

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/big_endian.h"
#include "base/numbers.h"
#include "config/config_values.h"

namespace suede {
namespace {

using fabric::ForwardingTable;

std::optional<uint64_t> MacIn(std::string_view text) {
  const std::optional<MacAddress> mac = ParseMac(text);
  return mac ? std::optional(MacNumber(*mac)) : std::nullopt;
}

std::optional<uint64_t> NumberIn(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  return ParseNumber<uint64_t>(text, UINT64_MAX, hex ? 16 : 10);
}

// Returns the key of an IP address; nullopt if the text is none.
std::optional<NetAddress> IpKeyIn(const std::string& text) {
  std::array<uint8_t, 16> bytes{};
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) {
    return ForwardingTable::Ipv4Key(static_cast<Ipv4Address>(LoadBe64(bytes.data()) >> 32));
  }
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) {
    return ForwardingTable::Ipv6Key(
        {.high = LoadBe64(bytes.data()), .low = LoadBe64(bytes.data() + 8)});
  }
  return std::nullopt;
}

absl::Status Refusal(std::string_view text, std::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("address: '", std::string(text),
                   "' is not an address by which this switch forwards; use ", std::string(wanted)));
}

}  // namespace

std::string MacText(uint64_t mac) {
  return absl::StrFormat("%02x:%02x:%02x:%02x:%02x:%02x", mac >> 40 & 0xff, mac >> 32 & 0xff,
                         mac >> 24 & 0xff, mac >> 16 & 0xff, mac >> 8 & 0xff, mac & 0xff);
}

std::optional<uint64_t> MacOrNumber(std::string_view text) {
  if (const std::optional<uint64_t> mac = MacIn(text)) return mac;
  return NumberIn(text);
}

absl::StatusOr<NetAddress> KeyOf(std::string_view text, uint32_t vid,
                                 fabric::Forwarding forwarding) {
  if (forwarding == fabric::Forwarding::kAfh1 || forwarding == fabric::Forwarding::kAfh2) {
    const uint64_t max = forwarding == fabric::Forwarding::kAfh1 ? 0xffff : 0xffffffff;
    const std::optional<uint64_t> number = NumberIn(text);
    if (!number || *number > max) return Refusal(text, absl::StrCat("a number up to ", max));
    if (vid != 0) return absl::InvalidArgumentError("vid: AFH addresses have none; leave it out");
    return ForwardingTable::ForwardingKey(static_cast<uint32_t>(*number));
  }
  if (const std::optional<uint64_t> mac = MacIn(text)) {
    if ((*mac >> 40 & 1) != 0) return Refusal(text, "the address of one station, not a group's");
    return ForwardingTable::MacKey(*mac, static_cast<uint16_t>(vid));
  }
  if (forwarding != fabric::Forwarding::kIp)
    return Refusal(text, "a MAC address: 02:00:00:00:00:01");
  const std::optional<NetAddress> ip = IpKeyIn(std::string(text));
  if (!ip) return Refusal(text, "a MAC, IPv4 or IPv6 address");
  if (vid != 0) return absl::InvalidArgumentError("vid: IP addresses have none; leave it out");
  return *ip;
}

std::string KeyText(const NetAddress& key, ForwardingTable::KeyKind kind) {
  switch (kind) {
    case ForwardingTable::KeyKind::kMac:
      return MacText(key.low);
    case ForwardingTable::KeyKind::kForwarding:
      return absl::StrCat(key.low);
    case ForwardingTable::KeyKind::kIpv4:
    case ForwardingTable::KeyKind::kIpv6:
      break;
  }
  return FormatIp({.is_v6 = kind == ForwardingTable::KeyKind::kIpv6, .value = key});
}

}  // namespace suede
