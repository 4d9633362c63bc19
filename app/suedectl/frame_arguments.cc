// SPDX-License-Identifier: Apache-2.0
#include "suedectl/frame_arguments.h"

#include <algorithm>

#include "base/numbers.h"
#include "suedectl/frame_text.h"

namespace suede::ctl {
namespace {

const Flag* FlagOf(std::string_view name, std::span<const Flag> flags) {
  const bool letter = name.size() == 2 && name[0] == '-' && name[1] != '-';
  if (!letter && !name.starts_with("--")) return nullptr;
  name.remove_prefix(letter ? 1 : 2);
  const auto flag = std::find_if(flags.begin(), flags.end(), [&](const Flag& candidate) {
    return candidate.name == name && (name.size() == 1) == letter;
  });
  return flag != flags.end() ? &*flag : nullptr;
}

}  // namespace

absl::StatusOr<Given> TakeArguments(std::span<const std::string_view> arguments,
                                    std::span<const Flag> flags) {
  Given given;
  bool only_files = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (only_files || argument == "-" || !argument.starts_with('-')) {
      if (argument.empty()) return Wrong("'", argument, "' is no file");
      if (!given.file.empty()) return Wrong("'", argument, "' is a second file; one is read");
      given.file = argument;
      continue;
    }
    if (argument == "--") {
      only_files = true;
      continue;
    }
    if (argument == "--help" || argument == "-h") {
      given.help = true;
      return given;
    }
    const size_t equals = argument.starts_with("--") ? argument.find('=') : std::string_view::npos;
    const Flag* flag = FlagOf(argument.substr(0, equals), flags);
    if (flag == nullptr) return Wrong("'", argument, "' is no flag of this command");
    if (equals != std::string_view::npos) {
      *flag->value = argument.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      *flag->value = arguments[++i];
    } else {
      return Wrong("'", argument, "' requires a value");
    }
  }
  return given;
}

std::optional<uint64_t> ParseNumber(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  return suede::ParseNumber<uint64_t>(text, UINT64_MAX, base);
}

}  // namespace suede::ctl
