// SPDX-License-Identifier: Apache-2.0
// A daemon's command-line interface: name, flags and exit codes. --help, the manual page and the
// shell completion are generated from it.
#ifndef SUEDE_APP_DAEMON_PROGRAM_H_
#define SUEDE_APP_DAEMON_PROGRAM_H_

#include <span>
#include <string_view>

namespace suede {

// A flag, as documented.
struct FlagRow {
  std::string_view name;
  std::string_view value;  // empty: no value
  std::string_view sentence;
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

struct Program {
  std::string_view name;
  std::string_view title;  // a few words
  std::string_view synopsis;
  std::string_view signals;  // a sentence
  std::span<const FlagRow> flags;
  std::span<const ExitCodeRow> exit_codes = kExitCodeRows;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_PROGRAM_H_
