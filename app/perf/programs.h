// SPDX-License-Identifier: Apache-2.0
// The programs of the benchmark. Each prints the table during the run, adds host facts and results
// to the document, and returns the exit code.
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

// Run memory operations as a client of a running daemon: the load, or the server.
int RunMemory(const Options& options, Document document, const std::atomic<bool>& stop);
int ServeMemory(const Options& options, Document document, const std::atomic<bool>& stop);
// As FinishRun; also prints the explanation of failed operations.
void FinishMemoryRun(const Options& options, uint32_t data_bytes, double cacheline_before_ns,
                     RunResult result, Document* document);
// Run message sockets as a client of a running daemon: the load, or the server.
int RunMessages(const Options& options, Document document, const std::atomic<bool>& stop);
int ServeMessages(const Options& options, Document document, const std::atomic<bool>& stop);

// Runs the own ranks of a workload, each as a client of the daemon.
int RunWorkload(const Options& options, Document document, const std::atomic<bool>& stop);

// Hosts the endpoint, and runs the load or the server on its lcore.
int RunEmbedded(const Options& options, Document document, const std::atomic<bool>& stop);

// Common parts of all programs: the probe before and after a run, and the table.
double ProbeCacheline(const Options& options);
void PrintHead(const Options& options, const Document& document);
// Completes the result with values from outside of the engine, prints it, and adds it to the
// document.
void FinishRun(const Options& options, uint32_t data_bytes, double cacheline_before_ns,
               RunResult result, Document* document);
// Returns a random non-zero number, which identifies a run.
uint32_t NewRunNumber();
// Returns the log of --interval_json; null if not requested.
absl::StatusOr<std::unique_ptr<IntervalLog>> OpenIntervalLog(const Options& options);
// Prints the error of a failed connection. Returns the exit code.
int FailToConnect(const absl::Status& status);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_PROGRAMS_H_
