// SPDX-License-Identifier: Apache-2.0
// The channels of an XPU's sockets: by index, by tag, and by name while their socket is open.
#ifndef SUEDE_MESSAGE_CHANNEL_TABLE_H_
#define SUEDE_MESSAGE_CHANNEL_TABLE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "message/channel.h"
#include "message/command.h"
#include "message/status.h"

namespace suede::message {

inline constexpr uint32_t kMaxChannels = 4096;

class ChannelTable {
 public:
  // `seed` seeds the generation of tags.
  ChannelTable(uint32_t channels, uint64_t seed);

  uint32_t size() const { return static_cast<uint32_t>(channels_.size()); }
  uint32_t free() const { return static_cast<uint32_t>(free_.size()); }
  Channel& operator[](uint32_t index) { return channels_[index]; }
  const Channel& operator[](uint32_t index) const { return channels_[index]; }

  // Takes a free channel, which must exist, for a socket. Returns its index.
  uint32_t Take(uint32_t socket, const Name& name, const Traits& traits);
  void Free(uint32_t index);
  // The socket's peer is known now.
  void SetPeer(uint32_t index, uint16_t xpuid);
  // Removes the name: its socket is released.
  void RemoveName(uint32_t index) { names_.erase(channels_[index].name.Key()); }

  // kNone: no open socket has the name.
  uint32_t Find(const Name& name) const;
  // Returns the channel of a tag; kNone if it does not exist or has another peer.
  uint32_t FindTag(uint32_t tag, const Route& from) const;
  // Returns why no socket has the name: kEpoch if one of another epoch is open, otherwise kNotOpen.
  Status AbsenceStatus(const Name& name) const;
  // Whether an open channel of the same direction and plane uses the VC, and either of the two is
  // private.
  bool IsVcTaken(const Name& name, const Traits& traits) const;
  // Aborts if the state is inconsistent.
  void CheckInvariants() const;

 private:
  uint64_t Draw();

  std::vector<Channel> channels_;
  std::vector<uint32_t> free_;
  std::map<uint64_t, uint32_t> names_;  // Name::Key to channels of open sockets
  uint64_t random_;
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_CHANNEL_TABLE_H_
