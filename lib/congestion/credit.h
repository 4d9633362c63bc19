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

  // The credit of octets, which must not be negative: Floor counts whole units, Ceil also a begun
  // unit.
  static constexpr Credit24 Floor(int64_t octets) {
    return Credit24(static_cast<uint32_t>(octets / kCreditUnitOctets));
  }
  static constexpr Credit24 Ceil(int64_t octets) { return Floor(octets + kCreditUnitOctets - 1); }

  // How many units this credit is ahead of `other`, in serial number arithmetic: -2^23 to 2^23 - 1.
  constexpr int32_t DistanceFrom(Credit24 other) const {
    return static_cast<int32_t>((value_ - other.value_) << 8) >> 8;
  }
  constexpr bool IsAfter(Credit24 other) const { return DistanceFrom(other) > 0; }

  // The octets that this credit represents: of all possible values the nearest to `near`, correct
  // if both are less than 2 GiB apart. May be negative if `near` is small.
  constexpr int64_t Octets(int64_t near) const {
    return (near / kCreditUnitOctets + DistanceFrom(Floor(near))) * kCreditUnitOctets;
  }

  // Equality only: the order has a name (IsAfter), and no operator.
  friend constexpr bool operator==(Credit24, Credit24) = default;

 private:
  uint32_t value_ = 0;
};

// Half the number space, in octets: compared values are never further apart.
inline constexpr int64_t kCreditSpan = (int64_t{1} << 23) * kCreditUnitOctets;

// A source's request for credit to its target. All three are cumulative since the association
// began.
struct CreditRequest {
  Credit24 target;  // limit that the source requests
  Credit24 sent;    // octets that the source has sent, including retransmissions
  Credit24 limit;   // the source's present limit: its initial credit, and grants that it has
                    // received

  friend constexpr bool operator==(const CreditRequest&, const CreditRequest&) = default;
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_CREDIT_H_
