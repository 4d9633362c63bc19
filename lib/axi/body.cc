// SPDX-License-Identifier: Apache-2.0
// Body of a sender. body_parse.cc has that of a receiver.
#include "axi/body.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/big_endian.h"

namespace suede::axi {
namespace {

// Returns the octets that a user value needs.
uint32_t UserBytes(const uint64_t user[2]) {
  const uint64_t half = user[1] != 0 ? user[1] : user[0];
  const auto bytes = static_cast<uint32_t>((std::bit_width(half) + 7) / 8);
  return user[1] != 0 ? 8 + bytes : bytes;
}

void StoreUser(const uint64_t user[2], uint32_t bytes, uint8_t* octets) {
  for (uint32_t i = 0; i < bytes; ++i) {
    const uint32_t place = bytes - 1 - i;
    octets[i] = static_cast<uint8_t>(user[place / 8] >> place % 8 * 8);
  }
}

}  // namespace

// The memory is left as the system gives it, so an unused body costs no page.
Body::Body() : octets_(new uint8_t[kMaxBodyBytes]), side_(new Side) {}

void Body::Begin(const Address& burst) {
  burst_ = burst;
  beats_ = 0;
  begin_ = end_ = data_ = kMaxPrefixBytes;
  strobes_ = users_ = responses_ = 0;
  beat_user_bytes_ = 0;
  has_all_strobes_ = true;
  has_beat_responses_ = false;
}

uint32_t Body::AddOctets(const uint8_t* lanes, uint32_t bus_bytes) {
  const uint32_t bytes = BeatBytes(burst_, beats_);
  const auto lane = static_cast<uint32_t>(BeatAddress(burst_, beats_) & (bus_bytes - 1));
  std::memcpy(octets_.get() + end_, lanes + lane, bytes);
  end_ += bytes;
  return lane;
}

void Body::AddBeat(const WriteBeat& beat, uint32_t bus_bytes) {
  const uint32_t from = end_ - data_;
  const uint32_t lane = AddOctets(beat.data, bus_bytes);
  const uint32_t bytes = end_ - data_ - from;
  for (uint32_t done = 0; done < bytes;) {
    const uint32_t bit = (lane + done) % 64;
    const uint32_t count = std::min(bytes - done, 64 - bit);
    StoreStrobes(from + done, count, beat.strobes[(lane + done) / 64] >> bit);
    done += count;
  }
  side_->users[beats_++] = beat.user;
}

void Body::StoreStrobes(uint32_t octet, uint32_t count, uint64_t strobes) {
  const uint64_t all = ~uint64_t{0} >> (64 - count);
  strobes &= all;
  if (strobes != all) has_all_strobes_ = false;
  for (uint64_t clear = strobes ^ all; clear != 0; clear &= clear - 1) {
    octets_[data_ + octet + static_cast<uint32_t>(std::countr_zero(clear))] = 0;
  }
  uint8_t* const at = side_->strobes + octet / 8;
  const uint32_t shift = octet % 8;
  const uint64_t before = shift == 0 ? 0 : at[0] & ((1u << shift) - 1);
  const uint64_t word = before | strobes << shift;
  std::memcpy(at, &word, sizeof word);
  if (shift + count > 64) at[sizeof word] = static_cast<uint8_t>(strobes >> (64 - shift));
}

void Body::AddBeat(const ReadBeat& beat, uint32_t bus_bytes) {
  AddOctets(beat.data, bus_bytes);
  side_->users[beats_] = beat.user;
  side_->responses[beats_] = beat.response;
  if (beats_ != 0 && beat.response != side_->responses[0]) has_beat_responses_ = true;
  ++beats_;
}

void Body::PrependBeatUsers(uint32_t beat_user_bytes) {
  beat_user_bytes_ = beat_user_bytes;
  if (beat_user_bytes == 0) return;
  uint8_t* to = Prepend(beat_user_bytes * beats_);
  users_ = begin_;
  for (uint32_t beat = 0; beat < beats_; ++beat, to += beat_user_bytes) {
    const uint64_t user[2] = {side_->users[beat], 0};
    StoreUser(user, beat_user_bytes, to);
  }
}

void Body::PrependAttributes(const Address& burst, uint32_t beat_user_bytes, bool has_strobes) {
  const uint32_t user_bytes = UserBytes(burst.user);
  uint8_t* const octets = Prepend(kAttributeBytes + user_bytes);
  octets[0] =
      static_cast<uint8_t>((burst.lock != 0 ? kLockFlag : 0) | (has_strobes ? kStrobesFlag : 0));
  octets[1] = static_cast<uint8_t>(burst.qos << 4 | burst.region);
  octets[2] = static_cast<uint8_t>(burst.id >> 24);
  octets[3] = static_cast<uint8_t>(burst.id >> 16);
  octets[4] = static_cast<uint8_t>(burst.id >> 8);
  octets[5] = static_cast<uint8_t>(beat_user_bytes << 5 | user_bytes);
  StoreUser(burst.user, user_bytes, octets + kAttributeBytes);
}

Kind Body::FinishWrite(uint32_t beat_user_bytes) {
  if (!has_all_strobes_) {
    const uint32_t bytes = (end_ - data_ + 7) / 8;
    std::memcpy(Prepend(bytes), side_->strobes, bytes);
    strobes_ = begin_;
  }
  PrependBeatUsers(beat_user_bytes);
  if (has_all_strobes_ && beat_user_bytes == 0 && !HasAttributes(burst_)) return Kind::kWrite;
  PrependAttributes(burst_, beat_user_bytes, !has_all_strobes_);
  return Kind::kWriteWithAttributes;
}

void Body::FinishRead(const Address& burst) {
  Begin(burst);
  if (HasAttributes(burst)) PrependAttributes(burst, 0, false);
}

void Body::FinishReadAnswer(uint32_t beat_user_bytes, Answer* answer) {
  PrependBeatUsers(beat_user_bytes);
  uint8_t worst = side_->responses[0];
  if (has_beat_responses_) {
    const uint32_t bytes = (beats_ + 3) / 4;
    uint8_t* const to = Prepend(bytes);
    std::memset(to, 0, bytes);
    for (uint32_t beat = 0; beat < beats_; ++beat) {
      worst = WorseOf(worst, side_->responses[beat]);
      to[beat / 4] |= static_cast<uint8_t>(side_->responses[beat] << beat % 4 * 2);
    }
    responses_ = begin_;
  }
  answer->is_read = true;
  answer->has_beat_responses = has_beat_responses_;
  answer->response = worst;
  answer->beat_user_bytes = static_cast<uint8_t>(beat_user_bytes);
}

void Body::FinishWriteAnswer(const uint64_t user[2], Answer* answer) {
  Begin(burst_);
  const uint32_t bytes = UserBytes(user);
  StoreUser(user, bytes, Prepend(bytes));
  answer->user_bytes = static_cast<uint8_t>(bytes);
}

uint32_t Body::PartBytes(uint32_t part) const {
  return std::min(bytes() - part * kPartBytes, kPartBytes);
}

}  // namespace suede::axi
