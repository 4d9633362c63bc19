// SPDX-License-Identifier: Apache-2.0
#include "perf/short_flags.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "base/text.h"

namespace suede::perf {
namespace {

constexpr ShortFlag kShortFlags[] = {
    {'a', "sizes", "sweep"}, {'b', "bidirectional", ""}, {'d', "endpoint", ""},
    {'D', "duration", ""},   {'h', "help", ""},          {'H', "histogram", ""},
    {'n', "count", ""},      {'q', "queues", ""},        {'Q', "completions", ""},
    {'s', "size", ""},       {'S', "vcs", ""},           {'t', "inflight", ""},
    {'V', "version", ""},    {'w', "min_bw", ""},
};

// Whether the word is a flag of one letter: -x, -x=VALUE, or -x and a number.
bool IsShort(std::string_view word) {
  if (word.size() < 2 || word[0] != '-' || !absl::ascii_isalpha(static_cast<uint8_t>(word[1]))) {
    return false;
  }
  return word.size() == 2 || word[2] == '=' || absl::ascii_isdigit(static_cast<uint8_t>(word[2]));
}

}  // namespace

std::span<const ShortFlag> ShortFlags() { return kShortFlags; }

char LetterOf(std::string_view name) {
  for (const ShortFlag& flag : kShortFlags) {
    if (flag.name == name && flag.value.empty()) return flag.letter;
  }
  return 0;
}

absl::StatusOr<std::vector<std::string>> WithLongFlags(std::span<const char* const> words) {
  std::vector<std::string> out;
  bool is_ours = true;
  for (const std::string_view word : words) {
    is_ours &= word != "--";
    if (!is_ours || !IsShort(word)) {
      out.emplace_back(word);
      continue;
    }
    const auto found = std::ranges::find(kShortFlags, word[1], &ShortFlag::letter);
    if (found == std::end(kShortFlags)) {
      std::string letters;
      for (const ShortFlag& flag : kShortFlags)
        StrAppend(&letters, " -", std::string(1, flag.letter));
      return absl::InvalidArgumentError(
          StrCat(word, " is no flag; those of one letter are", letters, ", and --help lists all"));
    }
    const std::string_view rest = word.substr(word.size() > 2 && word[2] == '=' ? 3 : 2);
    out.push_back(StrCat("--", found->name));
    if (!found->value.empty()) {
      if (word.size() > 2) {
        return absl::InvalidArgumentError(StrCat(word, ": -", std::string(1, word[1]),
                                                 " stands for --", found->name, "=", found->value,
                                                 "; give it without a value"));
      }
      StrAppend(&out.back(), "=", found->value);
    } else if (word.size() > 2) {
      StrAppend(&out.back(), "=", rest);
    }
  }
  return out;
}

}  // namespace suede::perf
