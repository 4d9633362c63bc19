// SPDX-License-Identifier: Apache-2.0
// The flags of suede-mesh, declared once.
#ifndef SUEDE_APP_MESH_MESH_FLAGS_H_
#define SUEDE_APP_MESH_MESH_FLAGS_H_

#include "daemon/program.h"

namespace suede {

inline constexpr int kExitNotAccepted = 3;

// Like SUEDE_FLAGS.
#define SUEDE_MESH_FLAGS(X)                                                                        \
  X(uint32, plane, 0, "PLANE", "the plane of cables, tables, trace and --tables")                  \
  X(string, tables, "", "FILE...", "tables in place of generated ones, of the plane and the next") \
  X(string, running, "", "FILE...",                                                                \
    "check: tables that --tables are to replace at run time, if not the generated ones")           \
  X(string, out, "", "DIR", "plan: writes DIR/HOST.yaml; without it, prints all of them")          \
  X(string, device, "", "PATTERN",                                                                 \
    "plan: devices of cables; {host}, {end} and {number} are replaced")                            \
  X(string, sockets, "/run/suede", "DIR",                                                          \
    "plan without --device: directory of the memifs' sockets")                                     \
  X(uint32, lcores, 1, "COUNT", "plan: lcores of each host, at most")                              \
  X(string, endpoint, "", "NAME...", "validate: running daemons, by names or paths of sockets")    \
  X(string, discovered, "", "FILE...", "validate: saved results of cables.list")                   \
  X(string, planned, "", "FILE...", "validate: configurations")

// Flags with several values, which are joined for gflags.
inline constexpr char kMeshListSeparator = '\n';
inline constexpr std::string_view kMeshListFlags[] = {"--tables", "--running", "--endpoint",
                                                      "--discovered", "--planned"};

inline constexpr FlagRow kMeshFlagRows[] = {
#define SUEDE_MESH_FLAG_ROW(type, name, fallback, value, sentence) {#name, value, sentence},
    SUEDE_MESH_FLAGS(SUEDE_MESH_FLAG_ROW)
#undef SUEDE_MESH_FLAG_ROW
        {"version", "", "prints the version and exits"},
    {"help", "", "prints this and exits"},
};

inline constexpr ExitCodeRow kMeshExitCodeRows[] = {
    {kExitDone, "done"},
    {kExitFailure, "a file could not be written, or a daemon did not answer"},
    {kExitUsage, "usage or specification"},
    {kExitNotAccepted, "check, plan or validate found a fault; trace found no route"},
};

inline constexpr Program kMeshProgram = {
    .name = "suede-mesh",
    .title = "checks, shows and plans systems of meshes",
    .synopsis =
        "suede-mesh check FILE | show FILE | cables FILE | tables FILE | trace FILE DEVICE DEVICE "
        "| plan FILE | validate FILE [FLAGS]",
    .signals = "SIGTERM and SIGINT end it.",
    .flags = kMeshFlagRows,
    .exit_codes = kMeshExitCodeRows};

}  // namespace suede

#endif  // SUEDE_APP_MESH_MESH_FLAGS_H_
