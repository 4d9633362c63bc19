// SPDX-License-Identifier: Apache-2.0
// Owner of a file descriptor.
#ifndef SUEDE_LOCAL_FD_H_
#define SUEDE_LOCAL_FD_H_

#include <utility>

namespace suede {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { Reset(); }
  Fd(Fd&& other) noexcept : fd_(other.Release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = other.Release();
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  // Closes the descriptor, with a bounded sleep (local/call_limit.h).
  void Reset();

 private:
  int fd_ = -1;
};

}  // namespace suede

#endif  // SUEDE_LOCAL_FD_H_
