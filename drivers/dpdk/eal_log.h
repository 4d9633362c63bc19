// SPDX-License-Identifier: Apache-2.0
// Forwards EAL's log to an EalLogSink. Private to drivers/dpdk.
#ifndef SUEDE_DPDK_EAL_LOG_H_
#define SUEDE_DPDK_EAL_LOG_H_

#include <string>

#include "dpdk/eal.h"

namespace suede::internal {

// To be called before rte_eal_init().
absl::Status OpenEalLog(EalLogSink sink);
void CloseEalLog();

// Returns the errors logged since the last call, joined; for the message of a failed call.
std::string TakeEalErrors();

// While an object exists, errors and warnings that this thread logs are emitted as debug lines.
class QuietEalLog {
 public:
  QuietEalLog();
  ~QuietEalLog();
  QuietEalLog(const QuietEalLog&) = delete;
  QuietEalLog& operator=(const QuietEalLog&) = delete;
};

}  // namespace suede::internal

#endif  // SUEDE_DPDK_EAL_LOG_H_
