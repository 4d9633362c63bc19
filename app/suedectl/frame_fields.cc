// SPDX-License-Identifier: Apache-2.0
#include "suedectl/frame_fields.h"

#include <arpa/inet.h>

#include "base/big_endian.h"
#include "base/text.h"
#include "suedectl/frame_hex.h"

namespace suede::ctl {
namespace {

std::string ColonHex(uint64_t word, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) {
    const auto byte = static_cast<uint8_t>(word >> (8 * i));
    if (!text.empty()) text += ':';
    text += ToHex({&byte, 1});
  }
  return text;
}

// Parses exactly `bytes` pairs of hex digits, separated by colons.
std::optional<NetAddress> ParseColonHex(const std::string& text, size_t bytes) {
  if (text.size() != bytes * 3 - 1) return std::nullopt;
  for (size_t i = 2; i < text.size(); i += 3) {
    if (text[i] != ':') return std::nullopt;
  }
  const auto parsed = ParseHex(text);
  if (!parsed.has_value() || parsed->size() != bytes) return std::nullopt;
  uint64_t word = 0;
  for (const uint8_t byte : *parsed) word = word << 8 | byte;
  return NetAddress{.low = word};
}

}  // namespace

MacAddress MacOfWord(uint64_t word) {
  MacAddress mac;
  StoreBe16(mac.data(), static_cast<uint16_t>(word >> 32));
  StoreBe32(mac.data() + 2, static_cast<uint32_t>(word));
  return mac;
}

std::string FormatValue(FieldKind kind, Encap encap, const NetAddress& value) {
  if (kind == FieldKind::kMac) return ColonHex(value.low, 6);
  if (kind == FieldKind::kMacPrefix) return ColonHex(value.low, 4);
  uint8_t bytes[16];
  char text[INET6_ADDRSTRLEN] = "";
  if (TraitsOf(encap).addresses == AddressKind::kIpv6) {
    StoreBe64(bytes, value.high);
    StoreBe64(bytes + 8, value.low);
    inet_ntop(AF_INET6, bytes, text, sizeof text);
  } else {
    StoreBe32(bytes, static_cast<uint32_t>(value.low));
    inet_ntop(AF_INET, bytes, text, sizeof text);
  }
  return text;
}

std::optional<NetAddress> ParseValue(FieldKind kind, Encap encap, const std::string& text) {
  if (kind == FieldKind::kMac) return ParseColonHex(text, 6);
  if (kind == FieldKind::kMacPrefix) return ParseColonHex(text, 4);
  if (text.find('\0') != std::string::npos) return std::nullopt;
  uint8_t bytes[16];
  if (TraitsOf(encap).addresses == AddressKind::kIpv6) {
    if (inet_pton(AF_INET6, text.c_str(), bytes) != 1) return std::nullopt;
    return NetAddress{.high = LoadBe64(bytes), .low = LoadBe64(bytes + 8)};
  }
  if (inet_pton(AF_INET, text.c_str(), bytes) != 1) return std::nullopt;
  return NetAddress{.low = LoadBe32(bytes)};
}

std::string RangeOf(const FieldRow& row) {
  switch (row.kind) {
    case FieldKind::kNumber:
      return StrCat(row.min, " to ", row.max);
    case FieldKind::kFlag:
      return "true, false";
    case FieldKind::kMac:
      return "MAC address";
    case FieldKind::kMacPrefix:
      return "A:B:C:D";
    case FieldKind::kIpAddress:
      break;
  }
  return "IP address";
}

}  // namespace suede::ctl
