// SPDX-License-Identifier: Apache-2.0
#ifndef SUEDE_TESTS_SEAL_HEX_H_
#define SUEDE_TESTS_SEAL_HEX_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"

namespace suede {

using Bytes = std::vector<uint8_t>;

inline Bytes FromHex(std::string_view hex) {
  Bytes bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, bytes[i], 16);
  }
  return bytes;
}

inline std::string ToHex(std::span<const uint8_t> bytes) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace suede

#endif  // SUEDE_TESTS_SEAL_HEX_H_
