// SPDX-License-Identifier: Apache-2.0
#include "openssl/key_memory.h"

#include <openssl/crypto.h>

#include <cstdlib>
#include <cstring>

#include "seal/locked_memory.h"

namespace suede::internal {
namespace {

// Hooks for OpenSSL. The last two arguments, file and line of the caller, are "" and 0 here.
void* Allocate(size_t bytes, const char*, int) {
  return KeyMemory::Takes(bytes) ? LockedMemory::OfProcess().Allocate(bytes) : std::malloc(bytes);
}

void Free(void* block, const char*, int) {
  LockedMemory& locked = LockedMemory::OfProcess();
  if (locked.Holds(block)) return locked.Free(block);
  std::free(block);
}

// Keeps a block in its allocator, locked memory or outside: locked blocks may hold keys, and others
// need not move in.
void* Reallocate(void* block, size_t bytes, const char* file, int line) {
  if (block == nullptr) return Allocate(bytes, file, line);
  LockedMemory& locked = LockedMemory::OfProcess();
  if (!locked.Holds(block)) return std::realloc(block, bytes);
  if (bytes == 0) {
    locked.Free(block);
    return nullptr;
  }
  const size_t old_bytes = locked.BytesOf(block);
  if (bytes <= old_bytes) return block;
  void* const larger = KeyMemory::LiesOutside(bytes) ? std::malloc(bytes) : locked.Allocate(bytes);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, block, old_bytes);
  locked.Free(block);
  return larger;
}

const bool is_ours = CRYPTO_set_mem_functions(Allocate, Reallocate, Free) == 1;

}  // namespace

thread_local bool KeyMemory::active_ = false;
thread_local KeyMemory::Large KeyMemory::large_ = KeyMemory::Large::kNone;

bool OpensslMemoryIsOurs() { return is_ours; }

}  // namespace suede::internal
