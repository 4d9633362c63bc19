// Messages of std::string_view. Abseil's own string_view is another type where it was built as
// C++14, which distributions do.
#ifndef SUEDE_SUEDECTL_FRAME_TEXT_H_
#define SUEDE_SUEDECTL_FRAME_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace suede::ctl {

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

// Input or usage that is not right.
template <class... Parts>
absl::Status Wrong(const Parts&... parts) {
  return absl::InvalidArgumentError(StrCat(parts...));
}

inline std::string_view MessageOf(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_TEXT_H_
