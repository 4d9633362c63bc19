// SPDX-License-Identifier: Apache-2.0
// Handles SIGBUS from pages of shared memory: they fail in hardware, or another process has
// removed them.
//
// An lcore that accesses such a page gets SIGBUS. The handler maps an anonymous page in its place
// and marks the range as broken, so that only the other process that shares it is affected.
#ifndef SUEDE_LOCAL_SIGBUS_H_
#define SUEDE_LOCAL_SIGBUS_H_

#include <cstddef>

namespace suede {

class SigbusGuard {
 public:
  // Max concurrent ranges.
  static constexpr int kMaxRanges = 2048;

  // Adds a mapping with pages of `page_bytes` bytes; returns -1 if the table is full. Installs the
  // handler on first use. Any thread.
  static int Register(void* base, size_t bytes, size_t page_bytes);
  static void Unregister(int range);
  static bool IsBroken(int range);
};

}  // namespace suede

#endif  // SUEDE_LOCAL_SIGBUS_H_
