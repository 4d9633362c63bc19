// Abseil's string building with std::string_view. Abseil's own string_view is another type where it
// was built as C++14, which distributions do.
#ifndef SUEDE_CONTROL_CONFIG_TEXT_H_
#define SUEDE_CONTROL_CONFIG_TEXT_H_

#include <string>
#include <string_view>

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

}  // namespace suede

#endif  // SUEDE_CONTROL_CONFIG_TEXT_H_
