// SPDX-License-Identifier: Apache-2.0
// Bytes in hex.
#ifndef SUEDE_SUEDECTL_FRAME_HEX_H_
#define SUEDE_SUEDECTL_FRAME_HEX_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace suede::ctl {

using Bytes = std::vector<uint8_t>;

std::string ToHex(std::span<const uint8_t> bytes);

// Spaces, tabs and colons may stand between bytes, not between the digits of one.
std::optional<Bytes> ParseHex(std::string_view text);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_HEX_H_
