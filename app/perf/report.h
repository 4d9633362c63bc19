// SPDX-License-Identifier: Apache-2.0
// Output of results as a table, similar to perftest's, and as JSON, and the verdict on them.
#ifndef SUEDE_APP_PERF_REPORT_H_
#define SUEDE_APP_PERF_REPORT_H_

#include <chrono>
#include <cstdio>
#include <functional>
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

// Returns the data rate in Gb/s at a rate of commands per second.
double DataGbps(const RunResult& result, double commands_per_second);

// --- Table ---
std::string TableHead(const Options& options);
std::string TableRow(const Options& options, const RunResult& result);
// A server's counts.
std::string ServerTable(const Options& options, const StreamCounts& total, uint64_t runs,
                        const Arrivals& arrivals = {});

// --- Workloads: results of this process's ranks ---
std::string RankTable(const Options& options, const std::vector<RankResult>& ranks);
// Returns rank 0; null if it belongs to another process.
const RankResult* LeaderOf(const std::vector<RankResult>& ranks);
// Returns the rate of data that a rank sent in its measured iterations.
double GoodputGbps(const RankResult& rank);

// --- Report ---
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
  Arrivals arrivals;                     // of `served`
  std::vector<RankResult> ranks;         // workload
  FILE* table = stdout;                  // output of the table
  // Returns the JSON text of "why" (docs/why.md), once; empty: nothing is known. Null: not asked.
  std::function<std::string()> why;
  // Files besides the table; null: not requested.
  ResultFile* json = nullptr;
  ResultFile* csv = nullptr;
  ResultFile* histogram_csv = nullptr;
  ResultFile* samples = nullptr;
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
  // Checks that nothing is lost, wrong, duplicated or, except with --unordered, misordered.
  void AddFaults(const Options& options, const StreamCounts& counts);
};
// Checks loss, duplication, order, content and thresholds. Skips thresholds of interrupted runs.
Verdict CheckResults(const Options& options, const std::vector<RunResult>& results);
Verdict CheckServer(const Options& options, const StreamCounts& total);
Verdict CheckRanks(const Options& options, const std::vector<RankResult>& ranks);
// Returns the verdict on sent commands, on served ones, or on both, depending on the mode.
Verdict CheckAll(const Options& options, const Document& document);
// Returns the exit code: of the first failed outcome, otherwise of the verdict.
int ExitCode(const std::vector<RunResult>& results, const Verdict& verdict);
// Returns the exit code of an outcome; kExitDone for kDone.
int ExitCodeOf(Outcome outcome);

// --- JSON ---
std::string ToJson(const Options& options, const Document& document, const Verdict& verdict,
                   const std::string& why = {});
// Returns the lines of a text of Document::why.
std::string WhyLines(const std::string& why);

// Prints failures and writes the requested files. Returns the program's exit code.
int Conclude(const Options& options, const Document& document);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_REPORT_H_
