// SPDX-License-Identifier: Apache-2.0
// suedectl frame decode, suedectl frame encode (docs/frames.md).
#ifndef SUEDE_SUEDECTL_FRAME_COMMANDS_H_
#define SUEDE_SUEDECTL_FRAME_COMMANDS_H_

#include <cstdio>
#include <span>
#include <string_view>

#include "suedectl/local_command.h"

namespace suede::ctl {

int RunFrameDecode(std::span<const std::string_view> arguments, FILE* in, FILE* out, FILE* err);
int RunFrameEncode(std::span<const std::string_view> arguments, FILE* in, FILE* out, FILE* err);

inline constexpr LocalCommand kFrameCommands[] = {
    {"frame decode", "reads frames as a port does, prints each as a JSON object", RunFrameDecode},
    {"frame encode", "makes frames from JSON objects", RunFrameEncode},
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_COMMANDS_H_
