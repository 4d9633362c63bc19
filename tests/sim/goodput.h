// SPDX-License-Identifier: Apache-2.0
// The cost of loss: the goodput of a saturated link with and without it, on the same seed.
#ifndef SUEDE_TESTS_SIM_GOODPUT_H_
#define SUEDE_TESTS_SIM_GOODPUT_H_

#include <cstdint>

namespace suede {

// Measures seeds FIRST to FIRST + COUNT - 1, prints each and their sum, and returns the exit code:
// 0 where goodput under loss is good enough, in virtual time, so that a seed always gives the same.
int RunGoodput(uint64_t first_seed, uint64_t count);
// The same with selective repair and go-back-N (docs/repair.md), where one of a hundred frames is
// lost.
int RunRepairGoodput(uint64_t first_seed, uint64_t count);
// The same for cables with link-level retry.
int RunLlrGoodput(uint64_t first_seed, uint64_t count);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_GOODPUT_H_
