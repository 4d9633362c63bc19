// SPDX-License-Identifier: Apache-2.0
// Metrics and events of a memif port (docs/memif.md), for endpoint and switch.
#ifndef SUEDE_APP_DAEMON_MEMIF_REPORTS_H_
#define SUEDE_APP_DAEMON_MEMIF_REPORTS_H_

#include <string_view>
#include <vector>

#include "memif/device.h"
#include "metrics/page.h"
#include "mgmt/event_log.h"

namespace suede {

// `prefix`: precedes each name, "" or "switch_".
std::vector<MetricRow> MemifMetricRows(std::string_view prefix);

// Adds the series of a port, which `labels` names. The device must outlive the page's samples.
void AddMemifMetrics(MetricsPage& page, std::string_view prefix, const MetricLabels& labels,
                     memif::Device* device);

// Raises an event if a connection of the port was refused or ended for a reason since the last
// call.
void ReportMemif(std::string_view port, memif::Device& device, EventLog& events);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_MEMIF_REPORTS_H_
