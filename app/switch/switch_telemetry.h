// SPDX-License-Identifier: Apache-2.0
// /suede/... on DPDK's telemetry socket: the views of a switch for dpdk-telemetry.py
// (docs/metrics.md).
#ifndef SUEDE_APP_SWITCH_SWITCH_TELEMETRY_H_
#define SUEDE_APP_SWITCH_SWITCH_TELEMETRY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/telemetry.h"
#include "fabric/switch.h"

namespace suede {

// `names`: of the ports. `observed` and `the_switch` must outlive the commands.
std::vector<TelemetryCommand> SwitchTelemetry(const Observed* observed,
                                              const fabric::Switch* the_switch,
                                              std::vector<std::string> names, uint64_t tsc_hertz);

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_TELEMETRY_H_
