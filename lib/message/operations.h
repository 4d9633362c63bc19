// SPDX-License-Identifier: Apache-2.0
// Queue of a send socket's operations.
#ifndef SUEDE_MESSAGE_OPERATIONS_H_
#define SUEDE_MESSAGE_OPERATIONS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.h"
#include "message/status.h"

namespace suede::message {

struct Operation {
  const uint8_t* data = nullptr;  // null once no more of it is sent
  uint64_t bytes = 0;
  Time deadline = kNever;
  suede_socket_result* result = nullptr;  // null once the final status is written
  Status status = Status::kOk;            // of the first target that failed
  bool is_cut = false;                    // deadline passed: no more of it is sent
  bool is_complete = false;
};

// Ring of operations, numbered from 0, with their progress and failures; an operation is stored at
// its number modulo places().
class OperationQueue {
 public:
  explicit OperationQueue(uint32_t places) : operations_(places) {}

  uint64_t first() const { return first_; }  // oldest incomplete operation
  uint64_t next() const { return next_; }    // number of the next operation
  bool is_empty() const { return first_ == next_; }
  bool is_full() const { return next_ - first_ == operations_.size(); }
  uint32_t places() const { return static_cast<uint32_t>(operations_.size()); }
  Operation& operator[](uint64_t number) { return operations_[number % operations_.size()]; }
  const Operation& operator[](uint64_t number) const {
    return operations_[number % operations_.size()];
  }
  uint32_t open() const { return static_cast<uint32_t>(next_ - first_); }
  // Takes over the failure that no operation has reported.
  void Push(const Operation& operation) {
    (*this)[next_] = operation;
    (*this)[next_++].status = std::exchange(untold_, Status::kOk);
  }
  void PopFirst() { ++first_; }

  // Operations sent completely to all targets.
  uint64_t pushed() const { return pushed_; }
  void PushedOne() { ++pushed_; }
  // Whether the operation's data may be reused.
  bool IsPushed(uint64_t number) const {
    return number < first_ || number < pushed_ || (*this)[number].is_complete;
  }
  // Detaches the operation's result: nothing writes it any more. Returns kOk, or the first failure
  // of a target so far.
  Status ForgetResult(uint64_t number);

  // A target has failed, from the operation `first` on.
  void OnTargetFailed(uint64_t first, Status status);
  // Marks the operation as complete. Returns false if it was already.
  bool Complete(uint64_t number, Status status);
  // Returns the first failure of an operation since the previous call; kOk: none.
  Status TakeFailure() { return std::exchange(failure_, Status::kOk); }

 private:
  std::vector<Operation> operations_;
  uint64_t first_ = 0;
  uint64_t next_ = 0;
  uint64_t pushed_ = 0;
  Status untold_ = Status::kOk;   // a target's failure that no operation has reported
  Status failure_ = Status::kOk;  // first failed operation since TakeFailure
};

// Writes a result, unless null, which another thread may read: pushed_bytes first, then the status
// with release semantics.
void WriteResult(suede_socket_result* result, uint64_t pushed_bytes, Status status);

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_OPERATIONS_H_
