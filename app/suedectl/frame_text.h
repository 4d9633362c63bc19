// SPDX-License-Identifier: Apache-2.0
// Errors of the frame commands.
#ifndef SUEDE_SUEDECTL_FRAME_TEXT_H_
#define SUEDE_SUEDECTL_FRAME_TEXT_H_

#include <string_view>

#include "absl/status/status.h"
#include "base/text.h"

namespace suede::ctl {

// Returns an error about invalid input or usage.
template <class... Parts>
absl::Status Wrong(const Parts&... parts) {
  return absl::InvalidArgumentError(StrCat(parts...));
}

inline std::string_view MessageOf(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_TEXT_H_
