// SPDX-License-Identifier: Apache-2.0
// Makes OpenSSL allocate blocks that may hold keys in locked memory.
#ifndef SUEDE_OPENSSL_KEY_MEMORY_H_
#define SUEDE_OPENSSL_KEY_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "seal/locked_memory.h"

namespace suede::internal {

// Whether OpenSSL uses this allocator, which KeyMemory requires. It is installed before main, as
// OpenSSL permits it only before its own first allocation.
bool OpensslMemoryIsOurs();

// While an object exists, OpenSSL's allocations in this thread come from LockedMemory::OfProcess().
// A freed block returns to its own allocator, at any time and in any thread.
class KeyMemory {
 public:
  // Blocks larger than LockedMemory supports: not allocated, or allocated outside. The large blocks
  // of a connection are buffers of its records.
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

  // Whether a block of that size is allocated in locked memory.
  static bool Takes(size_t bytes) { return active_ && !LiesOutside(bytes); }
  // Whether a block of that size is large and is allocated outside.
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
