// SPDX-License-Identifier: Apache-2.0
// Survives pages of segments and windows that fail in hardware.
//
// An lcore that touches such a page gets SIGBUS. The handler maps an anonymous page in its place
// and notes the memory as broken, so that only its client suffers.
#ifndef SUEDE_SHM_SIGBUS_H_
#define SUEDE_SHM_SIGBUS_H_

#include <cstddef>

namespace suede {

class SigbusGuard {
 public:
  // At most this many ranges at a time.
  static constexpr int kMaxRanges = 2048;

  // Adds a mapping with pages of `page_bytes`; -1 where the table is full. Installs the handler on
  // first use. Any thread.
  static int Register(void* base, size_t bytes, size_t page_bytes);
  static void Unregister(int range);
  static bool IsBroken(int range);
};

}  // namespace suede

#endif  // SUEDE_SHM_SIGBUS_H_
