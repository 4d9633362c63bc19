// SPDX-License-Identifier: Apache-2.0
// Copies of frames to and from shared memory, by the widest registers of the CPU.
#ifndef SUEDE_MEMIF_COPY_H_
#define SUEDE_MEMIF_COPY_H_

#include <cstdint>

namespace suede::memif {

// Copies `bytes` bytes; accesses no others, so that no rest of an older frame leaves the process.
using CopyBytes = void (*)(uint8_t* to, const uint8_t* from, uint32_t bytes);

// Returns the copy for this CPU.
CopyBytes BestCopy();

}  // namespace suede::memif

#endif  // SUEDE_MEMIF_COPY_H_
