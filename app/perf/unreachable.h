// SPDX-License-Identifier: Apache-2.0
// Completions that report an unreachable destination.
#ifndef SUEDE_APP_PERF_UNREACHABLE_H_
#define SUEDE_APP_PERF_UNREACHABLE_H_

#include <cstdint>
#include <string>

#include "client/segment.h"

namespace suede::perf {

inline bool IsUnreachable(const suede_completion& done) {
  return done.status == SUEDE_STATUS_UNREACHABLE || done.status == SUEDE_STATUS_IN_DOUBT;
}

// Returns an error message with the destination and the endpoint's reason.
inline std::string UnreachableText(const suede_completion& done) {
  return "XPU " + std::to_string(done.xpuid) +
         " is unreachable: it does not acknowledge, and the endpoint has given it up (" +
         (done.status == SUEDE_STATUS_IN_DOUBT ? "in doubt: commands may have arrived"
                                               : "commands were not delivered") +
         "); `suedectl peers list` shows it";
}

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_UNREACHABLE_H_
