// SPDX-License-Identifier: Apache-2.0
// Metrics of the ports of lib/fabric, for switches and for devices of a mesh.
#ifndef SUEDE_APP_DAEMON_FABRIC_METRICS_H_
#define SUEDE_APP_DAEMON_FABRIC_METRICS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/switch_port.h"
#include "metrics/page.h"

namespace suede {

// The metric of a counter of lib/stats/switch_counters.h, e.g. class_drop_tail_total is
// switch_class_drops_total{reason="tail"}. `prefix`: precedes each name, "switch_" or "device_".
struct FabricMetricName {
  std::string family;
  std::string_view reason;  // empty: the family has no such label
};
FabricMetricName FabricMetricNameOf(std::string_view prefix, std::string_view counter);

// `labels`: those of a port, "port" or "device port".
std::vector<MetricRow> FabricMetricRows(std::string_view prefix, std::string_view labels);

// Returns the labels of a class of a port that `labels` names.
MetricLabels LabelsOfClass(MetricLabels labels, uint32_t traffic_class);

// Adds the series of a port, which `labels` names, and of its `classes`, a bit each. The port must
// outlive the page's last reader.
void AddFabricMetrics(MetricsPage& page, std::string_view prefix, const MetricLabels& labels,
                      const fabric::SwitchPort& port, uint32_t classes);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_FABRIC_METRICS_H_
