// SPDX-License-Identifier: Apache-2.0
// Credit as requests and grants carry it: cumulative since the association began, 24 bits, in units
// of 256 octets, compared modulo 2^24.
#ifndef SUEDE_CONGESTION_CREDIT_H_
#define SUEDE_CONGESTION_CREDIT_H_

#include <cstdint>

namespace suede {

inline constexpr int64_t kCreditUnitOctets = 256;

class Credit24 {
 public:
  static constexpr uint32_t kMask = 0xFFFFFF;

  constexpr Credit24() = default;
  // The value that a control PDU carries; bits above the 24 are dropped.
  constexpr explicit Credit24(uint32_t value) : value_(value & kMask) {}
  constexpr uint32_t value() const { return value_; }

  // The credit of octets, which are not negative: Floor has the whole units of them, Ceil has the
  // unit that they have begun as well.
  static constexpr Credit24 Floor(int64_t octets) {
    return Credit24(static_cast<uint32_t>(octets / kCreditUnitOctets));
  }
  static constexpr Credit24 Ceil(int64_t octets) { return Floor(octets + kCreditUnitOctets - 1); }

  // How many units this credit is ahead of `other`, in serial number arithmetic: -2^23 to 2^23 - 1.
  constexpr int32_t DistanceFrom(Credit24 other) const {
    return static_cast<int32_t>((value_ - other.value_) << 8) >> 8;
  }
  constexpr bool IsAfter(Credit24 other) const { return DistanceFrom(other) > 0; }

  // The octets that this credit stands for, of all numbers that it may stand for the nearest to
  // `near`: right where the two are less than 2 GiB apart. May be negative where `near` is small.
  constexpr int64_t Octets(int64_t near) const {
    return (near / kCreditUnitOctets + DistanceFrom(Floor(near))) * kCreditUnitOctets;
  }

  // Equality only: an order exists by name (IsAfter), never by operator.
  friend constexpr bool operator==(Credit24, Credit24) = default;

 private:
  uint32_t value_ = 0;
};

// Half the number space, in octets: nothing that is compared is further apart.
inline constexpr int64_t kCreditSpan = (int64_t{1} << 23) * kCreditUnitOctets;

// A source asks its target for credit. All three are cumulative since the association began.
struct CreditRequest {
  Credit24 target;  // up to here the source wants to be permitted to send
  Credit24 sent;    // up to here it has sent, PDUs that were sent again included
  Credit24 limit;   // it may send up to here: its initial credit, and what it knows to be granted

  friend constexpr bool operator==(const CreditRequest&, const CreditRequest&) = default;
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_CREDIT_H_
