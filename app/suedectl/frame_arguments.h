// SPDX-License-Identifier: Apache-2.0
// The parser of a frame command's arguments: flags and one file.
#ifndef SUEDE_SUEDECTL_FRAME_ARGUMENTS_H_
#define SUEDE_SUEDECTL_FRAME_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "suedectl/exit_codes.h"

namespace suede::ctl {

// A flag with a value: "--name value" or "--name=value"; "-o value" for a name of one letter.
struct Flag {
  std::string_view name;
  std::string_view* value;
};

struct Given {
  bool help = false;
  std::string_view file;  // empty: none
};

// Parses the arguments and stores the flags' values. An argument behind "--" is a file.
absl::StatusOr<Given> TakeArguments(std::span<const std::string_view> arguments,
                                    std::span<const Flag> flags);

// Parses a decimal number, or a hexadecimal one with prefix 0x.
std::optional<uint64_t> ParseNumber(std::string_view text);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_ARGUMENTS_H_
