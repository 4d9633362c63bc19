// SPDX-License-Identifier: Apache-2.0
// The flags of suede-switch, declared once.
#ifndef SUEDE_APP_SWITCH_SWITCH_FLAGS_H_
#define SUEDE_APP_SWITCH_SWITCH_FLAGS_H_

#include "daemon/program.h"

namespace suede {

// Like SUEDE_FLAGS.
#define SUEDE_SWITCH_FLAGS(X)                                                                \
  X(string, config, "", "FILE", "the configuration (docs/switch.md, conf/switch/pair.yaml)") \
  X(string, set, "", "KEY=VALUE;...",                                                        \
    "overrides keys of it, and may be repeated; SUEDE_<KEY> in the environment does so too") \
  X(bool, check_config, false, "", "checks the configuration and exits")                     \
  X(bool, dump_config, false, "", "prints the effective configuration and exits")            \
  X(bool, list_names, false, "", "prints the names of counters and events and exits")        \
  X(double, drain_seconds, 1, "S", "how long SIGTERM waits for frames inside (default 1)")

inline constexpr FlagRow kSwitchFlagRows[] = {
#define SUEDE_SWITCH_FLAG_ROW(type, name, fallback, value, sentence) {#name, value, sentence},
    SUEDE_SWITCH_FLAGS(SUEDE_SWITCH_FLAG_ROW)
#undef SUEDE_SWITCH_FLAG_ROW
        {"version", "", "prints the version and exits"},
    {"help", "", "prints this and exits"},
};

inline constexpr Program kSwitchProgram = {
    .name = "suede-switch",
    .title = "a software switch for SUE fabrics",
    .synopsis =
        "suede-switch --config FILE [--set KEY=VALUE;...] "
        "[--check_config | --dump_config | --list_names] [-- EAL arguments]",
    .signals =
        "SIGTERM and SIGINT drain and exit, a second one at once; SIGUSR1 logs all counters.",
    .flags = kSwitchFlagRows};

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_FLAGS_H_
