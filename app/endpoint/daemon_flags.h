// SPDX-License-Identifier: Apache-2.0
// The flags of suede, declared once: gflags' definitions, --help, the manual page and the
// completion derive from these rows.
#ifndef SUEDE_APP_ENDPOINT_DAEMON_FLAGS_H_
#define SUEDE_APP_ENDPOINT_DAEMON_FLAGS_H_

#include <string_view>

namespace suede {

// gflags' type, name, default, the flag's value (empty: none), sentence.
#define SUEDE_FLAGS(X)                                                                             \
  X(string, config, "", "FILE", "the configuration (suede.yaml(5), docs/configuration.md, conf/)") \
  X(string, set, "", "KEY=VALUE;...",                                                              \
    "overrides keys of it, and may be repeated; SUEDE_<KEY> in the environment does so too")       \
  X(bool, check, false, "", "checks the configuration, and its needs of this machine, and exits")  \
  X(bool, check_config, false, "", "checks the configuration alone and exits")                     \
  X(bool, dump_config, false, "", "prints the effective configuration and exits")                  \
  X(double, drain_seconds, 2, "S", "how long SIGTERM waits for commands in flight (default 2)")

// A row, as texts are made from it.
struct FlagRow {
  std::string_view name;
  std::string_view value;
  std::string_view sentence;
};

inline constexpr FlagRow kFlagRows[] = {
#define SUEDE_FLAG_ROW(type, name, fallback, value, sentence) {#name, value, sentence},
    SUEDE_FLAGS(SUEDE_FLAG_ROW)
#undef SUEDE_FLAG_ROW
    {"version", "", "prints the version and exits"},
    {"help", "", "prints this and exits"},
};

struct ExitCodeRow {
  int code;
  std::string_view sentence;
};
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitPreflight = 5;
inline constexpr ExitCodeRow kExitCodeRows[] = {
    {kExitDone, "done"},
    {kExitFailure, "runtime failure"},
    {kExitUsage, "usage or configuration"},
    {kExitPreflight, "preflight failed: the machine lacks something"},
};

inline constexpr std::string_view kSynopsis =
    "suede --config FILE [--set KEY=VALUE;...] [--check | --check_config | --dump_config] "
    "[-- EAL arguments]";
inline constexpr std::string_view kSignals =
    "SIGTERM and SIGINT drain and exit, a second one at once; SIGUSR1 logs all counters.";

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_DAEMON_FLAGS_H_
