// SPDX-License-Identifier: Apache-2.0
// EAL's log on its way to ours. Private to drivers/dpdk.
#ifndef SUEDE_DPDK_EAL_LOG_H_
#define SUEDE_DPDK_EAL_LOG_H_

#include <string>

#include "dpdk/eal.h"

namespace suede::internal {

// Before rte_eal_init().
absl::Status OpenEalLog(EalLogSink sink);
void CloseEalLog();

// Errors that were logged since the last call, joined; for the message of a failed call.
std::string TakeEalErrors();

// While one lives, errors and warnings that this thread logs go out as debug lines.
class QuietEalLog {
 public:
  QuietEalLog();
  ~QuietEalLog();
  QuietEalLog(const QuietEalLog&) = delete;
  QuietEalLog& operator=(const QuietEalLog&) = delete;
};

}  // namespace suede::internal

#endif  // SUEDE_DPDK_EAL_LOG_H_
