// SPDX-License-Identifier: Apache-2.0
// Copying a command: 2 to a few hundred bytes, without a call and mostly without a branch.
#ifndef SUEDE_BASE_COPY_H_
#define SUEDE_BASE_COPY_H_

#include <cstdint>
#include <cstring>

namespace suede {

// CopyCommand may touch so many bytes at either place, of a shorter command, too: the room
// that the first line of a ring's record has for a command, in whole words.
inline constexpr uint32_t kCopyBytes = 48;

// Copies `bytes`, at least 1. Up to kCopyBytes bytes from each start may be read and
// written, however few are asked for; nothing behind that or the command's end is touched.
inline __attribute__((always_inline)) void CopyCommand(uint8_t* to, const uint8_t* from,
                                                       uint32_t bytes) {
  std::memcpy(to, from, 16);
  std::memcpy(to + 16, from + 16, 16);
  std::memcpy(to + 32, from + 32, 16);
  if (bytes <= kCopyBytes) return;
  const uint32_t last = bytes - 16;
  for (uint32_t i = kCopyBytes; i < last; i += 16) std::memcpy(to + i, from + i, 16);
  std::memcpy(to + last, from + last, 16);
}

}  // namespace suede

#endif  // SUEDE_BASE_COPY_H_
