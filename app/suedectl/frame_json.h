// SPDX-License-Identifier: Apache-2.0
// Conversion of frame descriptions to and from JSON (docs/frames.md).
#ifndef SUEDE_SUEDECTL_FRAME_JSON_H_
#define SUEDE_SUEDECTL_FRAME_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "suedectl/frame_description.h"

namespace suede::ctl {

// Returns one line, without a newline.
std::string FrameToJson(const FrameDescription& description);

// Parses the JSON object of a frame. An error's message begins with the name of the field, if any.
absl::StatusOr<FrameDescription> FrameFromJson(std::string_view text);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_JSON_H_
