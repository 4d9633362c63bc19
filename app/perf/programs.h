// SPDX-License-Identifier: Apache-2.0
// The programs of the benchmark. Each prints the table as it goes, fills the facts and results of the
// document, and returns the exit code of the program.
#ifndef SUEDE_APP_PERF_PROGRAMS_H_
#define SUEDE_APP_PERF_PROGRAMS_H_

#include <atomic>
#include <memory>

#include "absl/status/statusor.h"
#include "perf/interval_log.h"
#include "perf/options.h"
#include "perf/report.h"

namespace suede::perf {

// Runs the load or the server as a client of a running daemon.
int RunOverDaemon(const Options& options, Document document, const std::atomic<bool>& stop);

// Memory operations as a client of a running daemon: the load of a mode, or a server of it.
int RunMemory(const Options& options, Document document, const std::atomic<bool>& stop);
int ServeMemory(const Options& options, Document document, const std::atomic<bool>& stop);
// FinishRun, and says what went wrong.
void FinishMemoryRun(const Options& options, uint32_t data_bytes, double cacheline_before_ns,
                     RunResult result, Document* document);
// Message sockets as a client of a running daemon: the load, or a server of it.
int RunMessages(const Options& options, Document document, const std::atomic<bool>& stop);
int ServeMessages(const Options& options, Document document, const std::atomic<bool>& stop);

// The own ranks of a workload, each as a client of the daemon.
int RunWorkload(const Options& options, Document document, const std::atomic<bool>& stop);

// Hosting the endpoint, on its lcore.
int RunEmbedded(const Options& options, Document document, const std::atomic<bool>& stop);

// The common parts of both around a run: the probe before and after, the row of the table.
double ProbeCacheline(const Options& options);
void PrintHead(const Options& options, const Document& document);
// Adds the values that the engine does not know to the result, prints it, and keeps it in the
// document.
void FinishRun(const Options& options, uint32_t data_bytes, double cacheline_before_ns,
               RunResult result, Document* document);
// A number that no earlier run had.
uint32_t NewRunNumber();
// The log of --interval_json, or null where none is wanted.
absl::StatusOr<std::unique_ptr<IntervalLog>> OpenIntervalLog(const Options& options);
// Says why there are no connections; the program's exit code.
int FailToConnect(const absl::Status& status);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_PROGRAMS_H_
