// SPDX-License-Identifier: Apache-2.0
// Loads and stores of a window's memory, which threads of the program access concurrently
// (docs/memory.md, "Atomicity").
#ifndef SUEDE_MEM_MEMORY_ACCESS_H_
#define SUEDE_MEM_MEMORY_ACCESS_H_

#include <atomic>
#include <cstdint>
#include <cstring>

namespace suede::mem {

inline bool IsAligned(const void* p, uint32_t bytes) {
  return reinterpret_cast<uintptr_t>(p) % bytes == 0;
}

// Stores `bytes` octets with release semantics; aligned 4 and 8 with a single store.
inline void StoreOctets(uint8_t* memory, const uint8_t* octets, uint32_t bytes) {
  if (bytes == 8 && IsAligned(memory, 8)) {
    uint64_t value;
    std::memcpy(&value, octets, sizeof value);
    __atomic_store_n(reinterpret_cast<uint64_t*>(memory), value, __ATOMIC_RELEASE);
  } else if (bytes == 4 && IsAligned(memory, 4)) {
    uint32_t value;
    std::memcpy(&value, octets, sizeof value);
    __atomic_store_n(reinterpret_cast<uint32_t*>(memory), value, __ATOMIC_RELEASE);
  } else {
    if (bytes != 0) std::memcpy(memory, octets, bytes);
    std::atomic_thread_fence(std::memory_order_release);
  }
}

// Loads `bytes` octets with acquire semantics; aligned 4 and 8 with a single load.
inline void LoadOctets(const uint8_t* memory, uint8_t* octets, uint32_t bytes) {
  if (bytes == 8 && IsAligned(memory, 8)) {
    const uint64_t value =
        __atomic_load_n(reinterpret_cast<const uint64_t*>(memory), __ATOMIC_ACQUIRE);
    std::memcpy(octets, &value, sizeof value);
  } else if (bytes == 4 && IsAligned(memory, 4)) {
    const uint32_t value =
        __atomic_load_n(reinterpret_cast<const uint32_t*>(memory), __ATOMIC_ACQUIRE);
    std::memcpy(octets, &value, sizeof value);
  } else {
    std::atomic_thread_fence(std::memory_order_acquire);
    std::memcpy(octets, memory, bytes);
  }
}

}  // namespace suede::mem

#endif  // SUEDE_MEM_MEMORY_ACCESS_H_
