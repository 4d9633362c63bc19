// SPDX-License-Identifier: Apache-2.0
// The plan of a workload of several ranks, as one of them has it, and its results.
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
  std::vector<uint16_t> xpuids;  // of the ranks; those of others than the own process, too
  uint32_t rank = 0;             // the own one; rank 0 leads
  uint16_t data_bytes = 256;     // of a command, 1 to 256
  std::vector<uint8_t> vcs = {0};
  bool check = false;
  bool barrier = true;      // after each iteration; false: after the last one only
  uint64_t iterations = 0;  // that are measured; 0: as many as begin within `duration`
  Duration duration{};
  Duration warmup{};  // iterations that begin in this time are not measured
  double rate = 0;    // iterations, or requests of a rank, per second; 0: one after the other
  uint64_t response_bytes = 256;  // these three of requests and responses:
  Duration think{};               // mean time between a response and the next request
  uint32_t inflight = 1;          // requests under way
  Duration connect_timeout{};
  Duration stall_timeout{};  // in which nothing came and nothing could be sent
};

// Times of a step in the measured iterations, from the iteration's begin to the step's end.
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
  uint64_t blocked = 0;         // sends refused for want of credit
  uint64_t stale = 0;           // commands of another run, which were ignored
  Duration measured{};          // sum of the measured iterations
  uint64_t measured_bytes = 0;  // that the rank sent in them
  Histogram iteration_ns;       // own part of an iteration
  Histogram transfer_ns;        // a transfer, until its last command is acknowledged
  Histogram response_ns;        // a request, until its response has come
  std::vector<StepTimes> steps;
  std::array<uint64_t, kCompletionStatuses> completions = {};
  Account account;  // of what came here
  // Rank 0 only: of all ranks.
  Histogram all_ns;  // an iteration, until the last rank is through
  Account all;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RANK_PLAN_H_
