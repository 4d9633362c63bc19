// SPDX-License-Identifier: Apache-2.0
#include "message/sockets.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>

namespace suede::message {
namespace {

constexpr Duration kLinger = std::chrono::seconds(1);

bool IsValid(const SocketsParams& all, const SocketParams& params,
             std::span<const uint16_t> peers) {
  if (params.plane < -1 || params.plane >= static_cast<int>(all.planes)) return false;
  if (params.vc < -1 || params.vc >= static_cast<int>(kVcCount)) return false;
  if (params.vc >= 0 && (all.data_vcs & 1u << params.vc) == 0) return false;
  if (params.is_private && params.is_datagram) return false;
  if (params.is_sender ? params.operations == 0
                       : params.ring_bytes < kMinRingBytes || params.ring_bytes > kMaxRingBytes ||
                             params.ring_bytes % 8 != 0) {
    return false;
  }
  if (peers.empty() || (!params.is_sender && peers.size() != 1)) return false;
  const uint16_t max = params.is_sender ? kAnyXpu - 1 : kAnyXpu;
  std::vector<uint16_t> sorted(peers.begin(), peers.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted.back() <= max && std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

}  // namespace

Sockets::Sockets(const SocketsParams& params)
    : state_(params),
      control_(&state_),
      senders_(&state_, &control_),
      receivers_(&state_, &control_) {
  for (uint32_t i = params.channels; i-- > 0;) free_sockets_.push_back(i);
}

// ---- Open.

Opened Sockets::Open(const SocketParams& params, std::span<const uint16_t> peers,
                     uint32_t* socket) {
  if (!IsValid(state_.params, params, peers)) return Opened::kInvalid;
  const Traits traits{.is_datagram = params.is_datagram,
                      .is_private = params.is_private,
                      .vc = params.vc >= 0
                                ? static_cast<uint8_t>(params.vc)
                                : static_cast<uint8_t>(std::countr_zero(state_.params.data_vcs))};
  std::vector<Name> names;
  for (const uint16_t peer : peers) {
    names.push_back(
        {.is_sender = params.is_sender,
         .plane = ChoosePlane(params.plane, params.is_sender ? peer : state_.params.own_xpuid,
                              state_.params.planes),
         .xpuid = peer,
         .id = params.id,
         .epoch = params.epoch});
    if (state_.channels.Find(names.back()) != Channel::kNone) return Opened::kExists;
    if (state_.channels.IsVcTaken(names.back(), traits)) return Opened::kBusy;
  }
  if (free_sockets_.empty() || state_.channels.free() < peers.size()) return Opened::kNoRoom;
  const uint32_t index = free_sockets_.back();
  free_sockets_.pop_back();
  Socket& opened = state_.sockets[index];
  opened = {};
  opened.is_open = true;
  opened.params = params;
  if (params.is_sender) opened.operations.emplace(params.operations);
  for (const Name& name : names) opened.channels.push_back(OpenChannel(index, name, traits));
  *socket = index;
  return Opened::kOk;
}

uint32_t Sockets::OpenChannel(uint32_t socket, const Name& name, const Traits& traits) {
  const uint32_t index = state_.channels.Take(socket, name, traits);
  Channel& channel = state_.channels[index];
  if (name.is_sender) {
    channel.ends.resize(state_.sockets[socket].params.operations);
    control_.Schedule(index, Channel::kConnect);
  } else {
    channel.ring =
        std::make_unique<SpillRing>(state_.sockets[socket].params.ring_bytes, traits.is_datagram);
    if (name.xpuid != kAnyXpu) control_.Schedule(index, Channel::kAnnounce);
  }
  return index;
}

// ---- Outcomes.

Status Sockets::PeerStatus(uint32_t socket, uint32_t peer) const {
  const Channel& channel = PeerOf(socket, peer);
  return channel.state == Channel::State::kWaiting || channel.state == Channel::State::kFailed
             ? channel.status
             : Status::kOk;
}

Status Sockets::StatusOf(uint32_t socket) const {
  Status status = Status::kOk;
  for (const uint32_t index : state_.sockets[socket].channels) {
    const Channel& channel = state_.channels[index];
    if (channel.state == Channel::State::kWaiting) return Status::kPending;
    if (channel.state == Channel::State::kFailed && status == Status::kOk) status = channel.status;
  }
  return status;
}

Status Sockets::OutcomeOf(uint32_t socket) const {
  for (const uint32_t index : state_.sockets[socket].channels) {
    const Channel& channel = state_.channels[index];
    if (channel.state == Channel::State::kFailed && !channel.has_delivered) return channel.status;
  }
  return Status::kOk;
}

// ---- Close.

void Sockets::Close(uint32_t number) {
  Socket& socket = state_.sockets[number];
  if (socket.is_closing) return;
  socket.is_closing = true;
  state_.earliest = state_.now;
  for (const uint32_t index : socket.channels) {
    const Channel& channel = state_.channels[index];
    if (channel.state == Channel::State::kWaiting) {
      senders_.Fail(index, Status::kAborted);
    } else if (channel.state == Channel::State::kConnected && channel.name.is_sender) {
      senders_.End(index, Status::kOk);
    }
  }
}

bool Sockets::IsClosed(uint32_t number) const {
  const Socket& socket = state_.sockets[number];
  if (!socket.params.is_sender) return socket.is_closing;
  return socket.is_closing &&
         std::all_of(socket.channels.begin(), socket.channels.end(), [&](uint32_t index) {
           return !state_.channels[index].IsOpen() ||
                  state_.channels[index].state == Channel::State::kEnded;
         });
}

void Sockets::Release(uint32_t number) {
  Socket& socket = state_.sockets[number];
  for (const uint32_t index : socket.channels) LetGo(index);
  socket = {};
  free_sockets_.push_back(number);
}

// Detaches the channel from its socket. Frees it once the peer has been notified, or after kLinger.
void Sockets::LetGo(uint32_t index) {
  Channel& channel = state_.channels[index];
  state_.channels.RemoveName(index);
  channel.socket = Channel::kNone;
  if (channel.ring != nullptr) channel.taken = static_cast<uint32_t>(channel.ring->released());
  channel.ring.reset();
  channel.pending &= Channel::kRefuse | Channel::kClosed;
  if (channel.state == Channel::State::kConnected) {
    channel.state = Channel::State::kFailed;
    if (channel.name.is_sender) {
      channel.status = Status::kAborted;
      senders_.End(index, Status::kAborted);
    } else {
      channel.status = Status::kClosed;
      control_.Schedule(index, Channel::kRefuse);
    }
  }
  channel.at = state_.now + kLinger;
  if (!channel.IsNeeded(state_.now)) {
    state_.channels.Free(index);
    return;
  }
  state_.WakeAt(channel.at);
}

// ---- Progress.

void Sockets::Pump(BurstSink& sink) {
  control_.Pump(sink);
  senders_.Pump(sink);
}

void Sockets::OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                        const uint8_t* data, uint32_t data_bytes) {
  Command command;
  const Parsed parsed = ParseCommand(control, control_bytes, data, data_bytes, &command);
  if (parsed == Parsed::kForeign) {
    ++state_.counters.foreign;
    return;
  }
  const bool is_data = command.kind == Kind::kData || command.kind == Kind::kEnd;
  if (parsed == Parsed::kMalformed || (!is_data && from.vc != state_.params.control_vc)) {
    return control_.Refuse(from, command, command.tag, Status::kMalformed);
  }
  ++state_.progress;
  switch (command.kind) {
    case Kind::kConnect:
      return receivers_.OnConnect(from, command);
    case Kind::kAnnounce:
      return senders_.OnAnnounce(from, command);
    case Kind::kAccept:
      return senders_.OnAccept(from, command);
    case Kind::kCredit:
      return senders_.OnCredit(from, command);
    case Kind::kRefuse:
      return OnRefuse(from, command);
    case Kind::kClosed:
      return senders_.OnClosed(from, command);
    case Kind::kData:
      return receivers_.OnData(from, command);
    case Kind::kEnd:
      return receivers_.OnEnd(from, command);
  }
}

void Sockets::OnRefuse(const Route& from, const Command& command) {
  // REFUSE carries the own tag for a refused CONNECT or ACCEPT, the peer's tag for refused DATA.
  uint32_t index = state_.channels.FindTag(command.tag, from);
  if (index == Channel::kNone || state_.channels[index].name.id != command.id) {
    index = state_.channels.Find({.is_sender = true,
                                  .plane = from.plane,
                                  .xpuid = from.xpuid,
                                  .id = command.id,
                                  .epoch = command.epoch});
    const bool names_peer = index != Channel::kNone &&
                            state_.channels[index].state != Channel::State::kWaiting &&
                            state_.channels[index].peer_tag == command.tag;
    if (!names_peer) index = Channel::kNone;
  }
  if (index == Channel::kNone || !state_.channels[index].IsOpen()) {
    ++state_.counters.stray;
    return;
  }
  if (state_.channels[index].name.is_sender) return senders_.OnRefused(index, command);
  receivers_.OnRefused(state_.channels[index]);
}

void Sockets::OnTime(Time now) {
  state_.now = now;
  if (now < state_.earliest) return;
  state_.earliest = kNever;
  for (Socket& socket : state_.sockets) {
    if (socket.operations) senders_.ExpireOperations(socket);
  }
  for (uint32_t i = 0; i < state_.channels.size(); ++i) {
    const Channel& channel = state_.channels[i];
    if (channel.state == Channel::State::kFree) continue;
    if (channel.socket != Channel::kNone) {
      if (channel.name.is_sender) senders_.OnTime(i);
    } else if (channel.IsNeeded(now)) {
      state_.WakeAt(std::max(channel.at, now + kFirstRetry));
    } else {
      state_.channels.Free(i);
    }
  }
}

void Sockets::OnPlaneLost(uint32_t plane) {
  for (uint32_t i = 0; i < state_.channels.size(); ++i) {
    Channel& channel = state_.channels[i];
    if (channel.state == Channel::State::kFree || channel.name.plane != plane) continue;
    channel.end_is_pending = false;
    channel.connect_is_in_flight = false;
    const bool in_doubt = channel.name.is_sender && channel.sent != channel.acknowledged;
    senders_.Fail(i, in_doubt ? Status::kInDoubt : Status::kUnreachable);
    channel.pending = 0;
    if (channel.socket == Channel::kNone) state_.channels.Free(i);
  }
  control_.refusals().DropPlane(plane);
}

void Sockets::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  state_.channels.CheckInvariants();
  for (uint32_t i = 0; i < state_.channels.size(); ++i) {
    const Channel& channel = state_.channels[i];
    if (channel.state == Channel::State::kFree) continue;
    check(channel.pending == 0 || control_.Contains(i));
    if (channel.socket == Channel::kNone) {
      check(!channel.IsOpen() || channel.state == Channel::State::kEnding ||
            channel.state == Channel::State::kEnded);
      continue;
    }
    check(state_.sockets[channel.socket].is_open);
    if (channel.name.is_sender) {
      senders_.CheckInvariants(i);
    } else {
      channel.ring->CheckInvariants();
      check(channel.ring->received() <= channel.granted);
      check(channel.granted <= channel.ring->released() + channel.ring->bytes());
    }
  }
  control_.refusals().CheckInvariants();
}

}  // namespace suede::message
