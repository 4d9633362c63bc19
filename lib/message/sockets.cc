// SPDX-License-Identifier: Apache-2.0
// Sockets, channels and operations. sockets_send.cc and sockets_receive.cc handle DATA and END,
// sockets_control.cc the other commands.
#include "message/sockets.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "suede/layout.h"

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

uint8_t PlaneOf(const SocketsParams& all, const SocketParams& params, uint16_t peer) {
  if (params.plane >= 0) return static_cast<uint8_t>(params.plane);
  return static_cast<uint8_t>((params.is_sender ? peer : all.own_xpuid) % all.planes);
}

uint64_t MessageCost(uint64_t bytes) {
  const uint64_t whole = bytes / kDataBytes;
  const auto rest = static_cast<uint32_t>(bytes % kDataBytes);
  return whole * kFullCost + (rest != 0 || bytes == 0 ? CostOf(rest) : 0);
}

}  // namespace

Sockets::Sockets(const SocketsParams& params)
    : params_(params),
      sockets_(params.channels),
      channels_(params.channels, params.seed),
      data_list_(params.channels),
      control_list_(params.channels),
      refusals_(params.planes) {
  for (uint32_t i = params.channels; i-- > 0;) free_sockets_.push_back(i);
}

// ---- Open.

Opened Sockets::Open(const SocketParams& params, std::span<const uint16_t> peers,
                     uint32_t* socket) {
  if (!IsValid(params_, params, peers)) return Opened::kInvalid;
  const Traits traits{.is_datagram = params.is_datagram,
                      .is_private = params.is_private,
                      .vc = params.vc >= 0
                                ? static_cast<uint8_t>(params.vc)
                                : static_cast<uint8_t>(std::countr_zero(params_.data_vcs))};
  std::vector<Name> names;
  for (const uint16_t peer : peers) {
    names.push_back({.is_sender = params.is_sender,
                     .plane = PlaneOf(params_, params, peer),
                     .xpuid = peer,
                     .id = params.id,
                     .epoch = params.epoch});
    if (channels_.Find(names.back()) != Channel::kNone) return Opened::kExists;
    if (channels_.IsVcTaken(names.back(), traits)) return Opened::kBusy;
  }
  if (free_sockets_.empty() || channels_.free() < peers.size()) return Opened::kNoRoom;
  const uint32_t index = free_sockets_.back();
  free_sockets_.pop_back();
  Socket& opened = sockets_[index];
  opened = {};
  opened.is_open = true;
  opened.params = params;
  if (params.is_sender) opened.operations.emplace(params.operations);
  for (const Name& name : names) opened.channels.push_back(OpenChannel(index, name, traits));
  *socket = index;
  return Opened::kOk;
}

uint32_t Sockets::OpenChannel(uint32_t socket, const Name& name, const Traits& traits) {
  const uint32_t index = channels_.Take(socket, name, traits);
  Channel& channel = channels_[index];
  if (name.is_sender) {
    channel.ends.resize(sockets_[socket].params.operations);
    Schedule(index, Channel::kConnect);
  } else {
    channel.ring =
        std::make_unique<SpillRing>(sockets_[socket].params.ring_bytes, traits.is_datagram);
    if (name.xpuid != kAnyXpu) Schedule(index, Channel::kAnnounce);
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
  for (const uint32_t index : sockets_[socket].channels) {
    const Channel& channel = channels_[index];
    if (channel.state == Channel::State::kWaiting) return Status::kPending;
    if (channel.state == Channel::State::kFailed && status == Status::kOk) status = channel.status;
  }
  return status;
}

Status Sockets::OutcomeOf(uint32_t socket) const {
  for (const uint32_t index : sockets_[socket].channels) {
    const Channel& channel = channels_[index];
    if (channel.state == Channel::State::kFailed && !channel.has_delivered) return channel.status;
  }
  return Status::kOk;
}

void Sockets::Schedule(uint32_t index, uint8_t what) {
  channels_[index].owed |= what;
  control_list_.Append(index);
}

void Sockets::FailChannel(uint32_t index, Status status) {
  Channel& channel = channels_[index];
  if (!channel.IsOpen()) return;
  channel.state = Channel::State::kFailed;
  channel.status = status;
  channel.owed = 0;
  channel.end_is_pending = false;
  ++progress_;
  if (channel.socket == Channel::kNone || !channel.name.is_sender) return;
  Socket& socket = sockets_[channel.socket];
  socket.operations->OnTargetFailed(channel.acknowledged_operations, status);
  UpdateOperations(socket);
}

// ---- Operations.

Started Sockets::Send(uint32_t number_of_socket, const uint8_t* data, uint64_t bytes, Time deadline,
                      suede_socket_result* result, uint64_t* number) {
  Socket& socket = sockets_[number_of_socket];
  if (!socket.params.is_sender || socket.is_closing || (data == nullptr && bytes != 0)) {
    return Started::kInvalid;
  }
  bool any_open = false;
  for (const uint32_t index : socket.channels) {
    Channel& channel = channels_[index];
    if (channel.state == Channel::State::kWaiting) return Started::kNotConnected;
    if (channel.state != Channel::State::kConnected) {
      channel.has_delivered = false;  // this operation is not delivered
      continue;
    }
    any_open = true;
    // Accepts up to half of the ring, because the credit of the other half may not be returned yet.
    if (socket.params.is_datagram && MessageCost(bytes) > channel.window_bytes / 2) {
      return Started::kTooLong;
    }
  }
  if (!any_open) return Started::kFailed;
  OperationQueue& operations = *socket.operations;
  if (operations.is_full()) return Started::kNoRoom;
  if (number != nullptr) *number = operations.next();
  WriteResult(result, 0, Status::kPending);
  static constexpr uint8_t kNothing = 0;
  operations.Push({.data = bytes != 0 ? data : &kNothing,
                   .bytes = bytes,
                   .deadline = deadline,
                   .result = result});
  // Forces the next OnTime to schedule the check of the receivers.
  earliest_ = now_;
  for (const uint32_t index : socket.channels) {
    if (channels_[index].state == Channel::State::kConnected) data_list_.Append(index);
  }
  return Started::kOk;
}

void Sockets::CompleteOperation(Socket& socket, uint64_t number, Status status) {
  if (!socket.operations->Complete(number, status)) return;
  Operation& operation = (*socket.operations)[number];
  const bool has_targets = std::any_of(socket.channels.begin(), socket.channels.end(),
                                       [&](uint32_t index) { return channels_[index].IsOpen(); });
  WriteResult(operation.result, has_targets ? operation.bytes : 0, status);
  operation.result = nullptr;
  ++progress_;
}

// Completes the operations that every remaining target has acknowledged; all if no target remains.
void Sockets::UpdateOperations(Socket& socket) {
  OperationQueue& operations = *socket.operations;
  uint64_t pushed = operations.next();
  uint64_t acknowledged = operations.next();
  bool any_open = false;
  for (const uint32_t index : socket.channels) {
    const Channel& channel = channels_[index];
    if (!channel.IsOpen()) continue;
    any_open = true;
    pushed = std::min(pushed, channel.operation);
    acknowledged = std::min(acknowledged, channel.acknowledged_operations);
  }
  for (; operations.pushed() < pushed; operations.PushedOne()) {
    Operation& operation = operations[operations.pushed()];
    operation.data = nullptr;
    if (any_open && !operation.is_complete) {
      WriteResult(operation.result, operation.bytes, Status::kPending);
    }
    ++progress_;
  }
  // Expired operations complete without an acknowledgement.
  while (operations.first() < acknowledged ||
         (operations.first() < operations.pushed() && operations[operations.first()].is_complete)) {
    CompleteOperation(socket, operations.first(), operations[operations.first()].status);
    operations.PopFirst();
  }
  for (const uint32_t index : socket.channels) {
    Channel& channel = channels_[index];
    if (!channel.IsOpen()) continue;
    channel.acknowledged_operations = std::max(channel.acknowledged_operations, operations.first());
  }
}

// Ends an operation whose deadline has passed. A stream continues behind the octets already sent; a
// target that was sent fewer of them than others fails, since its stream would have a gap.
void Sockets::ExpireOperation(Socket& socket, uint64_t number) {
  Operation& operation = (*socket.operations)[number];
  const auto has = [&](const Channel& channel) {
    if (channel.operation > number) return operation.bytes;
    return channel.operation == number ? channel.operation_bytes : uint64_t{0};
  };
  uint64_t max = 0;
  for (const uint32_t index : socket.channels) {
    if (channels_[index].IsOpen()) max = std::max(max, has(channels_[index]));
  }
  std::vector<uint32_t> behind;
  for (const uint32_t index : socket.channels) {
    const Channel& channel = channels_[index];
    if (channel.IsOpen() && !socket.params.is_datagram && has(channel) < max) {
      behind.push_back(index);
    }
  }
  operation.is_cut = true;
  operation.bytes = max;
  if (operation.status == Status::kOk) operation.status = Status::kTimedOut;
  CompleteOperation(socket, number, operation.status);
  for (const uint32_t index : socket.channels) {
    Channel& channel = channels_[index];
    if (channel.IsOpen() && channel.operation == number &&
        (socket.params.is_datagram || has(channel) == max)) {
      channel.EndOperation();
    }
  }
  // Wakes the channels: following operations may need no credit.
  for (const uint32_t index : socket.channels) {
    if (channels_[index].IsOpen()) data_list_.Append(index);
  }
  for (const uint32_t index : behind) {
    FailChannel(index, Status::kTimedOut);
    channels_[index].end_is_pending = true;
    channels_[index].end_status = Status::kAborted;
    data_list_.Append(index);
  }
  UpdateOperations(socket);
}

// ---- Receive.

Got Sockets::Receive(uint32_t number, uint8_t* room, uint32_t max, uint32_t* bytes) {
  *bytes = 0;
  const Socket& socket = sockets_[number];
  if (socket.params.is_sender) return Got::kInvalid;
  const uint32_t index = socket.channels[0];
  Channel& channel = channels_[index];
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

bool Sockets::OfferBuffer(uint32_t number, uint8_t* room, uint32_t max) {
  Socket& socket = sockets_[number];
  const Channel& channel = channels_[socket.channels[0]];
  if (channel.traits.is_datagram || !channel.ring->is_empty() || socket.room != nullptr) {
    return false;
  }
  socket.room = room;
  socket.room_bytes = max;
  socket.filled_bytes = 0;
  return true;
}

uint32_t Sockets::WithdrawBuffer(uint32_t number) {
  Socket& socket = sockets_[number];
  socket.room = nullptr;
  return socket.filled_bytes;
}

// ---- Close.

void Sockets::Close(uint32_t number) {
  Socket& socket = sockets_[number];
  if (socket.is_closing) return;
  socket.is_closing = true;
  earliest_ = now_;
  for (const uint32_t index : socket.channels) {
    Channel& channel = channels_[index];
    if (channel.state == Channel::State::kWaiting) {
      FailChannel(index, Status::kAborted);
    } else if (channel.state == Channel::State::kConnected && channel.name.is_sender) {
      channel.end_is_pending = true;
      data_list_.Append(index);
    }
  }
}

bool Sockets::IsClosed(uint32_t number) const {
  const Socket& socket = sockets_[number];
  if (!socket.params.is_sender) return socket.is_closing;
  return socket.is_closing &&
         std::all_of(socket.channels.begin(), socket.channels.end(), [&](uint32_t index) {
           return !channels_[index].IsOpen() || channels_[index].state == Channel::State::kEnded;
         });
}

void Sockets::Release(uint32_t number) {
  Socket& socket = sockets_[number];
  for (const uint32_t index : socket.channels) LetGo(index);
  socket = {};
  free_sockets_.push_back(number);
}

// Detaches the channel from its socket. Frees it once the peer has been notified, or after kLinger.
void Sockets::LetGo(uint32_t index) {
  Channel& channel = channels_[index];
  channels_.RemoveName(index);
  channel.socket = Channel::kNone;
  if (channel.ring != nullptr) channel.taken = static_cast<uint32_t>(channel.ring->released());
  channel.ring.reset();
  channel.owed &= Channel::kRefuse | Channel::kClosed;
  if (channel.state == Channel::State::kConnected) {
    channel.state = Channel::State::kFailed;
    if (channel.name.is_sender) {
      channel.status = channel.end_status = Status::kAborted;
      channel.end_is_pending = true;
      data_list_.Append(index);
    } else {
      channel.status = Status::kClosed;
      Schedule(index, Channel::kRefuse);
    }
  }
  channel.at = now_ + kLinger;
  if (!channel.IsNeeded(now_)) {
    channels_.Free(index);
    return;
  }
  earliest_ = std::min(earliest_, channel.at);
}

void Sockets::OnPlaneLost(uint32_t plane) {
  for (uint32_t i = 0; i < channels_.size(); ++i) {
    Channel& channel = channels_[i];
    if (channel.state == Channel::State::kFree || channel.name.plane != plane) continue;
    channel.end_is_pending = false;
    channel.connect_is_in_flight = false;
    const bool in_doubt = channel.name.is_sender && channel.sent != channel.acknowledged;
    FailChannel(i, in_doubt ? Status::kInDoubt : Status::kUnreachable);
    channel.owed = 0;
    if (channel.socket == Channel::kNone) channels_.Free(i);
  }
  refusals_.DropPlane(plane);
}

void Sockets::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  channels_.CheckInvariants();
  for (uint32_t i = 0; i < channels_.size(); ++i) {
    const Channel& channel = channels_[i];
    if (channel.state == Channel::State::kFree) continue;
    check(channel.owed == 0 || control_list_.Contains(i));
    if (channel.socket == Channel::kNone) {
      check(!channel.IsOpen() || channel.state == Channel::State::kEnding ||
            channel.state == Channel::State::kEnded);
      continue;
    }
    check(sockets_[channel.socket].is_open);
    if (channel.name.is_sender) {
      const OperationQueue& operations = *sockets_[channel.socket].operations;
      // A channel without credit is in no list until CREDIT arrives.
      const bool has_operations =
          channel.state == Channel::State::kConnected && channel.operation < operations.next();
      check(!channel.end_is_pending || has_operations || data_list_.Contains(i));
      check(channel.acknowledged <= channel.sent && channel.sent <= channel.limit);
      check(channel.acknowledged_operations <= channel.operation &&
            channel.operation <= operations.next());
      if (channel.IsOpen()) check(operations.first() <= channel.acknowledged_operations);
      if (channel.IsOpen()) check(operations.pushed() <= channel.operation);
    } else {
      channel.ring->CheckInvariants();
      check(channel.ring->received() <= channel.granted);
      check(channel.granted <= channel.ring->released() + channel.ring->bytes());
    }
  }
  refusals_.CheckInvariants();
}

}  // namespace suede::message
