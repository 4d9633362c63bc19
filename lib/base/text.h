// SPDX-License-Identifier: Apache-2.0
// Abseil's string building with std::string_view. Abseil's own string_view is another type if
// Abseil was built as C++14, as in distributions.
#ifndef SUEDE_BASE_TEXT_H_
#define SUEDE_BASE_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace suede {

template <class T>
const T& TextPart(const T& value) {
  return value;
}
inline absl::string_view TextPart(const std::string_view& text) {
  return {text.data(), text.size()};
}

template <class... Parts>
std::string StrCat(const Parts&... parts) {
  return absl::StrCat(TextPart(parts)...);
}

template <class... Parts>
void StrAppend(std::string* out, const Parts&... parts) {
  absl::StrAppend(out, TextPart(parts)...);
}

template <class List>
std::string StrJoin(const List& list, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += separator;
    first = false;
    StrAppend(&out, item);
  }
  return out;
}

// Returns the pieces between `separator`s, which point into `text`.
inline std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (size_t at = 0;;) {
    const size_t end = text.find(separator, at);
    pieces.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return pieces;
    at = end + 1;
  }
}

}  // namespace suede

#endif  // SUEDE_BASE_TEXT_H_
