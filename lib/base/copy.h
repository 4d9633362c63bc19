// SPDX-License-Identifier: Apache-2.0
// Copies of a command, 2 to a few hundred bytes, without a call and mostly without a branch.
#ifndef SUEDE_BASE_COPY_H_
#define SUEDE_BASE_COPY_H_

#include <cstdint>
#include <cstring>

namespace suede {

// Bytes that CopyCommand may access at source and destination even for a shorter command: the room
// for a command in the first line of a ring record, in whole words.
inline constexpr uint32_t kCopyBytes = 48;

// Copies a command of up to kCopyBytes bytes, as kCopyBytes bytes.
inline __attribute__((always_inline)) void CopyShort(uint8_t* to, const uint8_t* from) {
  std::memcpy(to, from, 16);
  std::memcpy(to + 16, from + 16, 16);
  std::memcpy(to + 32, from + 32, 16);
}

// Copies a command of kCopyBytes to twice as many bytes, by its first and its last kCopyBytes;
// accesses no other bytes.
inline __attribute__((always_inline)) void CopyMiddling(uint8_t* to, const uint8_t* from,
                                                        uint32_t bytes) {
  CopyShort(to, from);
  CopyShort(to + bytes - kCopyBytes, from + bytes - kCopyBytes);
}

// Copies a longer command; accesses no other bytes. The last step ends at the end of the command,
// so it may copy some bytes twice.
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

// Copies `bytes` bytes, at least 1. May read and write kCopyBytes bytes from each start, even if
// `bytes` is less, and no bytes behind those and the command's end.
inline __attribute__((always_inline)) void CopyCommand(uint8_t* to, const uint8_t* from,
                                                       uint32_t bytes) {
  if (bytes <= kCopyBytes) return CopyShort(to, from);
  if (bytes <= 2 * kCopyBytes) return CopyMiddling(to, from, bytes);
  CopyLong(to, from, bytes);
}

}  // namespace suede

#endif  // SUEDE_BASE_COPY_H_
