// SPDX-License-Identifier: Apache-2.0
// The programs of the benchmark. Each prints the table during the run, adds host facts and results
// to the document, and returns the exit code.
#ifndef SUEDE_APP_PERF_PROGRAMS_H_
#define SUEDE_APP_PERF_PROGRAMS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "perf/interval_log.h"
#include "perf/options.h"
#include "perf/report.h"

namespace suede::perf {

// Runs the load or the server as a client of a running daemon.
int RunOverDaemon(const Options& options, Document document, const std::atomic<bool>& stop);

// Run memory operations as a client of a running daemon: the load, or the server.
int RunMemory(const Options& options, Document document, const std::atomic<bool>& stop);
int ServeMemory(const Options& options, Document document, const std::atomic<bool>& stop);
// Run message sockets as a client of a running daemon: the load, or the server.
int RunMessages(const Options& options, Document document, const std::atomic<bool>& stop);
int ServeMessages(const Options& options, Document document, const std::atomic<bool>& stop);

// Run AXI4 transactions as a client of a running daemon: the load, or the server.
int RunAxi(const Options& options, Document document, const std::atomic<bool>& stop);
int ServeAxi(const Options& options, Document document, const std::atomic<bool>& stop);

// Runs the own ranks of a workload, each as a client of the daemon.
int RunWorkload(const Options& options, Document document, const std::atomic<bool>& stop);

// Hosts the endpoint, and runs the load or the server on its lcore.
int RunEmbedded(const Options& options, Document document, const std::atomic<bool>& stop);

// ---- Common parts.

// Performs one step of a sweep: a run of a size, with the step's options.
using RunStep = std::function<RunResult(const Options& step, uint32_t data_bytes)>;
// Calls run_step for each size and number in flight until a run fails, is unfinished, or `stop`.
// Completes the results with values from outside of the engine, prints the table, and adds them to
// the document.
void RunSteps(const Options& options, const RunStep& run_step, Document* document,
              const std::atomic<bool>& stop);
// As above. Returns the exit code.
int RunClient(const Options& options, const RunStep& run_step, Document* document,
              const std::atomic<bool>& stop);
// Prints a server's counts. Returns the exit code. `total`: null if the lcore has them. `is_lost`:
// the daemon went away.
int ConcludeServer(const Options& options, const StreamCounts* total, uint64_t runs, bool is_lost,
                   Document* document);
// Returns a random non-zero number, which identifies a run.
uint32_t NewRunNumber();
// Returns the log of --interval_json; null if not requested.
absl::StatusOr<std::unique_ptr<IntervalLog>> OpenIntervalLog(const Options& options);

// Formats ids, sorted and without duplicates, as "0, 2-5, 9". Ends with "..." after `max` numbers
// and ranges.
std::string RangesOf(std::vector<uint32_t> ids, size_t max = 16);

// Queries the daemon's management socket. Returns "; its peers are XPU 0, 2-5 (FILE)", or the
// command to list them if the query fails. `endpoint`: value of --endpoint.
std::string PeersOf(const std::string& endpoint);

// Returns parameters of a call of libsuede-mem, for the own instance of the options.
template <class Params>
Params ParamsOf(const Options& options) {
  Params params{};
  params.size = sizeof params;
  if (options.xpuid >= 0) {
    params.plane_count = 1;
    params.planes[0] = {.xpuid = static_cast<uint16_t>(options.xpuid),
                        .instance = static_cast<uint8_t>(options.instance),
                        .reserved = 0};
  }
  return params;
}

// Prints the error. Returns `code`.
int Fail(const absl::Status& status, int code);
// Prints the error of a failed connection. Returns the exit code.
int FailToConnect(const absl::Status& status);
// Returns the status of a failed call of libsuede. `error`: the negative errno that it returned.
// `text`: the library's error text, prefixed by the endpoint.
absl::Status StatusOfCall(int error, absl::string_view text);
// As above, of libsuede-mem.
absl::Status StatusOfMemoryCall(int error, const Options& options);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_PROGRAMS_H_
