// SPDX-License-Identifier: Apache-2.0
#include "message/receivers.h"

#include <cstring>

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

// ---- The program's reads.

Got Receivers::Receive(uint32_t number, uint8_t* room, uint32_t max, uint32_t* bytes) {
  *bytes = 0;
  const Socket& socket = state_.sockets[number];
  if (socket.params.is_sender) return Got::kInvalid;
  const uint32_t index = socket.channels[0];
  Channel& channel = state_.channels[index];
  SpillRing& ring = *channel.ring;
  if (channel.traits.is_datagram && ring.messages() != 0) {
    *bytes = ring.FirstMessageBytes();
    if (*bytes > max) return Got::kTooLong;
    ring.TakeMessage(room);
    OnReleased(index);
    return Got::kOctets;
  }
  if (!channel.traits.is_datagram && ring.octets() != 0) {
    *bytes = ring.TakeOctets(room, max);
    OnReleased(index);
    return Got::kOctets;
  }
  if (channel.state == Channel::State::kFailed) return Got::kFailed;
  return channel.state == Channel::State::kEnded ? Got::kEnd : Got::kNothing;
}

bool Receivers::OfferBuffer(uint32_t number, uint8_t* room, uint32_t max) {
  Socket& socket = state_.sockets[number];
  const Channel& channel = state_.channels[socket.channels[0]];
  if (channel.traits.is_datagram || !channel.ring->is_empty() || socket.room != nullptr) {
    return false;
  }
  socket.room = room;
  socket.room_bytes = max;
  socket.filled_bytes = 0;
  return true;
}

uint32_t Receivers::WithdrawBuffer(uint32_t number) {
  Socket& socket = state_.sockets[number];
  socket.room = nullptr;
  return socket.filled_bytes;
}

// ---- Received commands.

void Receivers::OnConnect(const Route& from, const Command& command) {
  Name name{.plane = from.plane, .xpuid = from.xpuid, .id = command.id, .epoch = command.epoch};
  uint32_t index = state_.channels.Find(name);
  if (index == Channel::kNone) {
    Name any = name;
    any.xpuid = kAnyXpu;
    index = state_.channels.Find(any);
    if (index == Channel::kNone) {
      const Status why = state_.channels.AbsenceStatus(name);
      return control_.Refuse(from, command, command.own_tag,
                             why == Status::kNotOpen ? state_.channels.AbsenceStatus(any) : why);
    }
  }
  Channel& channel = state_.channels[index];
  switch (channel.state) {
    case Channel::State::kWaiting:
      // A tag addresses an earlier incarnation of this receiver.
      if (command.tag != 0)
        return control_.Refuse(from, command, command.own_tag, Status::kNotOpen);
      if (command.traits != channel.traits) {
        return control_.Refuse(from, command, command.own_tag, Status::kMismatch);
      }
      state_.channels.SetPeer(index, from.xpuid);
      channel.state = Channel::State::kConnected;
      channel.peer_tag = command.own_tag;
      channel.pending = 0;
      return control_.Schedule(index, Channel::kAccept);
    case Channel::State::kConnected:
      // A repeated CONNECT: the ACCEPT or a CREDIT may be lost.
      if (channel.peer_tag == command.own_tag) {
        return control_.Schedule(index, Channel::kAccept | Channel::kCredit);
      }
      // A new incarnation of the sender does not continue the data of the previous one.
      Fail(channel, Status::kReset);
      return control_.Refuse(from, command, command.own_tag, Status::kNotOpen);
    case Channel::State::kEnded:
      if (channel.peer_tag == command.own_tag) return control_.Schedule(index, Channel::kClosed);
      [[fallthrough]];
    default:
      return control_.Refuse(from, command, command.own_tag, Status::kNotOpen);
  }
}

// Returns the channel of a DATA or END; kNone if the command was refused.
uint32_t Receivers::Find(const Route& from, const Command& command) {
  const uint32_t index = state_.channels.FindTag(command.tag, from);
  if (index == Channel::kNone || state_.channels[index].name.is_sender) {
    control_.Refuse(from, command, command.tag,
                    state_.channels.AbsenceStatus(
                        {.plane = from.plane, .xpuid = from.xpuid, .id = command.id}));
    return Channel::kNone;
  }
  const Channel& channel = state_.channels[index];
  if (channel.name.id != command.id || channel.name.epoch != command.epoch) {
    control_.Refuse(from, command, command.tag, Status::kEpoch);
    return Channel::kNone;
  }
  if (channel.traits.vc != from.vc) {
    control_.Refuse(from, command, command.tag, Status::kMismatch);
    return Channel::kNone;
  }
  if (channel.state == Channel::State::kConnected) return index;
  // No REFUSE: the sender was already notified that the channel ended or failed.
  const bool is_refusal = IsRefusal(static_cast<uint8_t>(channel.status));
  const Status status =
      channel.state == Channel::State::kFailed && is_refusal ? channel.status : Status::kNotOpen;
  state_.counters.CountRefused(status);
  return Channel::kNone;
}

void Receivers::OnData(const Route& from, const Command& command) {
  const uint32_t index = Find(from, command);
  if (index == Channel::kNone) return;
  Channel& channel = state_.channels[index];
  const Status status = CheckData(channel, command);
  if (status != Status::kOk) return FailData(index, status);
  ++channel.number;
  ++state_.counters.received_commands;
  state_.counters.received_bytes += command.data_bytes;
  if ((command.flags & kFirst) != 0 && channel.ring->has_partial()) {
    channel.ring->DropPartial();
    ++state_.counters.torn;
  }
  Place(index, command);
  if ((command.flags & kWantsCredit) != 0) control_.Schedule(index, Channel::kCredit);
}

// Copies the data to the program's offered buffer if they fit, otherwise to the ring.
void Receivers::Place(uint32_t index, const Command& command) {
  Channel& channel = state_.channels[index];
  Socket& socket = state_.sockets[channel.socket];
  const bool fits =
      socket.room != nullptr && command.data_bytes <= socket.room_bytes - socket.filled_bytes;
  if (fits && channel.ring->is_empty()) {
    std::memcpy(socket.room + socket.filled_bytes, command.data, command.data_bytes);
    socket.filled_bytes += command.data_bytes;
    channel.ring->Pass(command.data_bytes);
    return OnReleased(index);
  }
  channel.ring->Push(command.data, command.data_bytes, (command.flags & kLast) != 0);
  state_.counters.spilled_bytes += command.data_bytes;
}

// Schedules a CREDIT once the ring can grant a quarter of its size.
void Receivers::OnReleased(uint32_t index) {
  const Channel& channel = state_.channels[index];
  const SpillRing& ring = *channel.ring;
  if (channel.state != Channel::State::kConnected) return;
  if (ring.released() + ring.bytes() - channel.granted >= ring.bytes() / 4) {
    control_.Schedule(index, Channel::kCredit);
  }
}

void Receivers::OnEnd(const Route& from, const Command& command) {
  const uint32_t index = Find(from, command);
  if (index == Channel::kNone) return;
  Channel& channel = state_.channels[index];
  if (command.number != channel.number) return FailData(index, Status::kOrder);
  if (channel.ring->has_partial()) {
    channel.ring->DropPartial();
    ++state_.counters.torn;
  }
  if (command.status != Status::kOk) return Fail(channel, command.status);
  channel.state = Channel::State::kEnded;
  channel.pending &= static_cast<uint8_t>(~Channel::kCredit);
  control_.Schedule(index, Channel::kClosed);
}

void Receivers::OnRefused(Channel& channel) {
  if (channel.state != Channel::State::kEnded) Fail(channel, Status::kAborted);
}

void Receivers::Fail(Channel& channel, Status status) {
  if (channel.Fail(status)) ++state_.progress;
}

// Fails the channel because of a DATA or END, which is refused.
void Receivers::FailData(uint32_t index, Status status) {
  state_.counters.CountRefused(status);
  Fail(state_.channels[index], status);
  control_.Schedule(index, Channel::kRefuse);
}

}  // namespace suede::message
