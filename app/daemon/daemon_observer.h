// SPDX-License-Identifier: Apache-2.0
// The common part of what daemons show of themselves: page, health and readiness.
#ifndef SUEDE_APP_DAEMON_DAEMON_OBSERVER_H_
#define SUEDE_APP_DAEMON_DAEMON_OBSERVER_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/observed.h"
#include "daemon/process_metrics.h"
#include "daemon/pulses.h"
#include "http/server.h"
#include "metrics/page.h"

namespace suede {

class DaemonObserver : public Observed {
 public:
  // Reports that the lcores were started. Control thread.
  void SetStarted() { started_ = true; }
  HttpCounters* http_counters() { return &http_; }

  // ---- Any thread.

  const std::string& name() const final { return name_; }
  const MetricsPage& page() const final { return page_; }
  std::vector<std::string> HealthFaults() const final { return pulses_.HealthFaults(); }
  std::vector<std::string> Obstacles() const override {
    std::vector<std::string> obstacles = HealthFaults();
    if (!started_.load(std::memory_order_relaxed)) obstacles.emplace_back("starting");
    if (draining_.load(std::memory_order_relaxed)) obstacles.emplace_back("draining");
    return obstacles;
  }

 protected:
  // `kind`: the label of the daemon's name. `management`: has counters() and log_counters(), and
  // outlives this. `cpus`: of the lcores.
  template <typename Management>
  DaemonObserver(std::vector<MetricRow> rows, std::string_view kind, std::string name,
                 uint64_t tsc_hertz, const Management* management, std::vector<uint32_t> cpus)
      : page_(std::move(rows), {{kind, name}}),
        process_(&page_, tsc_hertz, &management->counters(), &http_, &management->log_counters()),
        name_(std::move(name)),
        pulses_(std::move(cpus)) {}

  // To be called in each iteration of the control loop. Every 100 ms calls `prepare(is_second)`,
  // with true once a second, and copies the page's samples.
  template <typename Prepare>
  void Sample(bool draining, Prepare&& prepare) {
    const int64_t now = Pulses::NowNs();
    pulses_.Beat(now);
    if (now < next_copy_ns_) return;
    next_copy_ns_ = now + 100'000'000;
    draining_.store(draining, std::memory_order_relaxed);
    const bool is_second = now >= next_second_ns_;
    if (is_second) next_second_ns_ = now + 1'000'000'000;
    prepare(is_second);
    page_.CopySamples();
    if (is_second) process_.CopyProcess();
    process_.SetReady(Obstacles().empty());
  }

  // See Pulses.
  void RecordProgress(size_t lcore, uint64_t progress) {
    pulses_.RecordProgress(lcore, progress, started_);
  }
  bool started() const { return started_; }

  HttpCounters http_;
  MetricsPage page_;

 private:
  ProcessMetrics process_;
  const std::string name_;
  Pulses pulses_;
  std::atomic<bool> started_{false};
  std::atomic<bool> draining_{false};
  int64_t next_copy_ns_ = 0;
  int64_t next_second_ns_ = 0;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_DAEMON_OBSERVER_H_
