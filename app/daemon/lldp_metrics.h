// SPDX-License-Identifier: Apache-2.0
// Metrics of a port's LLDP agent (docs/lldp.md), for endpoint and switch.
#ifndef SUEDE_APP_DAEMON_LLDP_METRICS_H_
#define SUEDE_APP_DAEMON_LLDP_METRICS_H_

#include <string_view>
#include <vector>

#include "metrics/page.h"
#include "stats/lldp_counters.h"

namespace suede {

// `prefix`: precedes each name, "" or "switch_".
std::vector<MetricRow> LldpMetricRows(std::string_view prefix);

// Adds the series of a port, which `labels` names. The counters must outlive the page's last
// reader.
void AddLldpMetrics(MetricsPage& page, std::string_view prefix, const MetricLabels& labels,
                    const LldpCounters& counters);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LLDP_METRICS_H_
