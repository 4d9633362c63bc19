// SPDX-License-Identifier: Apache-2.0
// Transmission of DATA and END.
#include <algorithm>

#include "message/senders.h"

namespace suede::message {
namespace {

constexpr uint32_t kMaxCommandsPerPump = 64;  // maximum per channel and Pump

// Consecutive DATA commands of equal length.
struct Run {
  uint32_t count = 0;
  uint32_t bytes = 0;         // of each
  bool is_last = false;       // ends the operation
  bool completes = false;     // requests a completion
  bool wants_credit = false;  // the last command requests CREDIT
};

// Returns the next commands of the channel's operation, which have equal lengths; count is 0 if
// credit is exhausted.
Run NextRun(const Channel& channel, uint64_t left, uint32_t budget, bool is_newest) {
  const uint64_t credit = channel.limit - channel.sent;
  const uint64_t whole = left > kDataBytes ? (left - 1) / kDataBytes : 0;  // except the last
  Run run{.count = static_cast<uint32_t>(std::min<uint64_t>(
              {whole, credit / kFullCost, budget, channel.completions.silent()}))};
  run.bytes = static_cast<uint32_t>(std::min<uint64_t>(left, kDataBytes));
  const bool is_alone = run.count == 0;
  if (is_alone) run.count = credit < CostOf(run.bytes) ? 0 : 1;
  run.is_last = is_alone && run.bytes == left;
  run.completes = is_alone && ((run.is_last && is_newest) || channel.completions.silent() == 0);
  // Requests CREDIT with the last command, and with the last one that the credit covers.
  run.wants_credit = run.is_last || credit - uint64_t{run.count} * CostOf(run.bytes) < kFullCost;
  return run;
}

void EncodeRun(const Channel& channel, const Run& run, uint8_t* controls) {
  Command command{.kind = Kind::kData,
                  .id = channel.name.id,
                  .tag = channel.peer_tag,
                  .epoch = channel.name.epoch,
                  .data_bytes = run.bytes};
  for (uint32_t i = 0; i < run.count; ++i) {
    const bool is_first = channel.operation_bytes == 0 && i == 0;
    command.flags = run.wants_credit && i + 1 == run.count ? kWantsCredit : uint8_t{0};
    if (channel.traits.is_datagram && is_first) command.flags |= kFirst;
    if (channel.traits.is_datagram && run.is_last) command.flags |= kLast;
    command.number = channel.number + i;
    EncodeCommand(command, controls + size_t{i} * kControlBytes);
  }
}

}  // namespace

void Senders::Pump(BurstSink& sink) {
  list_.ServeEach([&](uint32_t index) { return PumpChannel(index, sink) == Pumped::kIdle; });
  list_.Rotate();  // credit may not suffice for all channels
}

Senders::Pumped Senders::PumpChannel(uint32_t index, BurstSink& sink) {
  Channel& channel = state_.channels[index];
  if (channel.state == Channel::State::kConnected && channel.socket != Channel::kNone) {
    Socket& socket = state_.sockets[channel.socket];
    uint32_t budget = kMaxCommandsPerPump;
    while (channel.state == Channel::State::kConnected &&
           channel.operation < socket.operations->next()) {
      const Pumped pumped = SendData(index, socket, sink, &budget);
      // A closing socket without credit resumes when CREDIT arrives.
      if (pumped != Pumped::kMore || budget == 0) return pumped;
    }
  }
  return channel.end_is_pending ? SendEnd(index, sink) : Pumped::kIdle;
}

// Sends the next run of commands of the channel's operation.
Senders::Pumped Senders::SendData(uint32_t index, Socket& socket, BurstSink& sink,
                                  uint32_t* budget) {
  Channel& channel = state_.channels[index];
  const Operation& operation = (*socket.operations)[channel.operation];
  const uint64_t left = operation.bytes - channel.operation_bytes;
  if (operation.is_cut || (left == 0 && !channel.traits.is_datagram)) {
    channel.EndOperation();
    Update(socket);
    return Pumped::kMore;
  }
  const Run run =
      NextRun(channel, left, *budget, channel.operation + 1 == socket.operations->next());
  if (run.count == 0) {
    ++state_.counters.starved;
    return Pumped::kIdle;
  }
  uint8_t controls[kCommandsPerCompletion * kControlBytes];
  EncodeRun(channel, run, controls);
  const uint32_t taken = channel.completions.Send(
      {.to = channel.Control(channel.traits.vc),
       .controls = controls,
       .data = operation.data + channel.operation_bytes,
       .data_bytes = run.bytes,
       .count = run.count,
       .wants_completion = run.completes,
       .tag = uint64_t{static_cast<uint8_t>(Kind::kData)} << 32 | channel.tag},
      sink);
  channel.number += taken;
  channel.sent += uint64_t{taken} * CostOf(run.bytes);
  channel.operation_bytes += uint64_t{taken} * run.bytes;
  state_.counters.sent_commands += taken;
  state_.counters.sent_bytes += uint64_t{taken} * run.bytes;
  *budget -= taken;
  if (taken < run.count) {
    ++state_.counters.blocked;
    return Pumped::kBlocked;
  }
  if (run.is_last) {
    channel.EndOperation();
    Update(socket);
  }
  return Pumped::kMore;
}

Senders::Pumped Senders::SendEnd(uint32_t index, BurstSink& sink) {
  Channel& channel = state_.channels[index];
  uint8_t control[kControlBytes];
  EncodeCommand({.kind = Kind::kEnd,
                 .status = channel.end_status,
                 .id = channel.name.id,
                 .tag = channel.peer_tag,
                 .epoch = channel.name.epoch,
                 .number = channel.number},
                control);
  const int sent =
      sink.Send({.to = channel.Control(channel.traits.vc),
                 .controls = control,
                 .count = 1,
                 .wants_completion = true,
                 .tag = uint64_t{static_cast<uint8_t>(Kind::kEnd)} << 32 | channel.tag});
  if (sent == 0) {
    ++state_.counters.blocked;
    return Pumped::kBlocked;
  }
  channel.end_is_pending = false;
  if (channel.state == Channel::State::kConnected) {
    channel.state = Channel::State::kEnding;
    ScheduleProbe(channel);
  }
  if (channel.socket == Channel::kNone && !channel.IsNeeded(state_.now))
    state_.channels.Free(index);
  return Pumped::kIdle;
}

}  // namespace suede::message
