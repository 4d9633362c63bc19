// SPDX-License-Identifier: Apache-2.0
// Processing of received commands and their data.
#include <algorithm>
#include <cstring>

#include "message/sockets.h"

namespace suede::message {
namespace {

Status CheckData(const Channel& channel, const Command& command) {
  if (command.number != channel.number) return Status::kOrder;
  if (channel.traits.is_datagram) {
    const bool is_whole = (command.flags & kFirst) != 0 && (command.flags & kLast) != 0;
    const bool goes_on = (command.flags & kFirst) == 0;
    if (command.data_bytes == 0 && !is_whole) return Status::kMalformed;
    if (goes_on && !channel.ring->has_partial()) return Status::kMalformed;
  } else if (command.data_bytes == 0 || (command.flags & (kFirst | kLast)) != 0) {
    return Status::kMalformed;
  }
  if (channel.ring->received() + CostOf(command.data_bytes) > channel.granted) {
    return Status::kCredit;
  }
  return Status::kOk;
}

}  // namespace

void Sockets::OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                        const uint8_t* data, uint32_t data_bytes) {
  Command command;
  const Parsed parsed = ParseCommand(control, control_bytes, data, data_bytes, &command);
  if (parsed == Parsed::kForeign) {
    ++counters_.foreign;
    return;
  }
  const bool is_data = command.kind == Kind::kData || command.kind == Kind::kEnd;
  if (parsed == Parsed::kMalformed || (!is_data && from.vc != params_.control_vc)) {
    return Refuse(from, command, command.tag, Status::kMalformed);
  }
  ++progress_;
  switch (command.kind) {
    case Kind::kConnect:
      return OnConnect(from, command);
    case Kind::kAnnounce:
      return OnAnnounce(from, command);
    case Kind::kAccept:
      return OnAccept(from, command);
    case Kind::kCredit:
      return OnCredit(from, command);
    case Kind::kRefuse:
      return OnRefuse(from, command);
    case Kind::kClosed:
      return OnClosed(from, command);
    case Kind::kData:
      return OnData(from, command);
    case Kind::kEnd:
      return OnEnd(from, command);
  }
}

// Returns the channel of a DATA or END; kNone if the command was refused.
uint32_t Sockets::FindReceiver(const Route& from, const Command& command) {
  const uint32_t index = channels_.FindTag(command.tag, from);
  if (index == Channel::kNone || channels_[index].name.is_sender) {
    Refuse(from, command, command.tag,
           channels_.AbsenceStatus({.plane = from.plane, .xpuid = from.xpuid, .id = command.id}));
    return Channel::kNone;
  }
  const Channel& channel = channels_[index];
  if (channel.name.id != command.id || channel.name.epoch != command.epoch) {
    Refuse(from, command, command.tag, Status::kEpoch);
    return Channel::kNone;
  }
  if (channel.traits.vc != from.vc) {
    Refuse(from, command, command.tag, Status::kMismatch);
    return Channel::kNone;
  }
  if (channel.state == Channel::State::kConnected) return index;
  // No REFUSE: the sender was already notified that the channel ended or failed.
  const bool is_refusal = IsRefusal(static_cast<uint8_t>(channel.status));
  const Status status =
      channel.state == Channel::State::kFailed && is_refusal ? channel.status : Status::kNotOpen;
  ++counters_.refused[static_cast<uint8_t>(status) - kFirstRefusal];
  return Channel::kNone;
}

void Sockets::OnData(const Route& from, const Command& command) {
  const uint32_t index = FindReceiver(from, command);
  if (index == Channel::kNone) return;
  Channel& channel = channels_[index];
  const Status status = CheckData(channel, command);
  if (status != Status::kOk) {
    ++counters_.refused[static_cast<uint8_t>(status) - kFirstRefusal];
    FailChannel(index, status);
    return Schedule(index, Channel::kRefuse);
  }
  ++channel.number;
  ++counters_.received_commands;
  counters_.received_bytes += command.data_bytes;
  if ((command.flags & kFirst) != 0 && channel.ring->has_partial()) {
    channel.ring->DropPartial();
    ++counters_.torn;
  }
  Place(index, command);
  if ((command.flags & kWantsCredit) != 0) Schedule(index, Channel::kCredit);
}

// Copies the data to the program's offered buffer if they fit, otherwise to the ring.
void Sockets::Place(uint32_t index, const Command& command) {
  Channel& channel = channels_[index];
  Socket& socket = sockets_[channel.socket];
  const bool fits =
      socket.room != nullptr && command.data_bytes <= socket.room_bytes - socket.filled_bytes;
  if (fits && channel.ring->is_empty()) {
    std::memcpy(socket.room + socket.filled_bytes, command.data, command.data_bytes);
    socket.filled_bytes += command.data_bytes;
    channel.ring->Pass(command.data_bytes);
    return OnReleased(index);
  }
  channel.ring->Push(command.data, command.data_bytes, (command.flags & kLast) != 0);
  counters_.spilled_bytes += command.data_bytes;
}

// Schedules a CREDIT once the ring can grant a quarter of its size.
void Sockets::OnReleased(uint32_t index) {
  const Channel& channel = channels_[index];
  const SpillRing& ring = *channel.ring;
  if (channel.state != Channel::State::kConnected) return;
  if (ring.released() + ring.bytes() - channel.granted >= ring.bytes() / 4) {
    Schedule(index, Channel::kCredit);
  }
}

void Sockets::OnEnd(const Route& from, const Command& command) {
  const uint32_t index = FindReceiver(from, command);
  if (index == Channel::kNone) return;
  Channel& channel = channels_[index];
  if (command.number != channel.number) {
    ++counters_.refused[static_cast<uint8_t>(Status::kOrder) - kFirstRefusal];
    FailChannel(index, Status::kOrder);
    return Schedule(index, Channel::kRefuse);
  }
  if (channel.ring->has_partial()) {
    channel.ring->DropPartial();
    ++counters_.torn;
  }
  if (command.status != Status::kOk) return FailChannel(index, command.status);
  channel.state = Channel::State::kEnded;
  channel.owed &= static_cast<uint8_t>(~Channel::kCredit);
  Schedule(index, Channel::kClosed);
}

}  // namespace suede::message
