// SPDX-License-Identifier: Apache-2.0
// The sizes that a daemon for a host of a world would compute of its configuration, no more.
#ifndef SUEDE_TESTS_SIM_SHIPPED_H_
#define SUEDE_TESTS_SIM_SHIPPED_H_

#include <cstdint>
#include <vector>

namespace suede {

struct WorldOptions;

struct ShippedSizes {
  std::vector<uint32_t> pool_frames;  // of the host's ports
  uint32_t packed_pdus = 0;
};
ShippedSizes SizesOf(const WorldOptions& options, uint32_t host,
                                   uint32_t aggregate_lines);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_SHIPPED_H_
