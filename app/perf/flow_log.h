// SPDX-License-Identifier: Apache-2.0
// Log of when the load of each source was complete at a rank, by iteration.
#ifndef SUEDE_APP_PERF_FLOW_LOG_H_
#define SUEDE_APP_PERF_FLOW_LOG_H_

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace suede::perf {

struct FlowLog {
  struct Entry {
    uint64_t iteration = 0;
    uint32_t source = 0;  // rank
    uint64_t bytes = 0;
    Time last{};  // arrival of the last command
  };
  std::vector<Entry> flows;
  std::vector<Time> begins;  // begin of each iteration of the rank
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_FLOW_LOG_H_
