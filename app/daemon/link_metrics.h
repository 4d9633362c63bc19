// SPDX-License-Identifier: Apache-2.0
// Metrics of a port's link end (docs/link.md), for endpoint and switch.
#ifndef SUEDE_APP_DAEMON_LINK_METRICS_H_
#define SUEDE_APP_DAEMON_LINK_METRICS_H_

#include <string_view>
#include <vector>

#include "metrics/page.h"
#include "stats/link_counters.h"

namespace suede {

// `prefix`: precedes each name, "", "switch_" or "device_". `labels`: those of a port.
std::vector<MetricRow> LinkMetricRows(std::string_view prefix, std::string_view labels = "port");

// Adds the series of a port, which `labels` names; with `has_credit` also those of cbfc. The
// counters must outlive the page's last reader.
void AddLinkMetrics(MetricsPage& page, std::string_view prefix, const MetricLabels& labels,
                    const LinkCounters& counters, bool has_credit);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LINK_METRICS_H_
