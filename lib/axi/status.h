// SPDX-License-Identifier: Apache-2.0
// Causes that end a transaction (docs/axi.md, "Termination").
#ifndef SUEDE_AXI_STATUS_H_
#define SUEDE_AXI_STATUS_H_

#include <cstdint>

#include "suede/axi.h"

namespace suede::axi {

enum class Status : uint8_t {
  kOk = SUEDE_AXI_STATUS_OK,
  // Sent by the target.
  kBusy = SUEDE_AXI_STATUS_BUSY,
  kMalformed = SUEDE_AXI_STATUS_MALFORMED,
  kReset = SUEDE_AXI_STATUS_RESET,
  // Set by the initiator, never sent.
  kUnreachable = SUEDE_AXI_STATUS_UNREACHABLE,
  kInDoubt = SUEDE_AXI_STATUS_IN_DOUBT,
  kTimedOut = SUEDE_AXI_STATUS_TIMED_OUT,
  kNoRoute = SUEDE_AXI_STATUS_NO_ROUTE,
  kInvalid = SUEDE_AXI_STATUS_INVALID,
};

constexpr bool IsOnWire(uint8_t code) {
  return code == 0 || (code >= SUEDE_AXI_STATUS_BUSY && code <= SUEDE_AXI_STATUS_RESET);
}
// Returns the response of a transaction that ends with a status other than kOk.
constexpr uint8_t ResponseOf(Status status) {
  return status == Status::kUnreachable || status == Status::kNoRoute ? SUEDE_AXI_DECERR
                                                                      : SUEDE_AXI_SLVERR;
}

}  // namespace suede::axi

#endif  // SUEDE_AXI_STATUS_H_
