// SPDX-License-Identifier: Apache-2.0
// The plan of one run of the benchmark.
#ifndef SUEDE_APP_PERF_RUN_PLAN_H_
#define SUEDE_APP_PERF_RUN_PLAN_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "perf/command_writer.h"
#include "perf/streams.h"

namespace suede::perf {

struct RunPlan {
  LoadShape shape;
  std::vector<StreamId> streams;
  bool latency = false;        // few in flight: commands with timed echo or completion, operations
  bool bidirectional = false;  // the servers send the same load back
  uint32_t inflight = 1;       // maximum, in latency mode
  double rate = 0;             // commands per second of this worker; 0: full speed
  uint64_t count = 0;          // commands of this worker after the warm-up; 0: by duration
  Duration duration = std::chrono::seconds(1);
  Duration warmup{};
  Duration connect_timeout = std::chrono::seconds(10);
  Duration drain_timeout = std::chrono::seconds(10);

  // Whether latency is measured until the echo; false: until the completion.
  bool WantsEcho() const { return latency && shape.completion_every == 0; }
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RUN_PLAN_H_
