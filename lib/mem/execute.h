// SPDX-License-Identifier: Apache-2.0
// The effect of a request on the memory that it may reach.
#ifndef SUEDE_MEM_EXECUTE_H_
#define SUEDE_MEM_EXECUTE_H_

#include <cstdint>

#include "mem/request.h"

namespace suede::mem {

// Executes an atomic on aligned memory, atomically against threads that use C11 atomics of the same
// size. Returns the value before it.
uint64_t ExecuteAtomic(const Request& request, uint8_t* memory);

}  // namespace suede::mem

#endif  // SUEDE_MEM_EXECUTE_H_
