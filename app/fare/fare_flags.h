// SPDX-License-Identifier: Apache-2.0
// The flags of suede-fare, declared once.
#ifndef SUEDE_APP_FARE_FARE_FLAGS_H_
#define SUEDE_APP_FARE_FARE_FLAGS_H_

#include "daemon/program.h"

namespace suede {

inline constexpr int kExitUnreachable = 4;

// Like SUEDE_FLAGS.
#define SUEDE_FARE_FLAGS(X)                                                                  \
  X(string, config, "", "FILE", "the configuration (docs/fare.md, conf/frr/fare.yaml)")      \
  X(string, set, "", "KEY=VALUE;...",                                                        \
    "overrides keys of it, and may be repeated; SUEDE_<KEY> in the environment does so too") \
  X(bool, once, false, "", "sets the weights that the routes give now, and exits")           \
  X(bool, keep_weights, false, "", "leaves the weights as they are when it ends")            \
  X(bool, check_config, false, "", "checks the configuration and exits")                     \
  X(bool, dump_config, false, "", "prints the effective configuration and exits")

inline constexpr FlagRow kFareFlagRows[] = {
#define SUEDE_FARE_FLAG_ROW(type, name, fallback, value, sentence) {#name, value, sentence},
    SUEDE_FARE_FLAGS(SUEDE_FARE_FLAG_ROW)
#undef SUEDE_FARE_FLAG_ROW
        {"version", "", "prints the version and exits"},
    {"help", "", "prints this and exits"},
};

inline constexpr ExitCodeRow kFareExitCodeRows[] = {
    {kExitDone, "done"},
    {kExitFailure, "runtime failure; with --once: the endpoint refused a weight"},
    {kExitUsage, "usage or configuration"},
    {kExitUnreachable, "with --once: the endpoint is unreachable"},
    {kExitPreflight, "preflight failed: an interface or a program is missing"},
};

inline constexpr Program kFareProgram = {
    .name = "suede-fare",
    .title = "sets the weights of an endpoint's planes by the routes that BGP learns",
    .synopsis =
        "suede-fare --config FILE [--set KEY=VALUE;...] [--once] [--keep_weights] "
        "[--check_config | --dump_config]",
    .signals =
        "SIGTERM and SIGINT set the weights back to default and exit; SIGUSR1 logs all "
        "weights.",
    .flags = kFareFlagRows,
    .exit_codes = kFareExitCodeRows};

}  // namespace suede

#endif  // SUEDE_APP_FARE_FARE_FLAGS_H_
