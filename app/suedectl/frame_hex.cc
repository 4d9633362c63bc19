// SPDX-License-Identifier: Apache-2.0
#include "suedectl/frame_hex.h"

#include "base/numbers.h"

namespace suede::ctl {
namespace {

bool Separates(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ':'; }

}  // namespace

std::string ToHex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<Bytes> ParseHex(std::string_view text) {
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (Separates(text[i])) continue;
    const auto byte = suede::ParseNumber<uint8_t>(text.substr(i, 2), 0xff, 16);
    if (!byte || i + 1 == text.size()) return std::nullopt;
    bytes.push_back(*byte);
    ++i;
  }
  return bytes;
}

}  // namespace suede::ctl
