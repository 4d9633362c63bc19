// SPDX-License-Identifier: Apache-2.0
// A fabric of many hosts, four planes and four inner links in each, of which parts fail and come
// back: the shares that planes have of the octets, held against their weights, and the oracle of
// world.h.
#ifndef SUEDE_TESTS_SIM_FABRIC_PATHS_H_
#define SUEDE_TESTS_SIM_FABRIC_PATHS_H_

#include <cstdint>

namespace suede {

// Runs so many seeds with so many hosts, 2 to 120, each with all hosts sending to all, and to one
// each, in either ordering. Prints a line for each kind. Returns an exit code: 1 where the oracle
// is not content, or where PDUs that go by themselves do not keep to the weights.
int RunFabricPaths(uint64_t first_seed, uint64_t count, uint32_t hosts);

// Runs so many seeds in which parts fail and come back faster than hosts settle, inner links among
// them, one of the four kinds each. Returns 1 where the oracle is not content.
int RunFabricChanges(uint64_t first_seed, uint64_t count, uint32_t hosts);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_FABRIC_PATHS_H_
