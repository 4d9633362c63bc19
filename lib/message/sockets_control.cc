// SPDX-License-Identifier: Apache-2.0
// Control commands (CONNECT, ANNOUNCE, ACCEPT, CREDIT, REFUSE and CLOSED) and timers.
#include <algorithm>

#include "message/sockets.h"
#include "suede/layout.h"

namespace suede::message {
namespace {

constexpr Duration kFirstRetry = std::chrono::milliseconds(5);
constexpr Duration kLastRetry = std::chrono::milliseconds(160);
// Interval of the CONNECTs by which a waiting sender checks that its receiver still exists.
constexpr Duration kProbeInterval = std::chrono::milliseconds(500);

}  // namespace

// ---- Sending.

// Sends the channel's pending control commands. Returns true if none remain.
bool Sockets::PumpControl(uint32_t index, BurstSink& sink) {
  Channel& channel = channels_[index];
  for (uint8_t what = 1; what <= Channel::kRefuse; what = static_cast<uint8_t>(what << 1)) {
    if ((channel.owed & what) == 0) continue;
    if (!SendControl(index, what, sink)) {
      ++counters_.blocked;
      return false;
    }
    channel.owed &= static_cast<uint8_t>(~what);
  }
  if (channel.socket == Channel::kNone && channel.state != Channel::State::kFree &&
      !channel.IsNeeded(now_)) {
    channels_.Free(index);
  }
  return true;
}

bool Sockets::SendControl(uint32_t index, uint8_t what, BurstSink& sink) {
  Channel& channel = channels_[index];
  Command command{.id = channel.name.id, .tag = channel.peer_tag, .epoch = channel.name.epoch};
  const uint64_t limit =
      channel.ring != nullptr ? channel.ring->released() + channel.ring->bytes() : 0;
  switch (what) {
    case Channel::kConnect:
    case Channel::kAnnounce:
      command.kind = what == Channel::kConnect ? Kind::kConnect : Kind::kAnnounce;
      command.tag =
          channel.IsOpen() && channel.state != Channel::State::kWaiting ? channel.peer_tag : 0;
      command.own_tag = channel.tag;
      command.traits = channel.traits;
      break;
    case Channel::kAccept:
      command.kind = Kind::kAccept;
      command.own_tag = channel.tag;
      command.limit = static_cast<uint32_t>(limit);
      break;
    case Channel::kCredit:
      command.kind = Kind::kCredit;
      command.limit = static_cast<uint32_t>(limit);
      command.received = static_cast<uint32_t>(channel.ring->received());
      break;
    case Channel::kClosed:
      command.kind = Kind::kClosed;
      command.own_tag = channel.tag;
      break;
    default:
      command.kind = Kind::kRefuse;
      command.status = channel.status;
      command.tag = channel.tag;
      command.received = channel.taken;
      break;
  }
  uint8_t control[kControlBytes];
  EncodeCommand(command, control);
  const bool is_connect = what == Channel::kConnect;
  const int sent =
      sink.Send({.to = channel.Control(params_.control_vc),
                 .controls = control,
                 .count = 1,
                 .wants_completion = is_connect,
                 .tag = uint64_t{static_cast<uint8_t>(Kind::kConnect)} << 32 | channel.tag});
  if (sent == 0) return false;
  if (what == Channel::kAccept || what == Channel::kCredit) channel.granted = limit;
  if (is_connect) {
    channel.connect_is_in_flight = sent > 0;
    channel.interval =
        channel.interval == Duration{} ? kFirstRetry : std::min(channel.interval * 2, kLastRetry);
    channel.at =
        now_ + (channel.state == Channel::State::kWaiting ? channel.interval : kProbeInterval);
    earliest_ = std::min(earliest_, channel.at);
  }
  return true;
}

void Sockets::Refuse(const Route& from, const Command& command, uint32_t tag, Status status) {
  ++counters_.refused[static_cast<uint8_t>(status) - kFirstRefusal];
  if (!refusals_.Add(from, command, tag, status)) ++counters_.unanswered;
}

// ---- Receiving: at the receiver of the data.

void Sockets::OnConnect(const Route& from, const Command& command) {
  Name name{.plane = from.plane, .xpuid = from.xpuid, .id = command.id, .epoch = command.epoch};
  uint32_t index = channels_.Find(name);
  if (index == Channel::kNone) {
    Name any = name;
    any.xpuid = kAnyXpu;
    index = channels_.Find(any);
    if (index == Channel::kNone) {
      const Status why = channels_.AbsenceStatus(name);
      return Refuse(from, command, command.own_tag,
                    why == Status::kNotOpen ? channels_.AbsenceStatus(any) : why);
    }
  }
  Channel& channel = channels_[index];
  switch (channel.state) {
    case Channel::State::kWaiting:
      // A tag addresses an earlier incarnation of this receiver.
      if (command.tag != 0) return Refuse(from, command, command.own_tag, Status::kNotOpen);
      if (command.traits != channel.traits) {
        return Refuse(from, command, command.own_tag, Status::kMismatch);
      }
      channels_.SetPeer(index, from.xpuid);
      channel.state = Channel::State::kConnected;
      channel.peer_tag = command.own_tag;
      channel.owed = 0;
      return Schedule(index, Channel::kAccept);
    case Channel::State::kConnected:
      // A repeated CONNECT: the ACCEPT or a CREDIT may be lost.
      if (channel.peer_tag == command.own_tag) {
        return Schedule(index, Channel::kAccept | Channel::kCredit);
      }
      // A new incarnation of the sender does not continue the data of the previous one.
      FailChannel(index, Status::kReset);
      return Refuse(from, command, command.own_tag, Status::kNotOpen);
    case Channel::State::kEnded:
      if (channel.peer_tag == command.own_tag) return Schedule(index, Channel::kClosed);
      [[fallthrough]];
    default:
      return Refuse(from, command, command.own_tag, Status::kNotOpen);
  }
}

// ---- At the sender.

void Sockets::OnAnnounce(const Route& from, const Command& command) {
  const uint32_t index = channels_.Find({.is_sender = true,
                                         .plane = from.plane,
                                         .xpuid = from.xpuid,
                                         .id = command.id,
                                         .epoch = command.epoch});
  if (index == Channel::kNone) return;  // a sender that opens later sends CONNECT
  const Channel& channel = channels_[index];
  if (channel.state == Channel::State::kWaiting) return Schedule(index, Channel::kConnect);
  const bool is_connected =
      channel.state == Channel::State::kConnected || channel.state == Channel::State::kEnding;
  if (is_connected && channel.peer_tag != command.own_tag) FailChannel(index, Status::kReset);
}

void Sockets::OnAccept(const Route& from, const Command& command) {
  const uint32_t index = channels_.FindTag(command.tag, from);
  const bool fits = index != Channel::kNone && channels_[index].name.is_sender &&
                    channels_[index].name.id == command.id && channels_[index].IsOpen() &&
                    channels_[index].socket != Channel::kNone;
  if (!fits) return Refuse(from, command, command.own_tag, Status::kClosed);
  Channel& channel = channels_[index];
  if (channel.state != Channel::State::kWaiting) {
    if (channel.peer_tag == command.own_tag) return;  // response to a repeated CONNECT
    FailChannel(index, Status::kReset);
    return Refuse(from, command, command.own_tag, Status::kClosed);
  }
  if (command.limit < kMinRingBytes || command.limit > kMaxRingBytes) {
    return Refuse(from, command, command.own_tag, Status::kMalformed);
  }
  channel.state = Channel::State::kConnected;
  channel.peer_tag = command.own_tag;
  channel.limit = command.limit;
  channel.window_bytes = command.limit;
  channel.owed = 0;
  channel.at = kNever;
}

void Sockets::OnCredit(const Route& from, const Command& command) {
  const uint32_t index = channels_.FindTag(command.tag, from);
  const bool is_known = index != Channel::kNone && channels_[index].name.is_sender &&
                        channels_[index].name.id == command.id &&
                        (channels_[index].state == Channel::State::kConnected ||
                         channels_[index].state == Channel::State::kEnding);
  if (!is_known || channels_[index].socket == Channel::kNone) {
    ++counters_.stray;
    return;
  }
  Channel& channel = channels_[index];
  const auto more = static_cast<int32_t>(command.limit - static_cast<uint32_t>(channel.limit));
  const uint32_t acknowledged = command.received - static_cast<uint32_t>(channel.acknowledged);
  // Rejects acknowledgement of unsent data, a smaller limit, and more credit than the ring's size.
  if (acknowledged > channel.sent - channel.acknowledged || more < 0 ||
      channel.limit + static_cast<uint32_t>(more) > channel.sent + channel.window_bytes) {
    ++counters_.stray;
    return;
  }
  channel.limit += static_cast<uint32_t>(more);
  ScheduleProbe(channel);
  channel.Acknowledge(channel.acknowledged + acknowledged);
  Socket& socket = sockets_[channel.socket];
  if (channel.operation < socket.operations->next()) data_list_.Append(index);
  UpdateOperations(socket);
}

void Sockets::OnClosed(const Route& from, const Command& command) {
  const uint32_t index = channels_.FindTag(command.tag, from);
  if (index == Channel::kNone || channels_[index].state != Channel::State::kEnding ||
      channels_[index].peer_tag != command.own_tag || channels_[index].name.id != command.id ||
      channels_[index].socket == Channel::kNone) {
    ++counters_.stray;
    return;
  }
  Channel& channel = channels_[index];
  channel.state = Channel::State::kEnded;
  channel.Acknowledge(channel.sent);
  UpdateOperations(sockets_[channel.socket]);
}

// ---- At both ends.

void Sockets::OnRefuse(const Route& from, const Command& command) {
  // REFUSE carries the own tag for a refused CONNECT or ACCEPT, the peer's tag for refused DATA.
  uint32_t index = channels_.FindTag(command.tag, from);
  if (index == Channel::kNone || channels_[index].name.id != command.id) {
    index = channels_.Find({.is_sender = true,
                            .plane = from.plane,
                            .xpuid = from.xpuid,
                            .id = command.id,
                            .epoch = command.epoch});
    const bool names_peer = index != Channel::kNone &&
                            channels_[index].state != Channel::State::kWaiting &&
                            channels_[index].peer_tag == command.tag;
    if (!names_peer) index = Channel::kNone;
  }
  if (index == Channel::kNone || !channels_[index].IsOpen()) {
    ++counters_.stray;
    return;
  }
  Channel& channel = channels_[index];
  const bool may_come = command.status == Status::kNotOpen || command.status == Status::kEpoch;
  if (channel.name.is_sender && channel.state == Channel::State::kWaiting && may_come) {
    channel.status = command.status;
    return;
  }
  if (channel.state == Channel::State::kEnded) return;  // all data was delivered
  if (channel.name.is_sender && channel.socket != Channel::kNone && channel.sent != 0 &&
      command.status == Status::kClosed &&
      command.received == static_cast<uint32_t>(channel.sent)) {
    Socket& socket = sockets_[channel.socket];
    channel.has_delivered = channel.operation == socket.operations->next();
    if (channel.has_delivered) {
      channel.Acknowledge(channel.sent);
      UpdateOperations(socket);
    }
  }
  FailChannel(index, channel.name.is_sender ? command.status : Status::kAborted);
}

void Sockets::OnCompletion(uint64_t completion_tag, uint8_t status) {
  const auto tag = static_cast<uint32_t>(completion_tag);
  const uint32_t index = tag % kMaxChannels;
  if (index >= channels_.size()) return;
  Channel& channel = channels_[index];
  if (channel.state == Channel::State::kFree || channel.tag != tag) return;
  const bool is_connect = completion_tag >> 32 == static_cast<uint8_t>(Kind::kConnect);
  if (is_connect) channel.connect_is_in_flight = false;
  if (status == SUEDE_STATUS_OK) return;
  if (!is_connect) {
    FailChannel(index, IsUndelivered(status) ? Status::kUnreachable : Status::kInDoubt);
  } else if (channel.state == Channel::State::kWaiting && IsUndelivered(status)) {
    channel.status = Status::kUnreachable;
  }
}

// ---- Time.

void Sockets::OnTime(Time now) {
  now_ = now;
  if (now < earliest_) return;
  earliest_ = kNever;
  for (Socket& socket : sockets_) {
    if (!socket.operations) continue;
    // ExpireOperation may pop operations: numbers stay valid, and popped ones are skipped.
    for (uint64_t n = socket.operations->first(); n < socket.operations->next(); ++n) {
      const Operation& operation = (*socket.operations)[n];
      if (operation.is_complete || n < socket.operations->first()) continue;
      if (operation.deadline <= now)
        ExpireOperation(socket, n);
      else
        earliest_ = std::min(earliest_, operation.deadline);
    }
  }
  for (uint32_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i].state != Channel::State::kFree) OnTime(i);
  }
}

void Sockets::ScheduleProbe(Channel& channel) {
  channel.at = now_ + kProbeInterval;
  earliest_ = std::min(earliest_, channel.at);
}

// Whether the channel is a sender's and waits for its receiver.
bool Sockets::Waits(const Channel& channel) const {
  if (!channel.name.is_sender || channel.socket == Channel::kNone) return false;
  if (channel.state == Channel::State::kConnected) {
    return channel.sent != channel.acknowledged ||
           channel.operation < sockets_[channel.socket].operations->next();
  }
  return channel.state == Channel::State::kWaiting || channel.state == Channel::State::kEnding;
}

void Sockets::OnTime(uint32_t index) {
  Channel& channel = channels_[index];
  const bool lingers = channel.socket == Channel::kNone;
  if (lingers && !channel.IsNeeded(now_)) return channels_.Free(index);
  if (!lingers && !Waits(channel)) {
    if (channel.name.is_sender) channel.at = kNever;
    return;
  }
  if (channel.at == kNever && channel.state != Channel::State::kWaiting) {
    ScheduleProbe(channel);
  } else if (!lingers && channel.at <= now_ && !channel.connect_is_in_flight) {
    channel.at = kNever;  // until CONNECT is sent
    return Schedule(index, Channel::kConnect);
  }
  earliest_ = std::min(earliest_, std::max(channel.at, now_ + kFirstRetry));
}

}  // namespace suede::message
