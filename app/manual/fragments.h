// SPDX-License-Identifier: Apache-2.0
// The parts of manual pages that declarations of the program become.
#ifndef SUEDE_APP_MANUAL_FRAGMENTS_H_
#define SUEDE_APP_MANUAL_FRAGMENTS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace suede::manual {

// A line "@NAME@" of a template stands for a fragment.
struct Fragment {
  std::string_view name;
  std::string (*make)();
};
std::span<const Fragment> Fragments();

// The template with its fragments; nothing where it names one that there is not.
std::optional<std::string> FillIn(std::string_view text);

// A script for bash that completes the flags of a program; empty: no such program.
std::string FlagCompletion(std::string_view program);

}  // namespace suede::manual

#endif  // SUEDE_APP_MANUAL_FRAGMENTS_H_
