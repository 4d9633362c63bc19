// SPDX-License-Identifier: Apache-2.0
// State of an initiator's operations (docs/memory.md, "Completion, counters, barriers").
#ifndef SUEDE_MEM_OPERATION_H_
#define SUEDE_MEM_OPERATION_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "mem/request.h"
#include "mem/status.h"
#include "outbound/burst.h"
#include "suede/mem.h"

namespace suede::mem {

inline constexpr uint32_t kNoIndex = UINT32_MAX;

// The arguments of a call.
struct Call {
  Opcode opcode = Opcode::kPut;
  bool is_wide = false;
  uint8_t boundary = 0;
  uint8_t counter = 0;  // 0 to 15
  int8_t plane = -1;    // -1: xpuid modulo the planes
  int8_t vc = -1;       // -1: the VC with the fewest open operations
  uint16_t xpuid = 0;
  uint16_t window = 0;
  uint32_t key = 0;
  uint32_t immediate = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // of put and get; ignored for atomics
  const uint8_t* source = nullptr;
  uint8_t* room = nullptr;
  uint64_t operand = 0;
  uint64_t desired = 0;
  Time deadline = kNever;
  suede_mem_result* result = nullptr;
};

struct Operation {
  enum class State : uint8_t { kFree, kOpen, kDone };

  // Resets everything except `call`, which the caller fills in, and `generation`.
  void Begin() {
    sent_bytes = value = 0;
    unanswered = requests = undelivered = 0;
    next = parent = kNoIndex;
    state = State::kOpen;
    status = Status::kOk;
    is_sent = is_queued = has_handle = is_multicast = false;
  }
  Route Destination() const { return {.xpuid = call.xpuid, .plane = plane, .vc = vc}; }

  Call call;
  uint64_t sent_bytes = 0;     // part of call.bytes that was sent
  uint64_t value = 0;          // returned by an atomic
  uint32_t unanswered = 0;     // requests in flight; for a multicast, incomplete puts
  uint32_t requests = 0;       // requests sent in total
  uint32_t undelivered = 0;    // requests that certainly were not delivered
  uint32_t next = kNoIndex;    // in its lane or in the free list
  uint32_t parent = kNoIndex;  // multicast that contains the operation
  uint32_t generation = 0;
  State state = State::kFree;
  Status status = Status::kOk;
  bool is_sent = false;    // no further request will be sent
  bool is_queued = false;  // in its lane
  bool has_handle = false;
  bool is_multicast = false;
  uint8_t plane = 0;  // chosen
  uint8_t vc = 0;
};

// Fixed pool of operations. A handle combines generation and index, which makes stale handles
// detectable.
class OperationTable {
 public:
  explicit OperationTable(uint32_t count);

  uint32_t free_count() const { return free_count_; }
  uint32_t size() const { return static_cast<uint32_t>(operations_.size()); }
  Operation& operator[](uint32_t index) { return operations_[index]; }
  const Operation& operator[](uint32_t index) const { return operations_[index]; }

  // Allocates an operation and marks it open. Requires free_count() != 0.
  uint32_t Take();
  void Free(uint32_t index);
  suede_mem_handle HandleOf(uint32_t index) const {
    return uint64_t{operations_[index].generation} << 32 | (index + 1);
  }
  // Returns the index of a handle's operation; kNoIndex: the handle is invalid.
  uint32_t Find(suede_mem_handle handle) const;

 private:
  std::vector<Operation> operations_;
  uint32_t first_free_ = 0;
  uint32_t free_count_;
};

}  // namespace suede::mem

#endif  // SUEDE_MEM_OPERATION_H_
