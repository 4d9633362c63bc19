// SPDX-License-Identifier: Apache-2.0
// suedectl's exit codes.
#ifndef SUEDE_SUEDECTL_EXIT_CODES_H_
#define SUEDE_SUEDECTL_EXIT_CODES_H_

namespace suede::ctl {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailure = 1;  // the daemon refused, or a file failed
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnreachable = 4;

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_EXIT_CODES_H_
