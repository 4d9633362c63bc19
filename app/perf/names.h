// SPDX-License-Identifier: Apache-2.0
// Tables of the names of values, for flags and reports.
#ifndef SUEDE_APP_PERF_NAMES_H_
#define SUEDE_APP_PERF_NAMES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace suede::perf {

template <class T>
using Named = std::pair<T, const char*>;

template <class T, size_t N>
constexpr const char* NameOf(const Named<T> (&names)[N], std::type_identity_t<T> value) {
  for (const auto& [named, name] : names) {
    if (named == value) return name;
  }
  return "?";
}

template <class T, size_t N>
constexpr std::optional<T> FindNamed(const Named<T> (&names)[N], std::string_view wanted) {
  for (const auto& [named, name] : names) {
    if (name == wanted) return named;
  }
  return std::nullopt;
}

// Returns "a, b or c".
template <class T, size_t N>
std::string ListOf(const Named<T> (&names)[N]) {
  std::string list = names[0].second;
  for (size_t i = 1; i < N; ++i) list += (i + 1 < N ? ", " : " or ") + std::string(names[i].second);
  return list;
}

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_NAMES_H_
