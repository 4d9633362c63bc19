// SPDX-License-Identifier: Apache-2.0
// Execution of atomic operations on the memory of a window.
#ifndef SUEDE_MEM_EXECUTE_H_
#define SUEDE_MEM_EXECUTE_H_

#include <cstdint>

#include "mem/request.h"

namespace suede::mem {

// Executes request.opcode, an atomic, at `memory`, which is aligned to the operand (8 bytes if
// is_wide, otherwise 4); atomic with respect to C11 atomics of the same size in other threads.
// Returns the previous value.
uint64_t ExecuteAtomic(const Request& request, uint8_t* memory);

}  // namespace suede::mem

#endif  // SUEDE_MEM_EXECUTE_H_
