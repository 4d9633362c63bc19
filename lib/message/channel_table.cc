// SPDX-License-Identifier: Apache-2.0
#include "message/channel_table.h"

#include <algorithm>
#include <cstdlib>

namespace suede::message {
namespace {

constexpr uint32_t kTagIndexBits = 12;  // log2 of kMaxChannels

}  // namespace

ChannelTable::ChannelTable(uint32_t channels, uint64_t seed) : channels_(channels), random_(seed) {
  for (uint32_t i = channels; i-- > 0;) free_.push_back(i);
}

// Returns a pseudo-random number (splitmix64).
uint64_t ChannelTable::Draw() {
  uint64_t z = random_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

uint32_t ChannelTable::Take(uint32_t socket, const Name& name, const Traits& traits) {
  const uint32_t index = free_.back();
  free_.pop_back();
  Channel& channel = channels_[index];
  channel = {};
  channel.state = Channel::State::kWaiting;
  channel.name = name;
  channel.traits = traits;
  channel.socket = socket;
  do {
    channel.tag = static_cast<uint32_t>(Draw()) << kTagIndexBits | index;
  } while (channel.tag == 0);
  channel.at = kNever;
  names_[name.Key()] = index;
  return index;
}

void ChannelTable::Free(uint32_t index) {
  channels_[index] = {};
  free_.push_back(index);
}

void ChannelTable::SetPeer(uint32_t index, uint16_t xpuid) {
  RemoveName(index);
  channels_[index].name.xpuid = xpuid;
  names_[channels_[index].name.Key()] = index;
}

uint32_t ChannelTable::Find(const Name& name) const {
  const auto found = names_.find(name.Key());
  return found == names_.end() ? Channel::kNone : found->second;
}

Status ChannelTable::AbsenceStatus(const Name& name) const {
  Name any = name;
  any.epoch = 0;
  const auto next = names_.lower_bound(any.Key());
  return next != names_.end() && next->first >> 32 == any.Key() >> 32 ? Status::kEpoch
                                                                      : Status::kNotOpen;
}

uint32_t ChannelTable::FindTag(uint32_t tag, const Route& from) const {
  const uint32_t index = tag & ((1u << kTagIndexBits) - 1);
  if (index >= channels_.size()) return Channel::kNone;
  const Channel& channel = channels_[index];
  const bool fits = channel.state != Channel::State::kFree && channel.tag == tag &&
                    channel.name.xpuid == from.xpuid && channel.name.plane == from.plane;
  return fits ? index : Channel::kNone;
}

bool ChannelTable::IsVcTaken(const Name& name, const Traits& traits) const {
  return std::any_of(channels_.begin(), channels_.end(), [&](const Channel& other) {
    return other.IsOpen() && other.socket != Channel::kNone &&
           other.name.is_sender == name.is_sender && other.name.plane == name.plane &&
           other.traits.vc == traits.vc && (other.traits.is_private || traits.is_private);
  });
}

void ChannelTable::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  uint32_t free = 0;
  uint32_t named = 0;
  for (uint32_t i = 0; i < channels_.size(); ++i) {
    const Channel& channel = channels_[i];
    if (channel.state == Channel::State::kFree) {
      ++free;
      continue;
    }
    check((channel.tag & ((1u << kTagIndexBits) - 1)) == i);
    if (channel.socket == Channel::kNone) continue;
    ++named;
    check(Find(channel.name) == i);
  }
  check(free == free_.size() && named == names_.size());
}

}  // namespace suede::message
