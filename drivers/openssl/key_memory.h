// SPDX-License-Identifier: Apache-2.0
// Lets OpenSSL allocate in locked memory what holds keys.
#ifndef SUEDE_OPENSSL_KEY_MEMORY_H_
#define SUEDE_OPENSSL_KEY_MEMORY_H_

namespace suede::internal {

// Whether OpenSSL takes its memory from this room: then KeyMemory works. It is arranged before
// main, as OpenSSL permits it only before its own first allocation.
bool OpensslMemoryIsOurs();

// While one exists, what OpenSSL allocates in this thread lies in LockedMemory::OfProcess(). What
// it frees goes back to where it came from, at any time and in any thread.
class KeyMemory {
 public:
  KeyMemory() : outer_(active_) { active_ = true; }
  ~KeyMemory() { active_ = outer_; }
  KeyMemory(const KeyMemory&) = delete;
  KeyMemory& operator=(const KeyMemory&) = delete;

  static bool active() { return active_; }

 private:
  static thread_local bool active_;
  const bool outer_;
};

}  // namespace suede::internal

#endif  // SUEDE_OPENSSL_KEY_MEMORY_H_
