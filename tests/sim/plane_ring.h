// SPDX-License-Identifier: Apache-2.0
// How long a ring of hosts stands still when one of its planes dies for all of them.
#ifndef SUEDE_TESTS_SIM_PLANE_RING_H_
#define SUEDE_TESTS_SIM_PLANE_RING_H_

#include <cstdint>

namespace suede {

// Prints each seed's time, and returns the exit status: whether all are within the bound of
// docs/planes.md, and the oracle is content.
int RunPlaneRing(uint64_t first_seed, uint64_t count);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_PLANE_RING_H_
