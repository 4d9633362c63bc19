// SPDX-License-Identifier: Apache-2.0
// The JSON object of a frame (docs/frames.md).
#ifndef SUEDE_SUEDECTL_FRAME_JSON_H_
#define SUEDE_SUEDECTL_FRAME_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "suedectl/frame_description.h"

namespace suede::ctl {

// On one line, without its end.
std::string FrameToJson(const FrameDescription& description);

// The message of an error starts with the field that it is about, where it is about one.
absl::StatusOr<FrameDescription> FrameFromJson(std::string_view text);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_JSON_H_
