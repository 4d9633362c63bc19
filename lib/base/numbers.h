// SPDX-License-Identifier: Apache-2.0
// Numbers in texts.
#ifndef SUEDE_BASE_NUMBERS_H_
#define SUEDE_BASE_NUMBERS_H_

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace suede {

// Parses a number that takes up the whole text, without blanks, "+" or "0x". Returns nullopt if it
// is malformed or above `max`.
template <class T>
std::optional<T> ParseNumber(std::string_view text, T max = std::numeric_limits<T>::max(),
                             int base = 10) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && last == end && number <= max ? std::optional(number)
                                                              : std::nullopt;
}

}  // namespace suede

#endif  // SUEDE_BASE_NUMBERS_H_
