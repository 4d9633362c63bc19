// SPDX-License-Identifier: Apache-2.0
// The daemon's commands on DPDK's telemetry socket (docs/metrics.md).
#ifndef SUEDE_APP_DAEMON_TELEMETRY_H_
#define SUEDE_APP_DAEMON_TELEMETRY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/observed.h"
#include "dpdk/telemetry.h"

namespace suede {

struct TelemetryCommand {
  std::string command;  // "/suede/..."
  std::string help;     // a sentence
  TelemetrySource source;
};

// Returns the reply to /suede/info.
TelemetryDict InfoOf(const Observed& observed, uint64_t tsc_hertz);

// Registers commands until destruction. Objects that the sources use must outlive it.
class Telemetry {
 public:
  Telemetry() = default;
  ~Telemetry() { RemoveTelemetry(); }
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  absl::Status Register(std::vector<TelemetryCommand> commands);
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_TELEMETRY_H_
