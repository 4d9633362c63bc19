// SPDX-License-Identifier: Apache-2.0
// --interval_json: the load received in each interval, by flow, and the latencies measured in it
// (docs/suede-perf.md, "Intervals").
#ifndef SUEDE_APP_PERF_INTERVAL_LOG_H_
#define SUEDE_APP_PERF_INTERVAL_LOG_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/histogram.h"
#include "base/log_linear.h"
#include "base/time.h"
#include "perf/progress.h"
#include "perf/protocol.h"
#include "perf/streams.h"

namespace suede::perf {

// Counters of one receiver. Written by the receiver's thread, read by the log's.
class IntervalCells {
 public:
  using Buckets = LogLinear<5, 64>;
  static constexpr size_t kStreams = size_t{kMaxXpus} * kVcCount;

  explicit IntervalCells(uint16_t own)
      : own_(own), flows_(kStreams), latencies_(Buckets::kBuckets) {}

  // Counts received commands of load, which are not duplicates.
  void OnLoad(StreamId from, uint64_t bytes, uint32_t commands = 1) {
    Flow& flow =
        flows_[(from.xpuid & (kMaxXpus - 1)) * size_t{kVcCount} + (from.vc & (kVcCount - 1))];
    Bump(flow.commands, commands);
    Bump(flow.bytes, bytes);
  }
  void OnLatency(uint64_t ns) { Bump(latencies_[Buckets::BucketOf(ns)], 1); }

  // Current values. Any thread may call.
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
  std::vector<Flow> flows_;  // [source][VC]
  std::vector<Cell> latencies_;
};

// Records the time that something took: in `cells`, unless null, and in `times` if `measured`.
inline void RecordTime(Duration took, IntervalCells* cells, bool measured, Histogram* times) {
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(took.count(), 0));
  if (cells != nullptr) cells->OnLatency(ns);
  if (measured) times->Record(ns);
}

// Writes one line with a JSON object per interval, from its own thread. The destructor writes the
// last line.
class IntervalLog {
 public:
  // Creates or truncates the file. `kind`: kind of the latencies, copied to the output.
  static absl::StatusOr<std::unique_ptr<IntervalLog>> Open(const std::string& path,
                                                           double interval_s, std::string kind);
  ~IntervalLog();
  IntervalLog(const IntervalLog&) = delete;

  // Creates the counters of a receiver, which live as long as the log. To be called before the
  // first interval ends.
  IntervalCells* NewCells(uint16_t own_xpuid);
  // Returns the line with the changes since the previous line. Called only by the log's thread, and
  // by tests.
  std::string NextLine(std::chrono::system_clock::time_point time);

 private:
  struct Before {
    std::vector<uint64_t> commands;
    std::vector<uint64_t> bytes;
    std::vector<uint64_t> latencies;
  };

  IntervalLog(FILE* file, double interval_s, std::string kind);
  void Write();

  FILE* const file_;
  const std::string kind_;
  // Guarded by the thread's mutex, except for the values of cells.
  std::deque<IntervalCells> cells_;
  std::deque<Before> before_;
  std::optional<IntervalThread> thread_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_INTERVAL_LOG_H_
