// SPDX-License-Identifier: Apache-2.0
// Outcomes of socket operations and reasons for refusing commands (docs/sockets.md, "Operations and
// statuses").
#ifndef SUEDE_MESSAGE_STATUS_H_
#define SUEDE_MESSAGE_STATUS_H_

#include <cstdint>

#include "suede/socket.h"

namespace suede::message {

enum class Status : uint8_t {
  kOk = SUEDE_SOCKET_OK,
  kPending = SUEDE_SOCKET_PENDING,
  // Sent by the peer.
  kNotOpen = SUEDE_SOCKET_NOT_OPEN,
  kEpoch = SUEDE_SOCKET_EPOCH,
  kMismatch = SUEDE_SOCKET_MISMATCH,
  kCredit = SUEDE_SOCKET_CREDIT,
  kOrder = SUEDE_SOCKET_ORDER,
  kMalformed = SUEDE_SOCKET_MALFORMED,
  kClosed = SUEDE_SOCKET_CLOSED,
  kAborted = SUEDE_SOCKET_ABORTED,
  // Set locally, never sent.
  kUnreachable = SUEDE_SOCKET_UNREACHABLE,
  kInDoubt = SUEDE_SOCKET_IN_DOUBT,
  kTimedOut = SUEDE_SOCKET_TIMED_OUT,
  kReset = SUEDE_SOCKET_RESET,
};

inline constexpr uint8_t kFirstRefusal = SUEDE_SOCKET_NOT_OPEN;
inline constexpr uint8_t kRefusals = 8;

// Whether a REFUSE may carry the status.
constexpr bool IsRefusal(uint8_t code) {
  return code >= kFirstRefusal && code < kFirstRefusal + kRefusals;
}

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_STATUS_H_
