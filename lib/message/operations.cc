// SPDX-License-Identifier: Apache-2.0
#include "message/operations.h"

#include <atomic>

namespace suede::message {

void WriteResult(suede_socket_result* result, uint64_t pushed_bytes, Status status) {
  if (result == nullptr) return;
  std::atomic_ref<uint64_t>(result->pushed_bytes).store(pushed_bytes, std::memory_order_relaxed);
  std::atomic_ref<uint32_t>(result->status)
      .store(static_cast<uint32_t>(status), std::memory_order_release);
}

}  // namespace suede::message
