// SPDX-License-Identifier: Apache-2.0
// The daemon's commands on DPDK's telemetry socket (docs/metrics.md).
#ifndef SUEDE_APP_DAEMON_TELEMETRY_H_
#define SUEDE_APP_DAEMON_TELEMETRY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dpdk/telemetry.h"

namespace suede {

struct TelemetryCommand {
  std::string command;  // "/suede/..."
  std::string help;     // a sentence
  TelemetrySource source;
};

// From construction to destruction; whatever the sources look at outlives it.
class Telemetry {
 public:
  Telemetry() = default;
  ~Telemetry() { RemoveTelemetry(); }
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  absl::Status Register(std::vector<TelemetryCommand> commands) {
    for (TelemetryCommand& one : commands) {
      absl::Status status = AddTelemetry(one.command, one.help, std::move(one.source));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_TELEMETRY_H_
