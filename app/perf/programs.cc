// SPDX-License-Identifier: Apache-2.0
#include "perf/programs.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/cacheline_probe.h"
#include "perf/histogram_text.h"
#include "suede/mem.h"
#include "suedectl/daemon.h"

namespace suede::perf {
namespace {

double ProbeCacheline(const Options& options) {
  if (options.cacheline_cpus.empty()) return 0;
  return CachelineRoundTripNs(static_cast<int>(options.cacheline_cpus[0]),
                              static_cast<int>(options.cacheline_cpus[1]));
}

constexpr int kQueryTimeoutS = 2;

std::vector<std::string> SocketsOf(const std::string& endpoint) {
  const size_t slash = endpoint.rfind('/');
  if (slash == std::string::npos) return ctl::Daemon::PathsOf(endpoint);
  return {endpoint.substr(0, slash) + "/management.sock"};
}

}  // namespace

std::string RangesOf(std::vector<uint32_t> ids, size_t max) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::string text;
  size_t ranges = 0;
  for (size_t first = 0, last; first < ids.size(); first = last + 1, ++ranges) {
    last = first;
    while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ", ");
    if (ranges == max) return text + "...";
    absl::StrAppend(&text, ids[first]);
    if (last > first) absl::StrAppend(&text, "-", ids[last]);
  }
  return text;
}

std::string PeersOf(const std::string& endpoint) {
  auto daemon = ctl::Daemon::Connect(SocketsOf(endpoint), kQueryTimeoutS);
  auto peers = daemon.ok() ? daemon->Call("peers.list", ForeignJson::object())
                           : absl::StatusOr<Json>(daemon.status());
  if (!peers.ok() || !peers->contains("peers")) return "; `suedectl peers list` names its peers";
  std::vector<uint32_t> ids;
  for (const Json& peer : (*peers)["peers"]) {
    if (peer.contains("xpu") && peer["xpu"].is_number()) ids.push_back(peer["xpu"].get<uint32_t>());
  }
  std::string text = ids.empty() ? "; it has no peers"
                                 : absl::StrCat("; its peers are XPU ", RangesOf(std::move(ids)));
  const auto version = daemon->Call("version", ForeignJson::object());
  if (version.ok() && version->contains("config") && (*version)["config"].is_string()) {
    absl::StrAppend(&text, " (", (*version)["config"].get<std::string>(), ")");
  }
  return text;
}

namespace {

// Performs one step, and prints its row.
RunResult RunOne(const Options& step, const RunStep& run_step, uint32_t data_bytes, FILE* table) {
  const double before = ProbeCacheline(step);
  RunResult result = run_step(step, data_bytes);
  const Outcome no_peer = step.UsesOperations() ? Outcome::kPeerSilent : Outcome::kNoPeer;
  if (result.outcome == no_peer && !step.embed) result.explanation += PeersOf(step.endpoint);
  // Failed operations.
  if (result.outcome == Outcome::kDone && !result.explanation.empty()) {
    std::fprintf(stderr, "suede-perf: %s\n", result.explanation.c_str());
  }
  result.data_bytes = data_bytes;
  result.control_bytes = step.control_bytes;
  result.inflight = step.LimitsInflight() ? step.inflight : 0;
  result.offered_per_second = step.rate;
  result.cacheline_before_ns = before;
  result.cacheline_after_ns = ProbeCacheline(step);
  if (result.outcome == Outcome::kDone && result.sent > 0) {
    std::fputs(TableRow(step, result).c_str(), table);
    if (step.histogram) std::fputs(HistogramText(result.latency_ns).c_str(), table);
  }
  std::fflush(table);
  return result;
}

}  // namespace

void RunSteps(const Options& options, const RunStep& run_step, Document* document,
              const std::atomic<bool>& stop) {
  if (!options.brief) std::fputs(TableHead(options).c_str(), document->table);
  std::fflush(document->table);
  Options step = options;
  for (const uint32_t data_bytes : options.sizes) {
    for (const uint32_t inflight : options.inflights) {
      step.inflight = inflight;
      document->results.push_back(RunOne(step, run_step, data_bytes, document->table));
      const RunResult& last = document->results.back();
      if (last.outcome != Outcome::kDone || last.is_unfinished || stop) return;
    }
  }
}

int RunClient(const Options& options, const RunStep& run_step, Document* document,
              const std::atomic<bool>& stop) {
  RunSteps(options, run_step, document, stop);
  document->end = std::chrono::system_clock::now();
  return Conclude(options, *document);
}

int ConcludeServer(const Options& options, const StreamCounts* total, uint64_t runs, bool is_lost,
                   Document* document) {
  if (total != nullptr) {
    document->served = *total;
    std::fputs(ServerTable(options, *total, runs, document->arrivals).c_str(), document->table);
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
