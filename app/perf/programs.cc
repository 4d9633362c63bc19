// SPDX-License-Identifier: Apache-2.0
#include "perf/programs.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/cacheline_probe.h"
#include "perf/peers_of.h"
#include "suede/mem.h"

namespace suede::perf {
namespace {

double ProbeCacheline(const Options& options) {
  if (options.cacheline_cpus.empty()) return 0;
  return CachelineRoundTripNs(static_cast<int>(options.cacheline_cpus[0]),
                              static_cast<int>(options.cacheline_cpus[1]));
}

}  // namespace

void RunSizes(const Options& options, const std::function<RunResult(uint32_t)>& run_size,
              Document* document, const std::atomic<bool>& stop) {
  std::fputs(TableHead(options).c_str(), document->table);
  std::fflush(document->table);
  const Outcome no_peer = options.UsesOperations() ? Outcome::kPeerSilent : Outcome::kNoPeer;
  for (const uint32_t data_bytes : options.sizes) {
    const double before = ProbeCacheline(options);
    RunResult result = run_size(data_bytes);
    if (result.outcome == no_peer && !options.embed) {
      result.explanation += PeersOf(options.endpoint);
    }
    // Failed operations.
    if (result.outcome == Outcome::kDone && !result.explanation.empty()) {
      std::fprintf(stderr, "suede-perf: %s\n", result.explanation.c_str());
    }
    result.data_bytes = data_bytes;
    result.control_bytes = options.control_bytes;
    result.offered_per_second = options.rate;
    result.cacheline_before_ns = before;
    result.cacheline_after_ns = ProbeCacheline(options);
    if (result.outcome == Outcome::kDone && result.sent > 0) {
      std::fputs(TableRow(options, result).c_str(), document->table);
    }
    std::fflush(document->table);
    document->results.push_back(std::move(result));
    const RunResult& last = document->results.back();
    if (last.outcome != Outcome::kDone || last.is_unfinished || stop) break;
  }
}

int RunClient(const Options& options, const std::function<RunResult(uint32_t)>& run_size,
              Document* document, const std::atomic<bool>& stop) {
  RunSizes(options, run_size, document, stop);
  document->end = std::chrono::system_clock::now();
  return Conclude(options, *document);
}

int ConcludeServer(const Options& options, const StreamCounts* total, uint64_t runs, bool is_lost,
                   Document* document) {
  if (total != nullptr) {
    document->served = *total;
    std::fputs(ServerTable(*total, runs).c_str(), document->table);
  }
  document->end = std::chrono::system_clock::now();
  const int code = Conclude(options, *document);
  if (!is_lost) return code;
  std::fprintf(stderr, "suede-perf: the daemon went away\n");
  return kExitUnreachable;
}

uint32_t NewRunNumber() { return std::random_device()() | 1u; }

absl::StatusOr<std::unique_ptr<IntervalLog>> OpenIntervalLog(const Options& options) {
  if (options.interval_json.empty()) return nullptr;
  const bool requests = options.traffic.pattern == Pattern::kRequestResponse;
  const char* const kind = options.mode == Mode::kWorkload ? (requests ? "response" : "transfer")
                           : options.completions > 0       ? "completion"
                                                           : "rtt";
  return IntervalLog::Open(options.interval_json, options.log_interval_s, kind);
}

int Fail(const absl::Status& status, int code) {
  std::fprintf(stderr, "suede-perf: %s\n", std::string(status.message()).c_str());
  return code;
}

int FailToConnect(const absl::Status& status) {
  return Fail(status, absl::IsUnavailable(status)       ? kExitUnreachable
                      : absl::IsInvalidArgument(status) ? kExitUsage
                                                        : kExitFailure);
}

absl::Status StatusOfCall(int error, absl::string_view text) {
  switch (error) {
    case -ENOENT:
    case -ECONNREFUSED:
    case -ECONNRESET:
    case -ETIMEDOUT:
      return absl::UnavailableError(
          absl::StrCat(text, "; is suede running there? --endpoint takes its name or socket"));
    case -ENOTSUP:
    case -EINVAL:
      return absl::InvalidArgumentError(text);
    default:
      return absl::InternalError(text);
  }
}

absl::Status StatusOfMemoryCall(int error, const Options& options) {
  return StatusOfCall(
      error, absl::StrCat("endpoint \"", options.endpoint, "\": ", suede_mem_error_text()));
}

}  // namespace suede::perf
