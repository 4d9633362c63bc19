// SPDX-License-Identifier: Apache-2.0
// The flags of suede-mesh, declared once.
#ifndef SUEDE_APP_MESH_MESH_FLAGS_H_
#define SUEDE_APP_MESH_MESH_FLAGS_H_

#include "daemon/program.h"

namespace suede {

inline constexpr int kExitNotAccepted = 3;

// Like SUEDE_FLAGS.
#define SUEDE_MESH_FLAGS(X)                                                       \
  X(uint32, plane, 0, "PLANE", "the plane of cables, tables, trace and --tables") \
  X(string, tables, "", "FILE", "tables of the plane in place of generated ones")

inline constexpr FlagRow kMeshFlagRows[] = {
#define SUEDE_MESH_FLAG_ROW(type, name, fallback, value, sentence) {#name, value, sentence},
    SUEDE_MESH_FLAGS(SUEDE_MESH_FLAG_ROW)
#undef SUEDE_MESH_FLAG_ROW
        {"version", "", "prints the version and exits"},
    {"help", "", "prints this and exits"},
};

inline constexpr ExitCodeRow kMeshExitCodeRows[] = {
    {kExitDone, "done"},
    {kExitUsage, "usage or specification"},
    {kExitNotAccepted, "check found a fault; trace found no route"},
};

inline constexpr Program kMeshProgram = {
    .name = "suede-mesh",
    .title = "checks and shows systems of meshes",
    .synopsis =
        "suede-mesh check FILE | show FILE | cables FILE | tables FILE | trace FILE DEVICE DEVICE "
        "[--plane PLANE] [--tables FILE]",
    .signals = "SIGTERM and SIGINT end it.",
    .flags = kMeshFlagRows,
    .exit_codes = kMeshExitCodeRows};

}  // namespace suede

#endif  // SUEDE_APP_MESH_MESH_FLAGS_H_
