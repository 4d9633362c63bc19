// SPDX-License-Identifier: Apache-2.0
// Progress output during a run: one line per interval; on a terminal one line that is overwritten.
#ifndef SUEDE_APP_PERF_PROGRESS_H_
#define SUEDE_APP_PERF_PROGRESS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "perf/options.h"

namespace suede::perf {

enum class Stage : uint8_t { kConnect, kLoad, kDrain, kServe };

// Counters of one worker, on a separate cache line. Written by the worker.
struct alignas(64) WorkerProgress {
  std::atomic<uint64_t> sent = 0;
  std::atomic<uint64_t> received = 0;
  std::atomic<Stage> stage = Stage::kConnect;
};

struct ProgressSums {
  uint64_t sent = 0;
  uint64_t received = 0;
  Stage stage = Stage::kConnect;  // earliest stage of all workers
};

// Returns one line, without newline. Rates are averages since `before`, `interval_s` seconds ago.
std::string ProgressText(Mode mode, uint32_t data_bytes, double elapsed_s, double interval_s,
                         const ProgressSums& before, const ProgressSums& now);

// A thread that calls a function at intervals until the destructor.
class IntervalThread {
 public:
  // Calls tick() with the mutex locked. Skips intervals that were missed while the process was
  // stopped. Signals are blocked in the thread: they must interrupt the system calls of workers.
  IntervalThread(double interval_s, std::function<void()> tick);
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

class Progress {
 public:
  // Starts a thread that writes to `out` every options.interval_s until the destructor; 0: never.
  // `out` is stderr except in tests.
  Progress(const Options& options, uint32_t data_bytes, uint32_t workers, FILE* out = stderr);
  ~Progress();
  Progress(const Progress&) = delete;

  WorkerProgress* worker(uint32_t index) { return &workers_[index]; }

 private:
  using Clock = std::chrono::steady_clock;

  void Tick();
  ProgressSums Sum() const;
  void Print(const std::string& text);

  const Mode mode_;
  const uint32_t data_bytes_;
  FILE* const out_;
  const bool is_terminal_;
  std::deque<WorkerProgress> workers_;
  bool is_written_ = false;  // the terminal's line has text
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;  // time of the last line, and the sums then
  ProgressSums before_;
  std::optional<IntervalThread> thread_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_PROGRESS_H_
