// SPDX-License-Identifier: Apache-2.0
// Every metric of a switch (docs/metrics.md, "The switch").
#ifndef SUEDE_APP_SWITCH_SWITCH_METRIC_ROWS_H_
#define SUEDE_APP_SWITCH_SWITCH_METRIC_ROWS_H_

#include <string>
#include <string_view>
#include <vector>

#include "metrics/row.h"

namespace suede {

// In the order of the page.
std::vector<MetricRow> SwitchMetricRows();
// Without those common to all daemons.
std::vector<MetricRow> SwitchOwnMetricRows();

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_METRIC_ROWS_H_
