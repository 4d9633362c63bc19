// SPDX-License-Identifier: Apache-2.0
// Conversion of bytes to and from hex.
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

// Parses hex bytes. Spaces, tabs and colons may separate bytes, not the digits of a byte.
std::optional<Bytes> ParseHex(std::string_view text);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_HEX_H_
