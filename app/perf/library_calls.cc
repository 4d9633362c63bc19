// SPDX-License-Identifier: Apache-2.0
#include "perf/library_calls.h"

#include <cerrno>

namespace suede::perf {

int LibraryCalls::Start(const MemoryOperation& operation) {
  suede_mem_call call{};
  call.size = sizeof call;
  call.xpuid = operation.xpuid;
  call.window = kMemoryWindow;
  call.offset = operation.offset;
  call.plane = SUEDE_MEM_AUTO;
  call.vc = SUEDE_MEM_AUTO;
  call.deadline_ms = operation.deadline_ms;
  call.result = operation.result;
  const uint32_t bits = operation.bits;
  switch (operation.opcode) {
    case mem::Opcode::kPut:
      return suede_mem_put(mem_, &call, operation.octets, operation.bytes);
    case mem::Opcode::kGet:
      return suede_mem_get(mem_, &call, operation.octets, operation.bytes);
    case mem::Opcode::kFetchAdd:
      return suede_mem_fetch_add(mem_, &call, bits, operation.operand);
    case mem::Opcode::kCompareSwap:
      return suede_mem_compare_swap(mem_, &call, bits, operation.operand, 0);
    case mem::Opcode::kSwap:
      return suede_mem_swap(mem_, &call, bits, operation.operand);
    case mem::Opcode::kIncrement:
      return suede_mem_increment(mem_, &call, bits, operation.operand, operation.boundary);
    case mem::Opcode::kReadIncrement:
      return suede_mem_read_increment(mem_, &call, bits, operation.operand, operation.boundary);
    case mem::Opcode::kPutImmediate:
      break;
  }
  return -EINVAL;
}

}  // namespace suede::perf
