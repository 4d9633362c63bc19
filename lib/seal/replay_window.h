// SPDX-License-Identifier: Apache-2.0
// The accepted numbers of a stream: the last kNumbers, a bit each. Owned by one lcore.
#ifndef SUEDE_SEAL_REPLAY_WINDOW_H_
#define SUEDE_SEAL_REPLAY_WINDOW_H_

#include <algorithm>
#include <array>
#include <cstdint>

namespace suede {

class ReplayWindow {
 public:
  static constexpr uint64_t kNumbers = 2048;

  // Whether the number is new: not older than the window, and not accepted.
  bool IsNew(uint64_t number) const {
    if (number >= end_) return true;
    return end_ - number <= kNumbers && !Has(number);
  }
  // Accepts a number. Returns false if it is not new.
  bool Accept(uint64_t number) {
    if (number < end_) {
      if (!IsNew(number)) return false;
    } else {
      Advance(number);
    }
    WordOf(number) |= BitOf(number);
    return true;
  }
  void Clear() { end_ = 0; }

 private:
  static uint64_t BitOf(uint64_t number) { return uint64_t{1} << (number % 64); }
  uint64_t& WordOf(uint64_t number) { return seen_[number / 64 % seen_.size()]; }
  bool Has(uint64_t number) const {
    return (seen_[number / 64 % seen_.size()] & BitOf(number)) != 0;
  }
  // Moves the end of the window behind `number`; clears the numbers that enter.
  void Advance(uint64_t number) {
    if (number == end_) [[likely]] {
      WordOf(number) &= ~BitOf(number);
    } else if (number - end_ >= kNumbers) {
      seen_.fill(0);
    } else {
      for (uint64_t at = end_; at <= number;) {
        const uint64_t next = std::min(number + 1, (at / 64 + 1) * 64);
        const uint64_t count = next - at;
        const uint64_t ones = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
        WordOf(at) &= ~(ones << (at % 64));
        at = next;
      }
    }
    end_ = number + 1;
  }

  uint64_t end_ = 0;  // the largest number plus one; 0: none was accepted
  std::array<uint64_t, kNumbers / 64> seen_{};  // only numbers before the end have a meaning
};

}  // namespace suede

#endif  // SUEDE_SEAL_REPLAY_WINDOW_H_
