// SPDX-License-Identifier: Apache-2.0
// /suede/... on DPDK's telemetry socket: the views of an endpoint for dpdk-telemetry.py
// (docs/metrics.md).
#ifndef SUEDE_APP_ENDPOINT_TELEMETRY_COMMANDS_H_
#define SUEDE_APP_ENDPOINT_TELEMETRY_COMMANDS_H_

#include "absl/status/status.h"
#include "endpoint/observer.h"

namespace suede {

// From construction to destruction; the observer outlives it.
class TelemetryCommands {
 public:
  TelemetryCommands() = default;
  ~TelemetryCommands();
  TelemetryCommands(const TelemetryCommands&) = delete;
  TelemetryCommands& operator=(const TelemetryCommands&) = delete;
  absl::Status Register(const Observer* observer);
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_TELEMETRY_COMMANDS_H_
