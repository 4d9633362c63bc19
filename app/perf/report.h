// SPDX-License-Identifier: Apache-2.0
// The results for people (a table like perftest's) and for programs (one JSON object), and whether
// they are good enough.
#ifndef SUEDE_APP_PERF_REPORT_H_
#define SUEDE_APP_PERF_REPORT_H_

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "perf/options.h"
#include "perf/rank_plan.h"
#include "perf/result_file.h"
#include "perf/results.h"

namespace suede::perf {

// Bytes of data of a stream of commands, in Gb/s.
double DataGbps(const RunResult& result, double commands_per_second);

// --- Table ---
std::string TableHead(const Options& options);
std::string TableRow(const Options& options, const RunResult& result);
// A server's counts.
std::string ServerTable(const StreamCounts& total, uint64_t runs);

// --- Workloads of several ranks: of those of this process ---
std::string RankTable(const Options& options, const std::vector<RankResult>& ranks);
// Rank 0; nullptr: it is another process's.
const RankResult* LeaderOf(const std::vector<RankResult>& ranks);
// Sums over all ranks where rank 0 is here, otherwise over those of this process.
Account AccountOf(const std::vector<RankResult>& ranks);
// Times of the iterations: until the last rank was through where rank 0 is here, otherwise a
// rank's.
const Histogram& IterationsOf(const std::vector<RankResult>& ranks);
// Data that a rank sent in its measured iterations.
double GoodputGbps(const RankResult& rank);

// --- Everything that is reported ---
struct HostFacts {
  std::string cpu;
  std::string kernel;
  std::string dpdk;    // empty: null
  std::string port;    // empty: null
  std::string driver;  // empty: null
};
HostFacts ReadHost();

struct Document {
  std::string version;
  std::string revision;
  std::chrono::system_clock::time_point start;
  std::chrono::system_clock::time_point end;
  std::vector<std::string> argv;
  HostFacts host;
  std::vector<RunResult> results;
  std::optional<StreamCounts> served;    // server, peer
  std::vector<RankResult> ranks;         // workload
  FILE* table = stdout;                  // where the table goes
  ResultFile* json = nullptr;            // null: none is wanted
};
// --- Verdict ---
struct Check {
  std::string name;
  double value = 0;
  double limit = 0;
  bool pass = false;
};
struct Verdict {
  bool pass = true;
  std::vector<Check> checks;
  void Add(std::string name, double value, double limit, bool passes) {
    pass &= passes;
    checks.push_back({std::move(name), value, limit, passes});
  }
};
// Thresholds are not applied to a run that a signal cut short; its content still is.
Verdict CheckResults(const Options& options, const std::vector<RunResult>& results);
Verdict CheckServer(const Options& options, const StreamCounts& total);
Verdict CheckRanks(const Options& options, const std::vector<RankResult>& ranks);
// The verdict on sent commands, on served ones, or on both, by the mode.
Verdict CheckAll(const Options& options, const Document& document);
// The exit code of the whole: outcomes first, then the verdict.
int ExitCode(const std::vector<RunResult>& results, const Verdict& verdict);
// The exit code of one outcome; kExitDone where the outcome does not decide.
int ExitCodeOf(Outcome outcome);

// --- JSON ---
std::string ToJson(const Options& options, const Document& document, const Verdict& verdict);

// Prints the verdict where it is bad and writes the JSON file if one is wanted. The exit code of
// the whole program.
int Conclude(const Options& options, const Document& document);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_REPORT_H_
