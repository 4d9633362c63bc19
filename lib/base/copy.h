// Copying a command: 2 to a few hundred octets, exactly, without a call.
#ifndef SUEDE_BASE_COPY_H_
#define SUEDE_BASE_COPY_H_

#include <cstdint>
#include <cstring>

namespace suede {

// Copies `bytes` octets, at least 2. Touches nothing outside of either range.
inline __attribute__((always_inline)) void CopyCommand(uint8_t* to, const uint8_t* from,
                                                       uint32_t bytes) {
  if (bytes >= 16) {
    const uint32_t last = bytes - 16;
    for (uint32_t i = 0; i < last; i += 16) std::memcpy(to + i, from + i, 16);
    std::memcpy(to + last, from + last, 16);
  } else if (bytes >= 8) {
    uint64_t head, tail;
    std::memcpy(&head, from, 8);
    std::memcpy(&tail, from + bytes - 8, 8);
    std::memcpy(to, &head, 8);
    std::memcpy(to + bytes - 8, &tail, 8);
  } else if (bytes >= 4) {
    uint32_t head, tail;
    std::memcpy(&head, from, 4);
    std::memcpy(&tail, from + bytes - 4, 4);
    std::memcpy(to, &head, 4);
    std::memcpy(to + bytes - 4, &tail, 4);
  } else {
    to[0] = from[0];
    to[1] = from[1];
    to[bytes - 1] = from[bytes - 1];
  }
}

}  // namespace suede

#endif  // SUEDE_BASE_COPY_H_
