// SPDX-License-Identifier: Apache-2.0
// Survives pages that a client makes vanish from its segment, and pages of windows that fail in
// hardware.
//
// A client holds its segment's memfd and can punch holes into it. Where the kernel has no page to
// put there when an lcore looks (hugepages, memory limits), the lcore gets SIGBUS. The handler maps
// an anonymous page in its place and notes the segment as broken, so that only this client suffers.
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
