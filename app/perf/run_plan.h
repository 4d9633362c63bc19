// SPDX-License-Identifier: Apache-2.0
// The plan of one run of the benchmark, and the times of a fixed rate.
#ifndef SUEDE_APP_PERF_RUN_PLAN_H_
#define SUEDE_APP_PERF_RUN_PLAN_H_

#include <cmath>
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
  bool send_only = false;      // no server takes part: completions tell when the load has arrived
  uint32_t inflight = 1;       // maximum, in latency mode
  double rate = 0;             // commands per second of this worker; 0: full speed
  uint64_t max_samples = 0;    // latencies of this worker to keep
  uint64_t count = 0;          // commands of this worker after the warm-up; 0: by duration
  Duration duration = std::chrono::seconds(1);
  Duration warmup{};
  Duration connect_timeout = std::chrono::seconds(10);
  Duration drain_timeout = std::chrono::seconds(10);

  // Whether latency is measured until the echo; false: until the completion.
  bool WantsEcho() const { return latency && shape.completion_every == 0; }
};

// Intended send times of a load at a fixed rate. Command k is due at start + k / rate, even if
// earlier commands are late: a delayed sender catches up, and latency measured from the intended
// time includes the delay (no coordinated omission).
class RateSchedule {
 public:
  RateSchedule() = default;
  RateSchedule(Time start, double commands_per_second)
      : start_(start), per_ns_(commands_per_second / 1e9), interval_ns_(1 / per_ns_) {}

  // Returns the number of commands due by `now`.
  uint64_t DueBy(Time now) const {
    const int64_t elapsed_ns = (now - start_).count();
    if (elapsed_ns < 0) return 0;
    return static_cast<uint64_t>(static_cast<double>(elapsed_ns) * per_ns_) + 1;
  }
  Time IntendedTime(uint64_t k) const {
    return start_ + Duration(std::llround(static_cast<double>(k) * interval_ns_));
  }

 private:
  Time start_;
  double per_ns_ = 1;
  double interval_ns_ = 1;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RUN_PLAN_H_
