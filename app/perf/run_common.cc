// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <random>
#include <utility>

#include "perf/cacheline_probe.h"
#include "perf/programs.h"

namespace suede::perf {

double ProbeCacheline(const Options& options) {
  if (options.cacheline_cpus.empty()) return 0;
  return CachelineRoundTripNs(static_cast<int>(options.cacheline_cpus[0]),
                              static_cast<int>(options.cacheline_cpus[1]));
}

void PrintHead(const Options& options, const Document& document) {
  std::fputs(TableHead(options).c_str(), document.table);
  std::fflush(document.table);
}

void FinishRun(const Options& options, uint32_t data_bytes, double cacheline_before_ns,
               RunResult result, Document* document) {
  result.data_bytes = data_bytes;
  result.control_bytes = options.control_bytes;
  result.offered_per_second = options.rate;
  result.cacheline_before_ns = cacheline_before_ns;
  result.cacheline_after_ns = ProbeCacheline(options);
  if (result.outcome == Outcome::kDone && result.sent > 0) {
    std::fputs(TableRow(options, result).c_str(), document->table);
  }
  std::fflush(document->table);
  document->results.push_back(std::move(result));
}

absl::StatusOr<std::unique_ptr<IntervalLog>> OpenIntervalLog(const Options& options) {
  if (options.interval_json.empty()) return nullptr;
  const bool requests = options.traffic.pattern == Pattern::kRequestResponse;
  const char* const kind = options.mode == Mode::kWorkload ? (requests ? "response" : "transfer")
                           : options.completions > 0       ? "completion"
                                                           : "rtt";
  return IntervalLog::Open(options.interval_json, options.log_interval_s, kind);
}

uint32_t NewRunNumber() { return std::random_device()() | 1u; }

}  // namespace suede::perf
