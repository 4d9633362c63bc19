// SPDX-License-Identifier: Apache-2.0
// /suede/... on DPDK's telemetry socket: the views of an endpoint for dpdk-telemetry.py
// (docs/metrics.md).
#ifndef SUEDE_APP_ENDPOINT_TELEMETRY_COMMANDS_H_
#define SUEDE_APP_ENDPOINT_TELEMETRY_COMMANDS_H_

#include <vector>

#include "daemon/telemetry.h"
#include "endpoint/observer.h"

namespace suede {

// The observer must outlive the commands.
std::vector<TelemetryCommand> EndpointTelemetry(const Observer* observer);

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_TELEMETRY_COMMANDS_H_
