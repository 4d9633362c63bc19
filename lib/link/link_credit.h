// SPDX-License-Identifier: Apache-2.0
// Credits of a link (docs/link.md): cyclic counters, the credits of a frame, and the updates in
// which neighbours exchange their counters. Bytes and values; no I/O.
#ifndef SUEDE_LINK_LINK_CREDIT_H_
#define SUEDE_LINK_LINK_CREDIT_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "wire/link_frame.h"

namespace suede {

using LinkVcMask = uint32_t;  // a bit for each link VC

// A counter of credits: 20 bits, cyclic.
class Credit20 {
 public:
  static constexpr uint32_t kBits = 20;

  constexpr Credit20() = default;
  constexpr explicit Credit20(uint32_t value) : value_(value & kMask) {}
  constexpr uint32_t value() const { return value_; }

  // The counter advanced by `n` credits; negative `n` goes back.
  constexpr Credit20 Plus(int32_t n) const { return Credit20(value_ + static_cast<uint32_t>(n)); }
  // The distance of this counter ahead of `other`: -2^19 to 2^19 - 1.
  constexpr int32_t DistanceFrom(Credit20 other) const {
    return static_cast<int32_t>((value_ - other.value_) << (32 - kBits)) >> (32 - kBits);
  }

  friend constexpr bool operator==(Credit20, Credit20) = default;

 private:
  static constexpr uint32_t kMask = (1u << kBits) - 1;

  uint32_t value_ = 0;
};

// Max credits of a link VC: a counter that is wrong by some of these is still distinguished from a
// counter that is behind.
inline constexpr uint32_t kMaxLinkCredits = (1u << (Credit20::kBits - 3)) - 1;

// How a receiver counts the credits of a frame.
struct CreditRule {
  static constexpr uint32_t kMinShift = 5;   // credits of 32 octets
  static constexpr uint32_t kMaxShift = 12;  // of 4096
  static constexpr int32_t kMinOverhead = -16;
  static constexpr int32_t kMaxOverhead = 127;
  static constexpr uint32_t kMinFrame = 60;  // devices pad shorter frames

  uint8_t shift = 7;     // a credit is of 2^shift octets
  int16_t overhead = 0;  // octets, added to each frame's

  constexpr uint32_t credit_octets() const { return 1u << shift; }
  constexpr bool IsValid() const {
    return shift >= kMinShift && shift <= kMaxShift && overhead >= kMinOverhead &&
           overhead <= kMaxOverhead;
  }
  // Credits of a frame of `octets` octets, without FCS.
  constexpr uint32_t CreditsOf(uint32_t octets) const {
    const auto counted = static_cast<int32_t>(std::max(octets, kMinFrame)) + overhead;
    return (static_cast<uint32_t>(counted) + credit_octets() - 1) >> shift;
  }

  friend bool operator==(const CreditRule&, const CreditRule&) = default;
};

// The credit that a receiver grants: a limit for each link VC; 0: its frames use no credit.
struct CreditGrant {
  CreditRule rule;
  std::array<uint32_t, kLinkVcs> limits{};

  // The link VCs that use credit.
  LinkVcMask controlled() const {
    LinkVcMask vcs = 0;
    for (uint32_t vc = 0; vc < kLinkVcs; ++vc) vcs |= LinkVcMask{limits[vc] != 0} << vc;
    return vcs;
  }
  // Whether each limit can be counted, and permits frames of up to `octets`.
  bool Permits(uint32_t octets) const {
    const uint32_t min = rule.CreditsOf(octets);
    return rule.IsValid() && std::ranges::all_of(limits, [min](uint32_t limit) {
             return limit == 0 || (limit >= min && limit <= kMaxLinkCredits);
           });
  }

  friend bool operator==(const CreditGrant&, const CreditGrant&) = default;
};

// When updates are sent.
struct CreditTimes {
  // Octets of a link VC freed since the last CF_Update that make another update due, 800 to 2^20.
  uint32_t spacing_octets = 6400;
  // Max time until freed octets are announced.
  Duration max_wait = std::chrono::microseconds(5);
  // Time between CC_Updates while credits are in use, 1 us to 250 ms.
  Duration repeat = std::chrono::microseconds(256);
  friend bool operator==(const CreditTimes&, const CreditTimes&) = default;
};

// The body of CF_Update and CC_Update.
struct CreditUpdate {
  static constexpr uint32_t kHeadBytes = 4;
  static constexpr uint32_t kEntryBytes = 4;
  static constexpr uint32_t kMaxBytes = kHeadBytes + kLinkVcs * kEntryBytes;

  uint16_t serial = 0;    // carried in the head of the link frame
  LinkVcMask vcs = 0;     // link VCs that have an entry
  LinkVcMask starts = 0;  // link VCs of `vcs` whose count begins
  std::array<Credit20, kLinkVcs> counters{};

  friend bool operator==(const CreditUpdate&, const CreditUpdate&) = default;
};

// Writes at most CreditUpdate::kMaxBytes octets, and returns how many. `update.vcs` is not 0.
// The serial is not part of the body.
uint32_t EncodeCreditUpdate(const CreditUpdate& update, uint8_t* body);
// Returns nullopt if the body is malformed. More octets may follow the body.
std::optional<CreditUpdate> DecodeCreditUpdate(const uint8_t* body, uint32_t bytes);

// The effect of a received update.
struct CreditVerdict {
  enum class Kind : uint8_t {
    kTaken,
    kOff,    // no epoch has begun
    kStale,  // not later than the last update
  };
  Kind kind = Kind::kTaken;
  uint32_t impossible = 0;  // entries that changed nothing
  uint32_t repaired = 0;    // credits of frames that were lost or duplicated
  bool opened = false;      // a link VC has more credit than before
};

}  // namespace suede

#endif  // SUEDE_LINK_LINK_CREDIT_H_
