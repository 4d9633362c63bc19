// SPDX-License-Identifier: Apache-2.0
// How an operation ended, or why a request was refused (docs/memory.md, "Statuses").
#ifndef SUEDE_MEM_STATUS_H_
#define SUEDE_MEM_STATUS_H_

#include <cstdint>

#include "suede/mem.h"

namespace suede::mem {

enum class Status : uint8_t {
  kOk = SUEDE_MEM_OK,
  kPending = SUEDE_MEM_PENDING,
  // Statuses of the target, on the wire.
  kNoWindow = SUEDE_MEM_NO_WINDOW,
  kKey = SUEDE_MEM_KEY,
  kPartition = SUEDE_MEM_PARTITION,
  kRights = SUEDE_MEM_RIGHTS,
  kBounds = SUEDE_MEM_BOUNDS,
  kAlignment = SUEDE_MEM_ALIGNMENT,
  kMalformed = SUEDE_MEM_MALFORMED,
  kBusy = SUEDE_MEM_BUSY,
  // Statuses of the initiator.
  kUnreachable = SUEDE_MEM_UNREACHABLE,
  kInDoubt = SUEDE_MEM_IN_DOUBT,
  kTimedOut = SUEDE_MEM_TIMED_OUT,
};

inline constexpr uint8_t kFirstRefusal = SUEDE_MEM_NO_WINDOW;
inline constexpr uint8_t kRefusals = 8;

// Whether a target may answer with it.
constexpr bool IsOnWire(uint8_t code) {
  return code == 0 || (code >= kFirstRefusal && code < kFirstRefusal + kRefusals);
}

}  // namespace suede::mem

#endif  // SUEDE_MEM_STATUS_H_
