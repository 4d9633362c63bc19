// SPDX-License-Identifier: Apache-2.0
// Operations of an initiator, from the call to the end (docs/memory.md, "Completion, counters,
// barriers").
#ifndef SUEDE_MEM_OPERATION_H_
#define SUEDE_MEM_OPERATION_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "mem/request.h"
#include "mem/status.h"
#include "suede/mem.h"

namespace suede::mem {

inline constexpr uint32_t kNoIndex = UINT32_MAX;

// The arguments of a call.
struct Call {
  Opcode opcode = Opcode::kPut;
  bool is_wide = false;
  uint8_t boundary = 0;
  uint8_t counter = 0;  // 0 to 15
  int8_t plane = -1;    // -1: chosen by the target
  int8_t vc = -1;       // -1: the one with least to do
  uint16_t xpuid = 0;
  uint16_t window = 0;
  uint32_t key = 0;
  uint32_t immediate = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // of put and get; ignored of atomics
  const uint8_t* source = nullptr;
  uint8_t* room = nullptr;
  uint64_t operand = 0;
  uint64_t desired = 0;
  Time deadline = kNever;
  suede_mem_result* result = nullptr;
};

struct Operation {
  enum class State : uint8_t { kFree, kOpen, kDone };

  // All but the call, which is filled in, and what outlives the operation.
  void Begin() {
    sent_bytes = value = 0;
    unanswered = requests = undelivered = 0;
    next = parent = kNoIndex;
    state = State::kOpen;
    status = Status::kOk;
    is_sent = is_queued = has_handle = is_multicast = false;
  }

  Call call;
  uint64_t sent_bytes = 0;     // of call.bytes, handed over
  uint64_t value = 0;          // of an atomic
  uint32_t unanswered = 0;     // requests in flight; of a multicast, puts that are not complete
  uint32_t requests = 0;       // requests that were ever handed over
  uint32_t undelivered = 0;    // of them, for certain
  uint32_t next = kNoIndex;    // in its lane, or among those that are free
  uint32_t parent = kNoIndex;  // the multicast that it is a part of
  uint32_t generation = 0;
  State state = State::kFree;
  Status status = Status::kOk;
  bool is_sent = false;    // all that will ever be handed over
  bool is_queued = false;  // in its lane
  bool has_handle = false;
  bool is_multicast = false;
  uint8_t plane = 0;  // chosen
  uint8_t vc = 0;
};

// All operations there may be. A handle is a generation and a place, so a handle of a former
// operation is known as such.
class OperationTable {
 public:
  explicit OperationTable(uint32_t count);

  uint32_t free_count() const { return free_count_; }
  uint32_t size() const { return static_cast<uint32_t>(operations_.size()); }
  Operation& operator[](uint32_t index) { return operations_[index]; }
  const Operation& operator[](uint32_t index) const { return operations_[index]; }

  // There is a free one. It is open then.
  uint32_t Take();
  void Free(uint32_t index);
  suede_mem_handle HandleOf(uint32_t index) const {
    return uint64_t{operations_[index].generation} << 32 | (index + 1);
  }
  // kNoIndex: it stands for no operation with a handle.
  uint32_t Find(suede_mem_handle handle) const;

 private:
  std::vector<Operation> operations_;
  uint32_t first_free_ = 0;
  uint32_t free_count_;
};

}  // namespace suede::mem

#endif  // SUEDE_MEM_OPERATION_H_
