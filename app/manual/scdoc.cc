// SPDX-License-Identifier: Apache-2.0
#include "scdoc.h"

#include "base/text.h"

namespace suede::manual {

std::string Plain(std::string_view text) {
  // Characters special to scdoc anywhere, and at the beginning.
  constexpr std::string_view kInside = "\\*_~";
  constexpr std::string_view kAtStart = "#-.|[];";
  std::string out;
  for (const char c : text) {
    if (kInside.find(c) != std::string_view::npos ||
        (out.empty() && kAtStart.find(c) != std::string_view::npos)) {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string Bold(std::string_view text) { return StrCat("*", Plain(text), "*"); }

std::string Underlined(std::string_view text) { return StrCat("_", Plain(text), "_"); }

std::string Definition(std::string_view term, std::string_view meaning) {
  return StrCat(term, "\n\t", Plain(meaning), "\n\n");
}

}  // namespace suede::manual
