// SPDX-License-Identifier: Apache-2.0
// Lines of limited length.
#ifndef SUEDE_APP_SUEDECTL_WRAP_TEXT_H_
#define SUEDE_APP_SUEDECTL_WRAP_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"

namespace suede::ctl {

inline constexpr size_t kTextColumns = 100;

// Breaks the text at spaces, and longer words at commas, into lines of at most `columns`
// characters, if words permit. Lines after the first begin with `indent` spaces, and the first is
// `at` characters into its line already.
inline std::string WrapText(std::string_view text, size_t at, size_t indent, size_t columns) {
  std::string out;
  const auto next_line = [&] {
    while (out.ends_with(' ')) out.pop_back();
    StrAppend(&out, "\n", std::string(indent, ' '));
    at = indent;
  };
  bool is_first = true;
  for (std::string_view word : Split(text, ' ')) {
    const bool fits = at + (is_first ? 0 : 1) + word.size() <= columns;
    if (!is_first && !fits) {
      next_line();
    } else if (!is_first) {
      out += ' ';
      ++at;
    }
    is_first = false;
    while (columns > at && word.size() > columns - at) {
      const size_t comma = word.substr(0, columns - at).rfind(',');
      if (comma == std::string_view::npos) break;
      out += word.substr(0, comma + 1);
      word.remove_prefix(comma + 1);
      next_line();
    }
    out += word;
    at += word.size();
  }
  return out;
}

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_WRAP_TEXT_H_
