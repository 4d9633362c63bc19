// SPDX-License-Identifier: Apache-2.0
// Lets OpenSSL allocate in locked memory what holds keys.
#ifndef SUEDE_OPENSSL_KEY_MEMORY_H_
#define SUEDE_OPENSSL_KEY_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "seal/locked_memory.h"

namespace suede::internal {

// Whether OpenSSL takes its memory from this room: then KeyMemory works. It is arranged before
// main, as OpenSSL permits it only before its own first allocation.
bool OpensslMemoryIsOurs();

// While one exists, blocks that OpenSSL allocates in this thread lie in LockedMemory::OfProcess().
// Blocks that OpenSSL frees go back to where they came from, at any time and in any thread.
class KeyMemory {
 public:
  // Blocks that are larger than LockedMemory holds: there are none, or they lie outside. The large
  // blocks of a connection are buffers of its records.
  enum class Large : uint8_t { kNone, kOutside };

  explicit KeyMemory(Large large = Large::kNone) : outer_(active_), outer_large_(large_) {
    active_ = true;
    large_ = large;
  }
  ~KeyMemory() {
    active_ = outer_;
    large_ = outer_large_;
  }
  KeyMemory(const KeyMemory&) = delete;
  KeyMemory& operator=(const KeyMemory&) = delete;

  // Whether a block of that size belongs into locked memory,
  static bool Takes(size_t bytes) { return active_ && !LiesOutside(bytes); }
  // or is of the large ones that may lie outside.
  static bool LiesOutside(size_t bytes) {
    return active_ && large_ == Large::kOutside && bytes > LockedMemory::kMaxBytes;
  }

 private:
  static thread_local bool active_;
  static thread_local Large large_;
  const bool outer_;
  const Large outer_large_;
};

}  // namespace suede::internal

#endif  // SUEDE_OPENSSL_KEY_MEMORY_H_
