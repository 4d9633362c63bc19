// SPDX-License-Identifier: Apache-2.0
// The daemon's commands on DPDK's telemetry socket (docs/metrics.md).
#ifndef SUEDE_APP_DAEMON_TELEMETRY_H_
#define SUEDE_APP_DAEMON_TELEMETRY_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
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
// Replies with the names, or with the dictionary of `name`, if it is given: `dict(index)`. Returns
// false if there is no such name.
template <typename Dict>
bool ReplyWith(TelemetryList names, std::string_view name, TelemetryReply* reply, Dict&& dict) {
  if (name.empty()) {
    *reply = std::move(names);
    return true;
  }
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return false;
  *reply = dict(static_cast<uint32_t>(found - names.begin()));
  return true;
}

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
