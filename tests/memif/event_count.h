// SPDX-License-Identifier: Apache-2.0
// Signals of an eventfd, for tests of peers that sleep.
#ifndef SUEDE_TESTS_MEMIF_EVENT_COUNT_H_
#define SUEDE_TESTS_MEMIF_EVENT_COUNT_H_

#include <sys/eventfd.h>

#include "local/fd.h"

namespace suede::memif {

// Returns the signals since the last call. The descriptor does not block.
inline eventfd_t TakeCount(const Fd& event) {
  eventfd_t count = 0;
  return eventfd_read(event.get(), &count) == 0 ? count : 0;
}

}  // namespace suede::memif

#endif  // SUEDE_TESTS_MEMIF_EVENT_COUNT_H_
