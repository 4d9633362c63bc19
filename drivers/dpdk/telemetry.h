// SPDX-License-Identifier: Apache-2.0
// Commands on DPDK's telemetry socket (dpdk-telemetry.py). Nothing here includes a DPDK header.
#ifndef SUEDE_DPDK_TELEMETRY_H_
#define SUEDE_DPDK_TELEMETRY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"

namespace suede {

// The reply to a command: names with values, or a list of names. DPDK limits them to 256 and 512
// entries, and names to letters, digits and _; others are left out.
using TelemetryValue = std::variant<uint64_t, std::string>;
using TelemetryDict = std::vector<std::pair<std::string, TelemetryValue>>;
using TelemetryList = std::vector<std::string>;
using TelemetryReply = std::variant<TelemetryDict, TelemetryList>;

// Called on the telemetry thread. `parameter`: the text after the comma, may be empty. Returns
// false if the parameter names nothing; the reply is then null.
using TelemetrySource = std::function<bool(std::string_view parameter, TelemetryReply* reply)>;

// Adds a command. To be called after StartEal(). `command`: "/suede/..."; `help`: a sentence.
absl::Status AddTelemetry(const std::string& command, const std::string& help,
                          TelemetrySource source);
// Removes all commands; waits for a running source. EAL cannot unregister commands: their reply is
// null afterwards.
void RemoveTelemetry();

}  // namespace suede

#endif  // SUEDE_DPDK_TELEMETRY_H_
