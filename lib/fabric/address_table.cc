// SPDX-License-Identifier: Apache-2.0
#include "fabric/address_table.h"

#include <bit>

namespace suede::fabric {

AddressTable::AddressTable(const Limits& limits, uint32_t ports)
    : limits_(limits),
      places_(std::bit_ceil(limits.entries * 2 + 1)),
      mask_(static_cast<uint32_t>(places_.size() - 1)),
      learnt_(ports),
      epochs_(ports) {}

uint32_t AddressTable::HomeOf(const NetAddress& address) const {
  uint64_t hash = (address.low ^ std::rotl(address.high, 31)) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
  return static_cast<uint32_t>(hash * 0xbf58476d1ce4e5b9u >> 40) & mask_;
}

// Returns the place of the address, or the place for its insertion.
uint32_t AddressTable::SlotOf(const NetAddress& address) const {
  uint32_t place = HomeOf(address);
  while (places_[place].port != kNoPort && places_[place].address != address) {
    place = (place + 1) & mask_;
  }
  return place;
}

uint16_t AddressTable::Find(const NetAddress& address, Time now) const {
  const Entry& entry = places_[SlotOf(address)];
  return IsLive(entry) && !IsOld(entry, now) ? entry.port : kNoPort;
}

void AddressTable::Insert(const Entry& entry) {
  places_[SlotOf(entry.address)] = entry;
  ++size_;
  if (!entry.is_static) ++learnt_[entry.port];
}

bool AddressTable::AddStatic(const NetAddress& address, uint16_t port) {
  Remove(address);
  if (size_ == limits_.entries) return false;
  Insert({.address = address, .port = port, .is_static = true});
  return true;
}

bool AddressTable::Remove(const NetAddress& address) {
  const uint32_t place = SlotOf(address);
  if (places_[place].port == kNoPort) return false;
  const bool was_live = IsLive(places_[place]);
  RemoveAt(place);
  return was_live;
}

// Removes an entry. Moves later entries forward that would not be found behind the hole.
void AddressTable::RemoveAt(uint32_t place) {
  if (!IsLive(places_[place])) {
    --forgotten_;
  } else if (!places_[place].is_static) {
    --learnt_[places_[place].port];
  }
  --size_;
  uint32_t hole = place;
  for (uint32_t next = (hole + 1) & mask_; places_[next].port != kNoPort;
       next = (next + 1) & mask_) {
    const uint32_t home = HomeOf(places_[next].address);
    // An entry may move if its home is not between the hole and its place.
    if (((next - home) & mask_) < ((next - hole) & mask_)) continue;
    places_[hole] = places_[next];
    hole = next;
  }
  places_[hole] = Entry();
}

AddressTable::Learnt AddressTable::Learn(const NetAddress& address, uint16_t port, Time now) {
  Entry& entry = places_[SlotOf(address)];
  if (entry.port == kNoPort) {
    if (size_ >= limits_.entries || learnt_[port] >= limits_.port_learnt) return Learnt::kFull;
    Insert({.address = address, .seen = now, .epoch = epochs_[port], .port = port});
    return Learnt::kNew;
  }
  if (entry.is_static) return Learnt::kStatic;
  if (!IsLive(entry)) {
    if (learnt_[port] >= limits_.port_learnt) return Learnt::kFull;
    --forgotten_;
    ++learnt_[port];
    entry = {.address = address, .seen = now, .epoch = epochs_[port], .port = port};
    return Learnt::kNew;
  }
  const bool moves = entry.port != port;
  if (moves) {
    if (learnt_[port] >= limits_.port_learnt) return Learnt::kFull;
    --learnt_[entry.port];
    ++learnt_[port];
    entry.port = port;
    entry.epoch = epochs_[port];
  }
  entry.seen = now;
  return moves ? Learnt::kMoved : Learnt::kKnown;
}

uint32_t AddressTable::Age(Time now, uint32_t places) {
  uint32_t removed = 0;
  for (uint32_t i = 0; i < places; ++i) {
    Entry& entry = places_[hand_];
    if (entry.port != kNoPort && (!IsLive(entry) || IsOld(entry, now))) {
      RemoveAt(hand_);  // another entry may have moved to this place
      ++removed;
      continue;
    }
    hand_ = (hand_ + 1) & mask_;
  }
  return removed;
}

void AddressTable::Forget(uint16_t port) {
  ++epochs_[port];
  forgotten_ += learnt_[port];
  learnt_[port] = 0;
}

}  // namespace suede::fabric
