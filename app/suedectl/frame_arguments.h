// SPDX-License-Identifier: Apache-2.0
// Arguments of one command: flags of its own, and one file.
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

// "--name value" or "--name=value"; a name of one letter as "-o value".
struct Flag {
  std::string_view name;
  std::string_view* value;
};

struct Given {
  bool help = false;
  std::string_view file;  // empty: none
};

// Behind "--" everything is a file.
absl::StatusOr<Given> TakeArguments(std::span<const std::string_view> arguments,
                                    std::span<const Flag> flags);

// A decimal number, or a hexadecimal one behind 0x.
std::optional<uint64_t> ParseNumber(std::string_view text);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_ARGUMENTS_H_
