// SPDX-License-Identifier: Apache-2.0
#include "suedectl/frame_hex.h"

namespace suede::ctl {
namespace {

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

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
    const int high = DigitOf(text[i]);
    const int low = i + 1 < text.size() ? DigitOf(text[i + 1]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
    ++i;
  }
  return bytes;
}

}  // namespace suede::ctl
