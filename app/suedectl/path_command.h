// SPDX-License-Identifier: Apache-2.0
// suedectl path (docs/path.md).
#ifndef SUEDE_APP_SUEDECTL_PATH_COMMAND_H_
#define SUEDE_APP_SUEDECTL_PATH_COMMAND_H_

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "suedectl/daemon_command.h"

namespace suede::ctl {

absl::Status RunPath(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                     FILE* err);

// Another sender: the management socket of its endpoint.
struct PathSender {
  std::string socket;
  std::optional<uint32_t> xpu;  // nullopt: the first that has the peer
  friend bool operator==(const PathSender&, const PathSender&) = default;
};
// Reads "SOCKET[@XPU],...".
absl::StatusOr<std::vector<PathSender>> ParsePathSenders(std::string_view text);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PATH_COMMAND_H_
