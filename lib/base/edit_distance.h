// SPDX-License-Identifier: Apache-2.0
// The Levenshtein distance of two short texts, for suggestions in messages.
#ifndef SUEDE_BASE_EDIT_DISTANCE_H_
#define SUEDE_BASE_EDIT_DISTANCE_H_

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace suede {

inline size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// Returns up to three of `names` that are similar to `word`, the most similar first.
inline std::vector<std::string> Nearest(std::string_view word,
                                        const std::vector<std::string>& names) {
  std::vector<std::pair<size_t, std::string>> close;
  for (const std::string& name : names) {
    const size_t distance = EditDistance(word, name);
    // A common prefix is a stronger hint than a small edit distance.
    const bool begins = word.size() >= 3 && name.starts_with(word.substr(0, 3));
    if (distance <= 1 + name.size() / 4 || begins) close.emplace_back(distance, name);
  }
  std::stable_sort(close.begin(), close.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (size_t i = 0; i < std::min<size_t>(close.size(), 3); ++i) nearest.push_back(close[i].second);
  return nearest;
}

}  // namespace suede

#endif  // SUEDE_BASE_EDIT_DISTANCE_H_
