// SPDX-License-Identifier: Apache-2.0
// The flags of suede, declared once: gflags' definitions, --help, the manual page and the
// completion derive from these rows.
#ifndef SUEDE_APP_ENDPOINT_DAEMON_FLAGS_H_
#define SUEDE_APP_ENDPOINT_DAEMON_FLAGS_H_

#include <string_view>

#include "daemon/program.h"

namespace suede {

// gflags' type, name, default, the flag's value (empty: none), sentence.
#define SUEDE_FLAGS(X)                                                                             \
  X(string, config, "", "FILE", "the configuration (suede.yaml(5), docs/configuration.md, conf/)") \
  X(string, set, "", "KEY=VALUE;...",                                                              \
    "overrides keys of it, and may be repeated; SUEDE_<KEY> in the environment does so too")       \
  X(bool, check, false, "", "checks the configuration, and its needs of this machine, and exits")  \
  X(bool, check_config, false, "", "checks the configuration alone and exits")                     \
  X(bool, dump_config, false, "", "prints the effective configuration and exits")                  \
  X(bool, list_names, false, "", "prints the names of counters and events and exits")              \
  X(double, drain_seconds, 2, "S", "how long SIGTERM waits for commands in flight (default 2)")

inline constexpr FlagRow kFlagRows[] = {
#define SUEDE_FLAG_ROW(type, name, fallback, value, sentence) {#name, value, sentence},
    SUEDE_FLAGS(SUEDE_FLAG_ROW)
#undef SUEDE_FLAG_ROW
    {"version", "", "prints the version and exits"},
    {"help", "", "prints this and exits"},
};

inline constexpr std::string_view kSynopsis =
    "suede --config FILE [--set KEY=VALUE;...] "
    "[--check | --check_config | --dump_config | --list_names] [-- EAL arguments]";
inline constexpr std::string_view kSignals =
    "SIGTERM and SIGINT drain and exit, a second one at once; SIGUSR1 logs all counters.";

inline constexpr Program kSuedeProgram = {.name = "suede",
                                          .title = "SUE data-plane endpoint",
                                          .synopsis = kSynopsis,
                                          .signals = kSignals,
                                          .flags = kFlagRows};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_DAEMON_FLAGS_H_
