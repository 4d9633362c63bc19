// SPDX-License-Identifier: Apache-2.0
// Parts of manual pages, generated from the programs' declarations.
#ifndef SUEDE_APP_MANUAL_FRAGMENTS_H_
#define SUEDE_APP_MANUAL_FRAGMENTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace suede::manual {

// A line "@NAME@" of a template is replaced by a fragment.
struct Fragment {
  std::string_view name;
  std::string (*make)();
};
std::span<const Fragment> Fragments();

// Returns the template with its fragments filled in; nullopt if one is unknown. The lines
// "@about FILE@" and "@header FILE@" stand for parts of a header in `headers`, a directory.
std::optional<std::string> FillIn(std::string_view text, const std::string& headers);

enum class Shell : uint8_t { kBash, kZsh };
// Returns a script that completes the flags of a program; empty if it is unknown.
std::string FlagCompletion(std::string_view program, Shell shell);

}  // namespace suede::manual

#endif  // SUEDE_APP_MANUAL_FRAGMENTS_H_
