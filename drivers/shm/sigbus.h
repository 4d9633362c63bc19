// SPDX-License-Identifier: Apache-2.0
// Handles SIGBUS from pages of segments and windows that fail in hardware.
//
// An lcore that accesses such a page gets SIGBUS. The handler maps an anonymous page in its place
// and marks the range as broken, so that only its client is affected.
#ifndef SUEDE_SHM_SIGBUS_H_
#define SUEDE_SHM_SIGBUS_H_

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

#endif  // SUEDE_SHM_SIGBUS_H_
