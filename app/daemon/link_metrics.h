// SPDX-License-Identifier: Apache-2.0
// Metrics of the end of a link that a port has (docs/link.md), of endpoint and switch.
#ifndef SUEDE_APP_DAEMON_LINK_METRICS_H_
#define SUEDE_APP_DAEMON_LINK_METRICS_H_

#include <string_view>
#include <vector>

#include "metrics/page.h"
#include "stats/link_counters.h"

namespace suede {

// `prefix` is in front of each name: "" or "switch_".
std::vector<MetricRow> LinkMetricRows(std::string_view prefix);

// Adds the series of a port, whose label is in `labels`; those of credit where it has cbfc: on. The
// counters outlive the page's last reader.
void AddLinkMetrics(MetricsPage& page, std::string_view prefix, const MetricLabels& labels,
                    const LinkCounters& counters, bool has_credit);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LINK_METRICS_H_
