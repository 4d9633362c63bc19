// SPDX-License-Identifier: Apache-2.0
// What an instance keeps for showing its load to clients (load.cc).
#ifndef SUEDE_PIPELINE_LOAD_H_
#define SUEDE_PIPELINE_LOAD_H_

#include <cstdint>

#include "client/load.h"

namespace suede {

struct InstanceLoad {
  // Lines taken from clients' rings whose credit was not returned: of the last round of looks at
  // the queues, and of the round under way.
  uint32_t credit_lines = 0;
  uint32_t counted_lines = 0;
  uint32_t round = 0;
  // Destinations, each as of the last look at it.
  uint32_t next_peer = 0;  // to be looked at
  uint32_t paused = 0;
  uint32_t unreachable = 0;
  uint32_t map_changes = 0;
  DestinationMap paused_map;
  DestinationMap unreachable_map;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_LOAD_H_
