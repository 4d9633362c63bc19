// SPDX-License-Identifier: Apache-2.0
// Random programs of eight XPUs, and the fewest steps of them that show a failure.
#ifndef SUEDE_TESTS_MEM_MEMORY_PROGRAMS_H_
#define SUEDE_TESTS_MEM_MEMORY_PROGRAMS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "memory_play.h"

namespace suede::mem {

using Programs = std::array<Program, kNodes>;

// The programs of a seed. `with_faults`: with steps that lose commands.
Programs WritePrograms(uint64_t seed, bool with_faults);

// Plays programs. Returns what was wrong; empty: nothing.
using Play = std::function<std::string(const Programs&)>;
// Plays programs. Returns an empty string, or what was wrong and the fewest steps that show it.
std::string PlayAndShrink(const Play& play, Programs programs);

// Returns a number from the environment.
uint64_t FromEnvironment(const char* name, uint64_t otherwise);

}  // namespace suede::mem

#endif  // SUEDE_TESTS_MEM_MEMORY_PROGRAMS_H_
