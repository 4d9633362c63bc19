// SPDX-License-Identifier: Apache-2.0
// --interval_json: what came in each interval, by flow, and the latencies measured in it
// (docs/suede-perf.md, "Intervals").
#ifndef SUEDE_APP_PERF_INTERVAL_LOG_H_
#define SUEDE_APP_PERF_INTERVAL_LOG_H_

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "base/log_linear.h"
#include "perf/protocol.h"

namespace suede::perf {

// Written by the thread of one receiver; read by the log's.
class IntervalCells {
 public:
  using Buckets = LogLinear<5, 64>;
  static constexpr size_t kStreams = size_t{kMaxXpus} * kVcCount;

  explicit IntervalCells(uint16_t own)
      : own_(own), flows_(kStreams), latencies_(Buckets::kBuckets) {}

  // Load that came from there, duplicates apart.
  void OnLoad(uint16_t source, uint8_t vc, uint32_t bytes) {
    Flow& flow = flows_[(source & (kMaxXpus - 1)) * size_t{kVcCount} + (vc & (kVcCount - 1))];
    Bump(flow.commands, 1);
    Bump(flow.bytes, bytes);
  }
  void OnLatency(uint64_t ns) { Bump(latencies_[Buckets::BucketOf(ns)], 1); }

  // The counts so far; any thread.
  uint16_t own() const { return own_; }
  uint64_t bytes_of(uint16_t source, uint8_t vc) const {
    return flows_[source * size_t{kVcCount} + vc].bytes.load(std::memory_order_relaxed);
  }
  uint64_t latencies_in(uint32_t bucket) const {
    return latencies_[bucket].load(std::memory_order_relaxed);
  }

 private:
  friend class IntervalLog;
  using Cell = std::atomic<uint64_t>;
  struct Flow {
    Cell commands = 0;
    Cell bytes = 0;
  };
  static void Bump(Cell& cell, uint64_t n) {
    cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  const uint16_t own_;
  std::vector<Flow> flows_;  // by source and VC
  std::vector<Cell> latencies_;
};

// One JSON object a line for each interval, written by a thread of its own until the destructor,
// which writes the last one.
class IntervalLog {
 public:
  // `kind`: the kind of the latencies, for the reader. Creates the file, or empties it.
  static absl::StatusOr<std::unique_ptr<IntervalLog>> Open(const std::string& path,
                                                           double interval_s, std::string kind);
  ~IntervalLog();
  IntervalLog(const IntervalLog&) = delete;

  // The cells of a receiver, before the first interval is over; they live as long as the log.
  IntervalCells* NewCells(uint16_t own_xpuid);
  // The line of all that has come since the last line. For tests; else the log's thread alone.
  std::string NextLine(std::chrono::system_clock::time_point time);

 private:
  struct Before {
    std::vector<uint64_t> commands;
    std::vector<uint64_t> bytes;
    std::vector<uint64_t> latencies;
  };

  IntervalLog(FILE* file, double interval_s, std::string kind);
  void Run();
  void Write();

  FILE* const file_;
  const std::chrono::duration<double> interval_;
  const std::string kind_;
  std::mutex mutex_;  // guards all below but the values of cells
  std::condition_variable wake_;
  bool ends_ = false;
  std::deque<IntervalCells> cells_;
  std::deque<Before> before_;
  std::thread thread_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_INTERVAL_LOG_H_
