// SPDX-License-Identifier: Apache-2.0
#include "message/spill_ring.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace suede::message {

SpillRing::SpillRing(uint32_t bytes, bool is_datagram)
    : bytes_(bytes), is_datagram_(is_datagram), memory_(new uint8_t[bytes]) {}

SpillRing::Record SpillRing::HeadAt(uint64_t at) const {
  Record record;
  std::memcpy(&record, memory_.get() + at % bytes_, sizeof record);
  return record;
}

// Copies `bytes` octets from position `at`, wrapping at the ring's end.
void SpillRing::Copy(uint64_t at, uint8_t* room, uint32_t bytes) const {
  const auto place = static_cast<uint32_t>(at % bytes_);
  const uint32_t first = std::min(bytes, bytes_ - place);
  if (first != 0) std::memcpy(room, memory_.get() + place, first);
  if (first != bytes) std::memcpy(room + first, memory_.get(), bytes - first);
}

void SpillRing::Push(const uint8_t* data, uint32_t data_bytes, bool is_last) {
  const bool ends = is_datagram_ && is_last;
  const Record record{.bytes = static_cast<uint16_t>(data_bytes),
                      .is_last = ends ? uint8_t{1} : uint8_t{0},
                      .reserved = {}};
  std::memcpy(memory_.get() + end_ % bytes_, &record, sizeof record);
  const auto place = static_cast<uint32_t>((end_ + kRecordHeadBytes) % bytes_);
  const uint32_t first = std::min(data_bytes, bytes_ - place);
  if (first != 0) std::memcpy(memory_.get() + place, data, first);
  if (first != data_bytes) std::memcpy(memory_.get(), data + first, data_bytes - first);
  const uint32_t cost = CostOf(data_bytes);
  end_ += cost;
  received_ += cost;
  octets_ += data_bytes;
  if (!is_datagram_) return;
  partial_cost_ = ends ? 0 : partial_cost_ + cost;
  if (ends) ++messages_;
}

void SpillRing::Pass(uint32_t data_bytes) {
  received_ += CostOf(data_bytes);
  released_ = received_;
}

void SpillRing::Release(uint32_t cost) {
  first_ += cost;
  released_ += cost;
}

uint32_t SpillRing::TakeOctets(uint8_t* room, uint32_t max) {
  uint32_t count = 0;
  while (count < max && first_ != end_) {
    const Record record = HeadAt(first_);
    const uint32_t bytes = std::min(record.bytes - taken_, max - count);
    Copy(first_ + kRecordHeadBytes + taken_, room + count, bytes);
    count += bytes;
    taken_ += bytes;
    if (taken_ < record.bytes) break;
    taken_ = 0;
    Release(CostOf(record.bytes));
  }
  octets_ -= count;
  return count;
}

uint32_t SpillRing::FirstMessageBytes() const {
  uint32_t bytes = 0;
  for (uint64_t at = first_;;) {
    const Record record = HeadAt(at);
    bytes += record.bytes;
    if (record.is_last != 0) return bytes;
    at += CostOf(record.bytes);
  }
}

void SpillRing::TakeMessage(uint8_t* room) {
  for (;;) {
    const Record record = HeadAt(first_);
    Copy(first_ + kRecordHeadBytes, room, record.bytes);
    room += record.bytes;
    octets_ -= record.bytes;
    Release(CostOf(record.bytes));
    if (record.is_last != 0) break;
  }
  --messages_;
}

void SpillRing::DropPartial() {
  uint64_t octets = 0;
  for (uint64_t at = end_ - partial_cost_; at != end_;) {
    const Record record = HeadAt(at);
    octets += record.bytes;
    at += CostOf(record.bytes);
  }
  octets_ -= octets;
  end_ -= partial_cost_;
  released_ += partial_cost_;
  partial_cost_ = 0;
}

void SpillRing::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  check(received_ - released_ == end_ - first_ && end_ - first_ <= bytes_);
  uint64_t octets = 0;
  uint32_t messages = 0;
  uint64_t at = first_;
  while (at < end_) {
    const Record record = HeadAt(at);
    octets += record.bytes;
    messages += record.is_last;
    at += CostOf(record.bytes);
  }
  check(at == end_ && octets == octets_ + taken_ && messages == messages_);
}

}  // namespace suede::message
