// SPDX-License-Identifier: Apache-2.0
// Flags of one letter, as perftest has them.
#ifndef SUEDE_APP_PERF_SHORT_FLAGS_H_
#define SUEDE_APP_PERF_SHORT_FLAGS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace suede::perf {

struct ShortFlag {
  char letter;
  std::string_view name;   // of the long flag
  std::string_view value;  // implied; empty: the flag has its own, unless it is boolean
};
std::span<const ShortFlag> ShortFlags();
// Returns the letter that stands for the flag and its own value; 0: none.
char LetterOf(std::string_view name);

// Returns the words with short flags in their long form: -s 64, -s64 and -s=64 as --size 64 and
// --size=64. Rejects other flags of one letter. Leaves all that follows "--".
absl::StatusOr<std::vector<std::string>> WithLongFlags(std::span<const char* const> words);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_SHORT_FLAGS_H_
