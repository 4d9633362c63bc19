// SPDX-License-Identifier: Apache-2.0
// Samples during a run where commands wait, by the daemon's management socket (docs/why.md), for
// the lines and the JSON member "why".
#ifndef SUEDE_APP_PERF_WHY_WATCH_H_
#define SUEDE_APP_PERF_WHY_WATCH_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "perf/options.h"
#include "suedectl/daemon.h"
#include "suedectl/trace_rows.h"
#include "suedectl/why.h"

namespace suede::perf {

// A thread of its own, ten samples in a second. Start and End on one thread.
class WhyWatch {
 public:
  // Null if the run has no daemon, or if its socket cannot be opened and was not named.
  static absl::StatusOr<std::unique_ptr<WhyWatch>> Start(const Options& options);
  ~WhyWatch();

  // Returns the object as text; empty: nothing was learnt.
  std::string End();

 private:
  explicit WhyWatch(ctl::Daemon daemon) : daemon_(std::move(daemon)) {}
  void Run();
  void Trace();
  void TakeTrace();
  void AddEvents(Json* conclusions);
  void AddIdle(Json* conclusions);
  void AddLatency(Json* conclusions) const;

  ctl::Daemon daemon_;
  ctl::WhySamples samples_;
  ctl::TraceTimes times_;
  uint32_t turn_ = 0;  // of Trace
  bool is_tracing_ = false;
  uint64_t since_ = 0;  // of events
  double seconds_ = 0;  // from the first sample to the last
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_WHY_WATCH_H_
