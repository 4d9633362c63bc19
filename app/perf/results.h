// SPDX-License-Identifier: Apache-2.0
// Results of a run: filled by the engine, printed by report.cc.
#ifndef SUEDE_APP_PERF_RESULTS_H_
#define SUEDE_APP_PERF_RESULTS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/time.h"
#include "perf/protocol.h"

namespace suede::perf {

// Commands sent per time window, for the peak rate. Uses bounded memory: the windows double in
// length when they run out.
class RateTrack {
 public:
  void Add(Duration since_start, uint64_t commands) {
    auto window = static_cast<size_t>(std::max<int64_t>(since_start.count(), 0) / window_.count());
    while (window >= kWindows) {
      Coarsen();
      window /= 2;
    }
    counts_[window] += commands;
    last_ = std::max(last_, window);
  }
  void Merge(RateTrack other) {
    while (window_ < other.window_) Coarsen();
    while (other.window_ < window_) other.Coarsen();
    for (size_t i = 0; i < kWindows; ++i) counts_[i] += other.counts_[i];
    last_ = std::max(last_, other.last_);
  }
  // Returns the commands per second of the best complete window; 0 if there is none.
  double Peak() const {
    uint64_t best = 0;
    for (size_t i = 0; i < last_; ++i) best = std::max(best, counts_[i]);
    return static_cast<double>(best) * 1e9 / static_cast<double>(window_.count());
  }

 private:
  static constexpr size_t kWindows = 1024;

  void Coarsen() {
    for (size_t i = 0; i < kWindows / 2; ++i) counts_[i] = counts_[2 * i] + counts_[2 * i + 1];
    std::fill(counts_.begin() + kWindows / 2, counts_.end(), 0);
    window_ *= 2;
    last_ /= 2;
  }

  Duration window_ = std::chrono::milliseconds(10);
  size_t last_ = 0;
  std::vector<uint64_t> counts_ = std::vector<uint64_t>(kWindows);
};

// Times of the first and the last command that a server received.
struct Arrivals {
  Time first = kNever;
  Time last{};

  void On(Time now) {
    first = std::min(first, now);
    last = std::max(last, now);
  }
  void Merge(const Arrivals& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  double seconds() const {
    return last > first ? static_cast<double>((last - first).count()) / 1e9 : 0;
  }
};

enum class Outcome : uint8_t {
  kDone,
  kPeerSilent,    // no response from a server within the timeout
  kEndpointLost,  // the daemon went away
  kRefused,       // the endpoint rejects the commands as invalid
  kNoEcho,        // round trips were requested, and the server does not echo
  kNoPeer,        // a destination is not in the endpoint's configuration
};

inline constexpr size_t kCompletionStatuses = 9;  // SUEDE_STATUS_…

// A measured latency, and its start after that of the measured interval.
struct LatencySample {
  Duration start{};
  Duration latency{};
};

// Result of one step of a sweep, of all queues.
struct RunResult {
  uint32_t data_bytes = 0;
  uint32_t control_bytes = 0;
  uint32_t inflight = 0;  // maximum of commands or operations in flight; 0: not limited
  Outcome outcome = Outcome::kDone;
  std::string explanation;  // of an outcome other than kDone
  bool interrupted = false;
  bool is_unfinished = false;  // operations are in flight: no other run may follow

  uint64_t sent = 0;                   // including the warm-up
  std::vector<uint64_t> sent_by_lane;  // `sent` by instance
  uint64_t measured = 0;               // without the warm-up
  Duration measured_time{};    // of `measured`
  double offered_per_second = 0;  // 0: full speed
  double peak_per_second = 0;
  uint64_t blocked = 0;  // sends that failed for lack of credit

  StreamCounts forward;       // received by the servers
  StreamCounts reverse;       // received back: reverse load or echoes
  uint64_t reverse_sent = 0;  // sent back by the servers

  Histogram latency_ns;
  std::vector<LatencySample> samples;  // with --samples: the first of each queue
  bool latency_is_rtt = false;  // false: until the completion
  std::array<uint64_t, kCompletionStatuses> completions = {};

  double cacheline_before_ns = 0;  // 0: not measured
  double cacheline_after_ns = 0;

  // Commands lost in both directions.
  uint64_t lost() const {
    const auto missing = [](uint64_t want, uint64_t got) { return want > got ? want - got : 0; };
    return missing(sent, forward.received) + missing(reverse_sent, reverse.received);
  }
  uint64_t wrong() const { return forward.wrong + reverse.wrong; }
  uint64_t duplicated() const { return forward.duplicated + reverse.duplicated; }
  uint64_t misordered() const { return forward.misordered + reverse.misordered; }
  double achieved_per_second() const {
    const auto ns = static_cast<double>(measured_time.count());
    return ns > 0 ? static_cast<double>(measured) * 1e9 / ns : 0;
  }
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RESULTS_H_
