// SPDX-License-Identifier: Apache-2.0
// Body of a receiver.
#include <algorithm>
#include <cstring>

#include "axi/body.h"
#include "base/big_endian.h"

namespace suede::axi {
namespace {

constexpr uint8_t kReserved = 0x3f;

void LoadUser(const uint8_t* octets, uint32_t bytes, uint64_t user[2]) {
  user[0] = user[1] = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    const uint32_t place = bytes - 1 - i;
    user[place / 8] |= uint64_t{octets[i]} << place % 8 * 8;
  }
}

}  // namespace

void Body::BeginParts() {
  begin_ = end_ = 0;
  data_ = strobes_ = users_ = responses_ = 0;
  beat_user_bytes_ = 0;
  has_beat_responses_ = false;
  parts_ = 0;
  short_part_ = kNoPart;
}

bool Body::Store(uint32_t part, const uint8_t* data, uint32_t data_bytes) {
  const uint32_t at = part * kPartBytes;
  if (part >= kMaxParts || HasPart(part) || data_bytes > kPartBytes ||
      at + data_bytes > kMaxBodyBytes) {
    return false;
  }
  if (data_bytes < kPartBytes) {
    if (short_part_ != kNoPart) return false;
    short_part_ = part;
  }
  if (data_bytes != 0) std::memcpy(octets_.get() + at, data, data_bytes);
  parts_ |= 1u << part;
  end_ = std::max(end_, at + data_bytes);
  return true;
}

Body::Whole Body::CheckParts(uint32_t total_bytes) const {
  const uint32_t parts = PartsOf(total_bytes);
  const uint32_t all = (1u << parts) - 1;
  if ((parts_ & ~all) != 0) return Whole::kMalformed;
  if (short_part_ != kNoPart && short_part_ != parts - 1) return Whole::kMalformed;
  if (HasPart(parts - 1) && end_ != total_bytes) return Whole::kMalformed;
  return parts_ == all ? Whole::kComplete : Whole::kNotYet;
}

bool Body::AreStrobesGood(uint32_t active_bytes) const {
  bool has_clear = false;
  for (uint32_t octet = 0; octet < active_bytes; octet += 8) {
    const uint32_t count = std::min(active_bytes - octet, 8u);
    const uint32_t all = (1u << count) - 1;
    const uint32_t strobes = octets_[strobes_ + octet / 8];
    if (strobes == all) continue;
    if (strobes > all) return false;
    has_clear = true;
    for (uint32_t i = 0; i < count; ++i) {
      if ((strobes >> i & 1) == 0 && data()[octet + i] != 0) return false;
    }
  }
  return has_clear;
}

bool Body::AreBeatResponsesGood(uint32_t beats, uint8_t worst) const {
  uint8_t found = 0;
  bool differ = false;
  for (uint32_t beat = 0; beat < beats; ++beat) {
    const uint8_t response = BeatResponse(beat, 0);
    found = WorseOf(found, response);
    if (response != BeatResponse(0, 0)) differ = true;
  }
  const bool is_padded = beats % 4 == 0 || octets_[responses_ + beats / 4] >> beats % 4 * 2 == 0;
  return differ && found == worst && is_padded;
}

bool Body::ParseAttributes(Address* burst, bool is_write, uint32_t* bytes) {
  const uint32_t part_bytes = short_part_ == 0 ? end_ : kPartBytes;
  const uint8_t* const octets = octets_.get();
  if (part_bytes < kAttributeBytes || (octets[0] & kReserved) != 0) return false;
  const uint32_t user_bytes = octets[5] & 0x1f;
  beat_user_bytes_ = octets[5] >> 5;
  if (user_bytes > kMaxUserBytes || beat_user_bytes_ > kMaxBeatUserBytes) return false;
  if (part_bytes < kAttributeBytes + user_bytes) return false;
  if (user_bytes != 0 && octets[kAttributeBytes] == 0) return false;
  if (!is_write && (beat_user_bytes_ != 0 || (octets[0] & kStrobesFlag) != 0)) return false;
  burst->lock = (octets[0] & kLockFlag) != 0 ? 1 : 0;
  burst->qos = octets[1] >> 4;
  burst->region = octets[1] & 0x0f;
  burst->id = (burst->id & 0xff) | uint32_t{octets[2]} << 24 | uint32_t{octets[3]} << 16 |
              uint32_t{octets[4]} << 8;
  LoadUser(octets + kAttributeBytes, user_bytes, burst->user);
  *bytes = kAttributeBytes + user_bytes;
  return HasAttributes(*burst) || beat_user_bytes_ != 0 || (octets[0] & kStrobesFlag) != 0;
}

Body::Whole Body::ParseWrite(Kind kind, Address* burst) {
  uint32_t bytes = 0;
  bool has_strobes = false;
  if (kind == Kind::kWriteWithAttributes) {
    if (!ParseAttributes(burst, true, &bytes)) return Whole::kMalformed;
    has_strobes = (octets_[0] & kStrobesFlag) != 0;
  }
  if (FindViolation(*burst, kMaxBusBytes) != nullptr) return Whole::kMalformed;
  const uint32_t active = ActiveBytes(*burst);
  users_ = bytes;
  bytes += beat_user_bytes_ * BeatsOf(*burst);
  strobes_ = has_strobes ? bytes : 0;
  if (has_strobes) bytes += (active + 7) / 8;
  data_ = bytes;
  const Whole whole = CheckParts(bytes + active);
  return whole == Whole::kComplete && has_strobes && !AreStrobesGood(active) ? Whole::kMalformed
                                                                             : whole;
}

bool Body::ParseRead(Address* burst) {
  uint32_t bytes = 0;
  if (end_ != 0 && (!ParseAttributes(burst, false, &bytes) || bytes != end_)) return false;
  return FindViolation(*burst, kMaxBusBytes) == nullptr;
}

Body::Whole Body::ParseReadAnswer(const Answer& answer, const Address& burst) {
  responses_ = 0;
  uint32_t bytes = 0;
  if (answer.has_beat_responses) bytes += (BeatsOf(burst) + 3) / 4;
  users_ = bytes;
  beat_user_bytes_ = answer.beat_user_bytes;
  bytes += beat_user_bytes_ * BeatsOf(burst);
  data_ = bytes;
  has_beat_responses_ = answer.has_beat_responses;
  const Whole whole = CheckParts(bytes + ActiveBytes(burst));
  return whole == Whole::kComplete && has_beat_responses_ &&
                 !AreBeatResponsesGood(BeatsOf(burst), answer.response)
             ? Whole::kMalformed
             : whole;
}

bool Body::ParseWriteAnswer(const Answer& answer, uint64_t user[2]) const {
  if (end_ != answer.user_bytes || (end_ != 0 && octets_[0] == 0)) return false;
  LoadUser(octets_.get(), answer.user_bytes, user);
  return true;
}

void Body::LoadStrobes(uint32_t octet, uint32_t count, uint32_t lane, uint64_t strobes[2]) const {
  for (uint32_t done = 0; done < count;) {
    const uint32_t bit = (lane + done) % 64;
    const uint32_t some = std::min(count - done, 64 - bit);
    uint64_t word = ~uint64_t{0};
    if (strobes_ != 0) {
      // Data follow the strobes, so nine octets are there.
      const uint8_t* const at = octets_.get() + strobes_ + (octet + done) / 8;
      const uint32_t shift = (octet + done) % 8;
      std::memcpy(&word, at, sizeof word);
      word >>= shift;
      if (shift != 0) word |= uint64_t{at[sizeof word]} << (64 - shift);
    }
    strobes[(lane + done) / 64] |= (word & ~uint64_t{0} >> (64 - some)) << bit;
    done += some;
  }
}

uint32_t Body::BeatUser(uint32_t beat) const {
  uint64_t user[2];
  LoadUser(octets_.get() + users_ + beat * beat_user_bytes_, beat_user_bytes_, user);
  return static_cast<uint32_t>(user[0]);
}

uint8_t Body::BeatResponse(uint32_t beat, uint8_t otherwise) const {
  if (!has_beat_responses_) return otherwise;
  return octets_[responses_ + beat / 4] >> beat % 4 * 2 & 3;
}

}  // namespace suede::axi
