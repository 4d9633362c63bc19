// SPDX-License-Identifier: Apache-2.0
// suedectl record: samples of the endpoint's load, as CSV.
#ifndef SUEDE_APP_SUEDECTL_RECORD_COMMAND_H_
#define SUEDE_APP_SUEDECTL_RECORD_COMMAND_H_

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

#include "suedectl/daemon_command.h"

namespace suede::ctl {

// Returns the microseconds of a text as 500us, 1ms, 2s; nullopt: it is none.
std::optional<uint64_t> ParseMicros(std::string_view text);

absl::Status RunRecord(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags,
                       FILE* out, FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_RECORD_COMMAND_H_
