// SPDX-License-Identifier: Apache-2.0
// The numbers of a stream that have been accepted: the last kNumbers, a bit each. Owned by one
// lcore.
#ifndef SUEDE_SEAL_REPLAY_WINDOW_H_
#define SUEDE_SEAL_REPLAY_WINDOW_H_

#include <algorithm>
#include <array>
#include <cstdint>

namespace suede {

class ReplayWindow {
 public:
  static constexpr uint64_t kNumbers = 2048;

  // Whether the number is new, as far as the window says.
  bool IsNew(uint64_t number) const {
    if (number >= end_) return true;
    return end_ - number <= kNumbers && !Has(number);
  }
  // Notes a number; false where it is not new.
  bool Accept(uint64_t number) {
    if (number < end_) {
      if (!IsNew(number)) return false;
    } else {
      Advance(number);
    }
    WordOf(number) |= BitOf(number);
    return true;
  }
  void Clear() {
    end_ = 0;
    seen_.fill(0);
  }

 private:
  static uint64_t BitOf(uint64_t number) { return uint64_t{1} << (number % 64); }
  uint64_t& WordOf(uint64_t number) { return seen_[number / 64 % seen_.size()]; }
  bool Has(uint64_t number) const {
    return (seen_[number / 64 % seen_.size()] & BitOf(number)) != 0;
  }
  // The window ends behind `number`; those that enter it have not been seen.
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

  uint64_t end_ = 0;  // one more than the largest number; 0: none was accepted
  std::array<uint64_t, kNumbers / 64> seen_{};
};

}  // namespace suede

#endif  // SUEDE_SEAL_REPLAY_WINDOW_H_
