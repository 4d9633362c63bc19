// SPDX-License-Identifier: Apache-2.0
// Packet sequence numbers: 16 bits, compared modulo 2^16 (wire profile §6).
#ifndef SUEDE_BASE_PSN_H_
#define SUEDE_BASE_PSN_H_

#include <cstdint>

namespace suede {

class Psn {
 public:
  constexpr Psn() = default;
  constexpr explicit Psn(uint16_t value) : value_(value) {}
  constexpr uint16_t value() const { return value_; }

  // Returns the PSN `n` places ahead; a negative `n` goes back.
  constexpr Psn Plus(int n) const { return Psn(static_cast<uint16_t>(value_ + n)); }
  constexpr Psn Next() const { return Plus(1); }

  // Returns the distance of this PSN ahead of `other`, in serial number arithmetic: -32768 to
  // 32767.
  constexpr int DistanceFrom(Psn other) const {
    return static_cast<int16_t>(static_cast<uint16_t>(value_ - other.value_));
  }
  constexpr bool IsAfter(Psn other) const { return DistanceFrom(other) > 0; }
  constexpr bool IsBefore(Psn other) const { return DistanceFrom(other) < 0; }

  // Only equality has an operator; the order of PSNs has named functions (IsBefore, IsAfter).
  friend constexpr bool operator==(Psn, Psn) = default;

 private:
  uint16_t value_ = 0;
};

// Maximum window, in PDUs.
inline constexpr int kMaxWindowPdus = 1 << 14;

}  // namespace suede

#endif  // SUEDE_BASE_PSN_H_
