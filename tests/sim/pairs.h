// SPDX-License-Identifier: Apache-2.0
// Seeds of the matrix of pairs of features (pairs_table.h).
#ifndef SUEDE_TESTS_SIM_PAIRS_H_
#define SUEDE_TESTS_SIM_PAIRS_H_

#include <cstdint>

namespace suede {

// Checks the table against lib/config, then runs seeds: seed 1 is the first row, and so on, again
// and again with other random choices. Returns the program's exit code.
int RunPairs(uint64_t first, uint64_t count);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_PAIRS_H_
