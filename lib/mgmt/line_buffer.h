// SPDX-License-Identifier: Apache-2.0
// Splits the bytes of a stream, with descriptors among them, into lines.
#ifndef SUEDE_MGMT_LINE_BUFFER_H_
#define SUEDE_MGMT_LINE_BUFFER_H_

#include <cstddef>
#include <string>
#include <utility>

#include "local/passing.h"
#include "mgmt/session.h"

namespace suede {

// Single-threaded. Add must be called only while there is no complete line to take, so there are at
// most two descriptors: that of the incomplete line, and that of the last line which one read
// completed.
class LineBuffer {
 public:
  void Add(Received received, const char* bytes) {
    bytes_.append(bytes, static_cast<size_t>(received.bytes));
    if (!received.fd.ok() && !received.too_many) return;
    // The descriptor belongs to the line of the last byte. A second descriptor of one line is an
    // error.
    const size_t newline = bytes_.find('\n', from_);
    const bool in_first_line = newline == std::string::npos || newline + 1 == bytes_.size();
    PassedFd passed{.fd = std::move(received.fd), .too_many = received.too_many};
    if (passed_at_ == kNone) {
      passed_ = std::move(passed);
      passed_at_ = bytes_.size();
    } else if (in_first_line) {
      passed_ = {.fd = Fd(), .too_many = true};
    } else {
      next_passed_ = std::move(passed);
      next_at_ = bytes_.size();
    }
  }

  // Takes the next line and the descriptor passed with it; returns false if no line is complete.
  bool Take(std::string* line, PassedFd* passed) {
    const size_t newline = bytes_.find('\n', from_);
    if (newline == std::string::npos) return false;
    line->assign(bytes_, from_, newline - from_);
    from_ = newline + 1;
    *passed = PassedFd();
    if (passed_at_ != kNone && passed_at_ <= from_) {
      *passed = std::move(passed_);
      passed_ = std::move(next_passed_);
      passed_at_ = std::exchange(next_at_, kNone);
    }
    return true;
  }

  // Frees the space of lines that were taken.
  void Compact() {
    if (from_ == 0) return;
    bytes_.erase(0, from_);
    if (passed_at_ != kNone) passed_at_ -= from_;
    if (next_at_ != kNone) next_at_ -= from_;
    from_ = 0;
  }
  bool has_line() const { return bytes_.find('\n', from_) != std::string::npos; }
  size_t size() const { return bytes_.size() - from_; }

 private:
  static constexpr size_t kNone = ~size_t{0};
  std::string bytes_;
  size_t from_ = 0;
  size_t passed_at_ = kNone;  // end of the bytes with which passed_ arrived
  size_t next_at_ = kNone;
  PassedFd passed_;
  PassedFd next_passed_;
};

}  // namespace suede

#endif  // SUEDE_MGMT_LINE_BUFFER_H_
