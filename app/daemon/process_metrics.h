// SPDX-License-Identifier: Apache-2.0
// Metrics common to all daemons: of the process, the management socket and the web server.
#ifndef SUEDE_APP_DAEMON_PROCESS_METRICS_H_
#define SUEDE_APP_DAEMON_PROCESS_METRICS_H_

#include <cstdint>
#include <vector>

#include "daemon/log_writer.h"
#include "http/server.h"
#include "metrics/page.h"
#include "mgmt/server.h"

namespace suede {

std::vector<MetricRow> ProcessMetricRows();
std::vector<MetricRow> ManagementMetricRows();  // also of the web server

// The cells of these rows in a page. Control thread only.
class ProcessMetrics {
 public:
  // Adds all rows of both kinds. The counters must outlive this and the page's last reader.
  ProcessMetrics(MetricsPage* page, uint64_t tsc_hertz, const ManagementCounters* management,
                 const HttpCounters* http, const LogCounters* log);

  void SetReady(bool ready) { ready_->store(ready ? 1 : 0, std::memory_order_relaxed); }
  // To be called every second: queries the kernel.
  void CopyProcess();

 private:
  MetricCell* ready_;
  MetricCell* cpu_;
  MetricCell* resident_;
  MetricCell* virtual_;
  MetricCell* open_fds_;
  MetricCell* max_fds_;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_PROCESS_METRICS_H_
