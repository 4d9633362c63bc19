// SPDX-License-Identifier: Apache-2.0
// senders_pump.cc sends DATA and END.
#include "message/senders.h"

#include <algorithm>
#include <cstdlib>

#include "suede/layout.h"

namespace suede::message {
namespace {

uint64_t MessageCost(uint64_t bytes) {
  const uint64_t whole = bytes / kDataBytes;
  const auto rest = static_cast<uint32_t>(bytes % kDataBytes);
  return whole * kFullCost + (rest != 0 || bytes == 0 ? CostOf(rest) : 0);
}

}  // namespace

// ---- Operations.

Started Senders::Send(uint32_t number_of_socket, const uint8_t* data, uint64_t bytes, Time deadline,
                      suede_socket_result* result, uint64_t* number) {
  Socket& socket = state_.sockets[number_of_socket];
  if (!socket.params.is_sender || socket.is_closing || (data == nullptr && bytes != 0)) {
    return Started::kInvalid;
  }
  bool any_open = false;
  for (const uint32_t index : socket.channels) {
    Channel& channel = state_.channels[index];
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
  state_.earliest = state_.now;
  for (const uint32_t index : socket.channels) {
    if (state_.channels[index].state == Channel::State::kConnected) list_.Append(index);
  }
  return Started::kOk;
}

void Senders::Complete(Socket& socket, uint64_t number, Status status) {
  if (!socket.operations->Complete(number, status)) return;
  Operation& operation = (*socket.operations)[number];
  const bool has_targets =
      std::any_of(socket.channels.begin(), socket.channels.end(),
                  [&](uint32_t index) { return state_.channels[index].IsOpen(); });
  WriteResult(operation.result, has_targets ? operation.bytes : 0, status);
  operation.result = nullptr;
  ++state_.progress;
}

// Completes the operations that every remaining target has acknowledged; all if no target remains.
void Senders::Update(Socket& socket) {
  OperationQueue& operations = *socket.operations;
  uint64_t pushed = operations.next();
  uint64_t acknowledged = operations.next();
  bool any_open = false;
  for (const uint32_t index : socket.channels) {
    const Channel& channel = state_.channels[index];
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
    ++state_.progress;
  }
  // Expired operations complete without an acknowledgement.
  while (operations.first() < acknowledged ||
         (operations.first() < operations.pushed() && operations[operations.first()].is_complete)) {
    Complete(socket, operations.first(), operations[operations.first()].status);
    operations.PopFirst();
  }
  for (const uint32_t index : socket.channels) {
    Channel& channel = state_.channels[index];
    if (!channel.IsOpen()) continue;
    channel.acknowledged_operations = std::max(channel.acknowledged_operations, operations.first());
  }
}

// Ends an operation whose deadline has passed. A stream continues behind the octets already sent; a
// target that was sent fewer of them than others fails, since its stream would have a gap.
void Senders::Expire(Socket& socket, uint64_t number) {
  Operation& operation = (*socket.operations)[number];
  const auto has = [&](const Channel& channel) {
    if (channel.operation > number) return operation.bytes;
    return channel.operation == number ? channel.operation_bytes : uint64_t{0};
  };
  uint64_t max = 0;
  for (const uint32_t index : socket.channels) {
    if (state_.channels[index].IsOpen()) max = std::max(max, has(state_.channels[index]));
  }
  std::vector<uint32_t> behind;
  for (const uint32_t index : socket.channels) {
    const Channel& channel = state_.channels[index];
    if (channel.IsOpen() && !socket.params.is_datagram && has(channel) < max) {
      behind.push_back(index);
    }
  }
  operation.is_cut = true;
  operation.bytes = max;
  if (operation.status == Status::kOk) operation.status = Status::kTimedOut;
  Complete(socket, number, operation.status);
  for (const uint32_t index : socket.channels) {
    Channel& channel = state_.channels[index];
    if (channel.IsOpen() && channel.operation == number &&
        (socket.params.is_datagram || has(channel) == max)) {
      channel.EndOperation();
    }
  }
  // Wakes the channels: following operations may need no credit.
  for (const uint32_t index : socket.channels) {
    if (state_.channels[index].IsOpen()) list_.Append(index);
  }
  for (const uint32_t index : behind) {
    Fail(index, Status::kTimedOut);
    End(index, Status::kAborted);
  }
  Update(socket);
}

void Senders::ExpireOperations(Socket& socket) {
  // Expire may pop operations: numbers stay valid, and popped ones are skipped.
  for (uint64_t n = socket.operations->first(); n < socket.operations->next(); ++n) {
    const Operation& operation = (*socket.operations)[n];
    if (operation.is_complete || n < socket.operations->first()) continue;
    if (operation.deadline <= state_.now)
      Expire(socket, n);
    else
      state_.WakeAt(operation.deadline);
  }
}

// ---- Channels.

void Senders::End(uint32_t index, Status status) {
  Channel& channel = state_.channels[index];
  channel.end_is_pending = true;
  channel.end_status = status;
  list_.Append(index);
}

void Senders::Fail(uint32_t index, Status status) {
  Channel& channel = state_.channels[index];
  if (!channel.Fail(status)) return;
  ++state_.progress;
  if (channel.socket == Channel::kNone || !channel.name.is_sender) return;
  Socket& socket = state_.sockets[channel.socket];
  socket.operations->OnTargetFailed(channel.acknowledged_operations, status);
  Update(socket);
}

void Senders::OnAnnounce(const Route& from, const Command& command) {
  const uint32_t index = state_.channels.Find({.is_sender = true,
                                               .plane = from.plane,
                                               .xpuid = from.xpuid,
                                               .id = command.id,
                                               .epoch = command.epoch});
  if (index == Channel::kNone) return;  // a sender that opens later sends CONNECT
  const Channel& channel = state_.channels[index];
  if (channel.state == Channel::State::kWaiting) return control_.Schedule(index, Channel::kConnect);
  const bool is_connected =
      channel.state == Channel::State::kConnected || channel.state == Channel::State::kEnding;
  if (is_connected && channel.peer_tag != command.own_tag) Fail(index, Status::kReset);
}

void Senders::OnAccept(const Route& from, const Command& command) {
  const uint32_t index = state_.channels.FindTag(command.tag, from);
  const bool fits = index != Channel::kNone && state_.channels[index].name.is_sender &&
                    state_.channels[index].name.id == command.id &&
                    state_.channels[index].IsOpen() &&
                    state_.channels[index].socket != Channel::kNone;
  if (!fits) return control_.Refuse(from, command, command.own_tag, Status::kClosed);
  Channel& channel = state_.channels[index];
  if (channel.state != Channel::State::kWaiting) {
    if (channel.peer_tag == command.own_tag) return;  // response to a repeated CONNECT
    Fail(index, Status::kReset);
    return control_.Refuse(from, command, command.own_tag, Status::kClosed);
  }
  if (command.limit < kMinRingBytes || command.limit > kMaxRingBytes) {
    return control_.Refuse(from, command, command.own_tag, Status::kMalformed);
  }
  channel.state = Channel::State::kConnected;
  channel.peer_tag = command.own_tag;
  channel.limit = command.limit;
  channel.window_bytes = command.limit;
  channel.pending = 0;
  channel.at = kNever;
}

void Senders::OnCredit(const Route& from, const Command& command) {
  const uint32_t index = state_.channels.FindTag(command.tag, from);
  const bool is_known = index != Channel::kNone && state_.channels[index].name.is_sender &&
                        state_.channels[index].name.id == command.id &&
                        (state_.channels[index].state == Channel::State::kConnected ||
                         state_.channels[index].state == Channel::State::kEnding);
  if (!is_known || state_.channels[index].socket == Channel::kNone) {
    ++state_.counters.stray;
    return;
  }
  Channel& channel = state_.channels[index];
  const auto more = static_cast<int32_t>(command.limit - static_cast<uint32_t>(channel.limit));
  const uint32_t acknowledged = command.received - static_cast<uint32_t>(channel.acknowledged);
  // Rejects acknowledgement of unsent data, a smaller limit, and more credit than the ring's size.
  if (acknowledged > channel.sent - channel.acknowledged || more < 0 ||
      channel.limit + static_cast<uint32_t>(more) > channel.sent + channel.window_bytes) {
    ++state_.counters.stray;
    return;
  }
  channel.limit += static_cast<uint32_t>(more);
  ScheduleProbe(channel);
  channel.Acknowledge(channel.acknowledged + acknowledged);
  Socket& socket = state_.sockets[channel.socket];
  if (channel.operation < socket.operations->next()) list_.Append(index);
  Update(socket);
}

void Senders::OnClosed(const Route& from, const Command& command) {
  const uint32_t index = state_.channels.FindTag(command.tag, from);
  if (index == Channel::kNone || state_.channels[index].state != Channel::State::kEnding ||
      state_.channels[index].peer_tag != command.own_tag ||
      state_.channels[index].name.id != command.id ||
      state_.channels[index].socket == Channel::kNone) {
    ++state_.counters.stray;
    return;
  }
  Channel& channel = state_.channels[index];
  channel.state = Channel::State::kEnded;
  channel.Acknowledge(channel.sent);
  Update(state_.sockets[channel.socket]);
}

void Senders::OnRefused(uint32_t index, const Command& command) {
  Channel& channel = state_.channels[index];
  const bool may_come = command.status == Status::kNotOpen || command.status == Status::kEpoch;
  if (channel.state == Channel::State::kWaiting && may_come) {
    channel.status = command.status;
    return;
  }
  if (channel.state == Channel::State::kEnded) return;  // all data was delivered
  if (channel.socket != Channel::kNone && channel.sent != 0 && command.status == Status::kClosed &&
      command.received == static_cast<uint32_t>(channel.sent)) {
    Socket& socket = state_.sockets[channel.socket];
    channel.has_delivered = channel.operation == socket.operations->next();
    if (channel.has_delivered) {
      channel.Acknowledge(channel.sent);
      Update(socket);
    }
  }
  Fail(index, command.status);
}

void Senders::OnCompletion(uint64_t completion_tag, uint8_t status) {
  const auto tag = static_cast<uint32_t>(completion_tag);
  const uint32_t index = tag % kMaxChannels;
  if (index >= state_.channels.size()) return;
  Channel& channel = state_.channels[index];
  if (channel.state == Channel::State::kFree || channel.tag != tag) return;
  const bool is_connect = completion_tag >> 32 == static_cast<uint8_t>(Kind::kConnect);
  if (is_connect) channel.connect_is_in_flight = false;
  if (status == SUEDE_STATUS_OK) return;
  if (!is_connect) {
    Fail(index, IsUndelivered(status) ? Status::kUnreachable : Status::kInDoubt);
  } else if (channel.state == Channel::State::kWaiting && IsUndelivered(status)) {
    channel.status = Status::kUnreachable;
  }
}

// ---- Time.

void Senders::ScheduleProbe(Channel& channel) {
  channel.at = state_.now + kProbeInterval;
  state_.WakeAt(channel.at);
}

// Whether the channel waits for its receiver.
bool Senders::Waits(const Channel& channel) const {
  if (channel.state == Channel::State::kConnected) {
    return channel.sent != channel.acknowledged ||
           channel.operation < state_.sockets[channel.socket].operations->next();
  }
  return channel.state == Channel::State::kWaiting || channel.state == Channel::State::kEnding;
}

void Senders::OnTime(uint32_t index) {
  Channel& channel = state_.channels[index];
  if (!Waits(channel)) {
    channel.at = kNever;
    return;
  }
  if (channel.at == kNever && channel.state != Channel::State::kWaiting) {
    ScheduleProbe(channel);
  } else if (channel.at <= state_.now && !channel.connect_is_in_flight) {
    channel.at = kNever;  // until CONNECT is sent
    return control_.Schedule(index, Channel::kConnect);
  }
  state_.WakeAt(std::max(channel.at, state_.now + kFirstRetry));
}

void Senders::CheckInvariants(uint32_t index) const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  const Channel& channel = state_.channels[index];
  const OperationQueue& operations = *state_.sockets[channel.socket].operations;
  // A channel without credit is in no list until CREDIT arrives.
  const bool has_operations =
      channel.state == Channel::State::kConnected && channel.operation < operations.next();
  check(!channel.end_is_pending || has_operations || list_.Contains(index));
  check(channel.acknowledged <= channel.sent && channel.sent <= channel.limit);
  check(channel.acknowledged_operations <= channel.operation &&
        channel.operation <= operations.next());
  if (channel.IsOpen()) check(operations.first() <= channel.acknowledged_operations);
  if (channel.IsOpen()) check(operations.pushed() <= channel.operation);
}

}  // namespace suede::message
