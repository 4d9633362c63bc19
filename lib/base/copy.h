// SPDX-License-Identifier: Apache-2.0
// Copying a command: 2 to a few hundred bytes, without a call and mostly without a branch.
#ifndef SUEDE_BASE_COPY_H_
#define SUEDE_BASE_COPY_H_

#include <cstdint>
#include <cstring>

namespace suede {

// Bytes that CopyCommand may touch at either place, even for a shorter command: the room that the
// first line of a ring's record has for a command, in whole words.
inline constexpr uint32_t kCopyBytes = 48;

// Copies a command of up to kCopyBytes bytes, as kCopyBytes bytes.
inline __attribute__((always_inline)) void CopyShort(uint8_t* to, const uint8_t* from) {
  std::memcpy(to, from, 16);
  std::memcpy(to + 16, from + 16, 16);
  std::memcpy(to + 32, from + 32, 16);
}

// Copies a command of kCopyBytes to twice as many bytes, and nothing else: its first and its last
// ones.
inline __attribute__((always_inline)) void CopyMiddling(uint8_t* to, const uint8_t* from,
                                                        uint32_t bytes) {
  CopyShort(to, from);
  CopyShort(to + bytes - kCopyBytes, from + bytes - kCopyBytes);
}

// Copies a command of more bytes, and nothing else. The last step ends where the command does, so
// it may copy bytes again that the step before it has copied.
inline __attribute__((always_inline)) void CopyLong(uint8_t* to, const uint8_t* from,
                                                    uint32_t bytes) {
  uint32_t i = 0;
  for (; i + 64 <= bytes; i += 64) {
    std::memcpy(to + i, from + i, 16);
    std::memcpy(to + i + 16, from + i + 16, 16);
    std::memcpy(to + i + 32, from + i + 32, 16);
    std::memcpy(to + i + 48, from + i + 48, 16);
  }
  const uint32_t last = bytes - 16;
  for (; i < last; i += 16) std::memcpy(to + i, from + i, 16);
  std::memcpy(to + last, from + last, 16);
}

// Copies `bytes`, at least 1. Up to kCopyBytes bytes from each start may be read and
// written, however few are asked for; nothing behind that or the command's end is touched.
inline __attribute__((always_inline)) void CopyCommand(uint8_t* to, const uint8_t* from,
                                                       uint32_t bytes) {
  if (bytes <= kCopyBytes) return CopyShort(to, from);
  if (bytes <= 2 * kCopyBytes) return CopyMiddling(to, from, bytes);
  CopyLong(to, from, bytes);
}

}  // namespace suede

#endif  // SUEDE_BASE_COPY_H_
