// SPDX-License-Identifier: Apache-2.0
// Every metric of an endpoint: those of lib/stats and of its other parts.
#ifndef SUEDE_APP_ENDPOINT_METRIC_ROWS_H_
#define SUEDE_APP_ENDPOINT_METRIC_ROWS_H_

#include <vector>

#include "metrics/row.h"

namespace suede {

// In the order of the page.
std::vector<MetricRow> AllMetricRows();
// Without the metrics of devices that a switch has, too, as switch_ in place of device_.
std::vector<MetricRow> OwnMetricRows();

// The metrics of /metrics?peers=1, one series each per connection.
std::vector<MetricRow> PeerMetricRows();

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_METRIC_ROWS_H_
