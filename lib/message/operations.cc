// SPDX-License-Identifier: Apache-2.0
#include "message/operations.h"

#include <algorithm>
#include <atomic>

namespace suede::message {

Status OperationQueue::ForgetResult(uint64_t number) {
  if (number < first_) return Status::kOk;
  (*this)[number].result = nullptr;
  return (*this)[number].status;
}

void OperationQueue::OnTargetFailed(uint64_t first, Status status) {
  bool is_told = false;
  for (uint64_t n = std::max(first_, first); n < next_; ++n) {
    Operation& operation = (*this)[n];
    if (operation.is_complete) continue;
    if (operation.status == Status::kOk) operation.status = status;
    is_told = true;
  }
  if (!is_told && untold_ == Status::kOk) untold_ = status;
}

bool OperationQueue::Complete(uint64_t number, Status status) {
  Operation& operation = (*this)[number];
  if (operation.is_complete) return false;
  operation.is_complete = true;
  operation.data = nullptr;
  if (status != Status::kOk && failure_ == Status::kOk) failure_ = status;
  return true;
}

void WriteResult(suede_socket_result* result, uint64_t pushed_bytes, Status status) {
  if (result == nullptr) return;
  std::atomic_ref<uint64_t>(result->pushed_bytes).store(pushed_bytes, std::memory_order_relaxed);
  std::atomic_ref<uint32_t>(result->status)
      .store(static_cast<uint32_t>(status), std::memory_order_release);
}

}  // namespace suede::message
