// SPDX-License-Identifier: Apache-2.0
// Commands for DPDK's telemetry socket, which dpdk-telemetry.py speaks to. Nothing here includes a
// DPDK header.
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

// The answer of a command: names with values, or a list of names. DPDK bounds both: 256 and 512
// entries, names of letters, digits and _ alone; further ones are left out.
using TelemetryValue = std::variant<uint64_t, std::string>;
using TelemetryDict = std::vector<std::pair<std::string, TelemetryValue>>;
using TelemetryList = std::vector<std::string>;
using TelemetryReply = std::variant<TelemetryDict, TelemetryList>;

// Called on telemetry's own thread; `parameter` is the text behind the comma, perhaps empty. False:
// no such thing, which is answered with null.
using TelemetrySource = std::function<bool(std::string_view parameter, TelemetryReply* reply)>;

// After StartEal(). `command` is "/suede/...", `help` a sentence.
absl::Status AddTelemetry(const std::string& command, const std::string& help,
                          TelemetrySource source);
// Waits for a source that runs. From then on commands are answered with null: EAL cannot forget
// them.
void RemoveTelemetry();

}  // namespace suede

#endif  // SUEDE_DPDK_TELEMETRY_H_
