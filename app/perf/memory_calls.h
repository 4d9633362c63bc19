// SPDX-License-Identifier: Apache-2.0
// How a load of memory operations starts them: by libsuede-mem as a client of a daemon
// (LibraryCalls), or by an initiator on the lcore of an endpoint in this process (EmbeddedCalls).
#ifndef SUEDE_APP_PERF_MEMORY_CALLS_H_
#define SUEDE_APP_PERF_MEMORY_CALLS_H_

#include <cstdint>
#include <string>

#include "base/sue.h"
#include "base/time.h"
#include "mem/request.h"
#include "suede/mem.h"

namespace suede::perf {

// The window of a server of memory operations.
inline constexpr uint16_t kMemoryWindow = 0;

// An operation on window kMemoryWindow, without a key.
struct MemoryOperation {
  mem::Opcode opcode = mem::Opcode::kGet;
  uint16_t xpuid = 0;
  uint64_t offset = 0;
  uint8_t* octets = nullptr;  // of a put or get, `bytes` of them; valid until the end
  uint64_t bytes = 0;
  uint32_t bits = 64;  // of an atomic: 32 or 64
  uint64_t operand = 0;
  uint32_t boundary = 0;               // of increments
  uint32_t deadline_ms = 0;            // 0: ten seconds
  suede_mem_result* result = nullptr;  // PENDING until the operation is complete
};

class MemoryCalls {
 public:
  virtual ~MemoryCalls() = default;

  // Returns 0, -EAGAIN where there is no room for another operation now, or another negative errno.
  virtual int Start(const MemoryOperation& operation) = 0;
  // Receives and completes. Returns how many operations became complete, or a negative value where
  // the endpoint has gone.
  virtual int Poll(Time now) = 0;
  // Sends all that was started.
  virtual void Flush() = 0;
  virtual Time Now() const = 0;
  // The error of the last call.
  virtual std::string Error() const = 0;
};

// VC 1, or the first one that no request takes; the options leave one.
inline uint8_t ResponseVc(uint32_t request_vcs) {
  for (const uint8_t vc : {uint8_t{1}, uint8_t{2}, uint8_t{3}}) {
    if ((request_vcs & 1u << vc) == 0) return vc;
  }
  return 0;
}

// How many requests may be under way to one server.
inline uint32_t RequestsToTarget(uint32_t inflight) {
  constexpr uint32_t kUsual = 1024;
  return inflight > kUsual ? inflight : kUsual;
}

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_MEMORY_CALLS_H_
