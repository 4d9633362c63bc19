// SPDX-License-Identifier: Apache-2.0
// The plan and the results of one rank of a workload.
#ifndef SUEDE_APP_PERF_RANK_PLAN_H_
#define SUEDE_APP_PERF_RANK_PLAN_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/time.h"
#include "perf/protocol.h"
#include "perf/results.h"
#include "perf/traffic.h"

namespace suede::perf {

struct RankPlan {
  TrafficParams traffic;
  std::vector<uint16_t> xpuids;  // of all ranks, indexed by rank
  uint32_t rank = 0;             // own rank; rank 0 leads
  uint16_t data_bytes = 256;     // of a command, 1 to 256
  std::vector<uint8_t> vcs = {0};
  bool check = false;
  bool barrier = true;      // after each iteration; false: after the last one only
  uint64_t iterations = 0;  // measured iterations; 0: all that begin within `duration`
  Duration duration{};
  Duration warmup{};  // iterations that begin in this time are not measured
  double rate = 0;    // iterations, or requests of a rank, per second; 0: back to back
  uint64_t response_bytes = 256;  // these three for requests and responses:
  Duration think{};               // mean time between a response and the next request
  uint32_t inflight = 1;          // requests in flight
  Duration connect_timeout{};
  Duration stall_timeout{};  // maximum time without progress

  bool HasRequests() const { return traffic.pattern == Pattern::kRequestResponse; }
  // Returns the number of commands of a transfer.
  uint64_t CommandsOf(uint64_t bytes) const { return (bytes - 1) / data_bytes + 1; }
};

// Times of a step in the measured iterations, from the begin of the iteration to the end of the
// step.
struct StepTimes {
  uint64_t count = 0;
  Duration sum{};
  Duration max{};
  void Add(Duration took) {
    ++count;
    sum += took;
    max = std::max(max, took);
  }
};

struct RankResult {
  uint32_t rank = 0;
  uint16_t xpuid = 0;
  Outcome outcome = Outcome::kDone;
  std::string explanation;  // of an outcome other than kDone
  bool interrupted = false;
  uint64_t iterations = 0;     // measured
  uint64_t sent_commands = 0;  // warm-up included
  uint64_t sent_bytes = 0;
  uint64_t blocked = 0;         // sends that failed for lack of credit
  uint64_t stale = 0;           // ignored commands of other runs
  Duration measured{};          // sum of the measured iterations
  uint64_t measured_bytes = 0;  // sent by the rank in measured iterations
  Histogram iteration_ns;       // own part of an iteration
  Histogram transfer_ns;        // from a transfer's due time until its last command is acknowledged
  Histogram response_ns;        // from a request's due time until its response is received
  std::vector<StepTimes> steps;
  std::array<uint64_t, kCompletionStatuses> completions = {};
  Account account;  // of received load
  // Rank 0 only: of all ranks.
  Histogram all_ns;  // an iteration, until the last rank has finished
  Account all;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RANK_PLAN_H_
