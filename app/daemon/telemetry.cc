// SPDX-License-Identifier: Apache-2.0
#include "daemon/telemetry.h"

#include <utility>

#include "daemon/version.h"

namespace suede {

TelemetryDict InfoOf(const Observed& observed, uint64_t tsc_hertz) {
  return {{"name", observed.name()},
          {"version", kVersion},
          {"revision", kRevision},
          {"tsc_hertz", tsc_hertz}};
}

absl::Status Telemetry::Register(std::vector<TelemetryCommand> commands) {
  for (TelemetryCommand& one : commands) {
    absl::Status status = AddTelemetry(one.command, one.help, std::move(one.source));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace suede
