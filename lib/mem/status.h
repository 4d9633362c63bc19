// SPDX-License-Identifier: Apache-2.0
// Outcomes of operations and reasons for refusing requests (docs/memory.md, "Statuses").
#ifndef SUEDE_MEM_STATUS_H_
#define SUEDE_MEM_STATUS_H_

#include <cstdint>

#include "suede/mem.h"

namespace suede::mem {

enum class Status : uint8_t {
  kOk = SUEDE_MEM_OK,
  kPending = SUEDE_MEM_PENDING,
  // Sent by the target.
  kNoWindow = SUEDE_MEM_NO_WINDOW,
  kKey = SUEDE_MEM_KEY,
  kPartition = SUEDE_MEM_PARTITION,
  kRights = SUEDE_MEM_RIGHTS,
  kBounds = SUEDE_MEM_BOUNDS,
  kAlignment = SUEDE_MEM_ALIGNMENT,
  kMalformed = SUEDE_MEM_MALFORMED,
  kBusy = SUEDE_MEM_BUSY,
  // Set by the initiator, never sent.
  kUnreachable = SUEDE_MEM_UNREACHABLE,
  kInDoubt = SUEDE_MEM_IN_DOUBT,
  kTimedOut = SUEDE_MEM_TIMED_OUT,
};

inline constexpr uint8_t kFirstRefusal = SUEDE_MEM_NO_WINDOW;
inline constexpr uint8_t kRefusals = 8;

// Whether a target may send the status.
constexpr bool IsOnWire(uint8_t code) {
  return code == 0 || (code >= kFirstRefusal && code < kFirstRefusal + kRefusals);
}

}  // namespace suede::mem

#endif  // SUEDE_MEM_STATUS_H_
