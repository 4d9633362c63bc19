// SPDX-License-Identifier: Apache-2.0
// Interface to start memory operations: through libsuede-mem as a client of a daemon
// (LibraryCalls), or by an initiator on the lcore of an endpoint in this process (EmbeddedCalls).
#ifndef SUEDE_APP_PERF_MEMORY_CALLS_H_
#define SUEDE_APP_PERF_MEMORY_CALLS_H_

#include <cstdint>
#include <string>

#include "base/sue.h"
#include "base/time.h"
#include "mem/operation.h"

namespace suede::perf {

// The window of a server of memory operations.
inline constexpr uint16_t kMemoryWindow = 0;

class MemoryCalls {
 public:
  virtual ~MemoryCalls() = default;

  // Starts an operation with memory of the caller's and a result, on window kMemoryWindow, without
  // a key. `deadline_ms` 0: ten seconds. Returns 0; -EAGAIN if no operation is free; or another
  // negative errno.
  virtual int Start(const mem::Call& call, uint32_t deadline_ms) = 0;
  // Processes responses. Returns the number of operations completed; negative if the endpoint has
  // gone.
  virtual int Poll(Time now) = 0;
  // Sends the requests of started operations.
  virtual void Flush() = 0;
  virtual Time Now() const = 0;
  // Returns the text of the last call's error.
  virtual std::string Error() const = 0;
};

// Returns the VC of responses: the first of 1, 2, 3, 0 that is not in request_vcs. The options
// leave one free.
inline uint8_t ResponseVc(uint32_t request_vcs) {
  for (const uint8_t vc : {uint8_t{1}, uint8_t{2}, uint8_t{3}}) {
    if ((request_vcs & 1u << vc) == 0) return vc;
  }
  return 0;
}

// Returns the maximum of requests in flight to one server.
inline uint32_t RequestsToTarget(uint32_t inflight) {
  constexpr uint32_t kUsual = 1024;
  return inflight > kUsual ? inflight : kUsual;
}

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MEMORY_CALLS_H_
