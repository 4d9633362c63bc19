// SPDX-License-Identifier: Apache-2.0
#include "message/control_queue.h"

#include <algorithm>

namespace suede::message {
namespace {

constexpr Duration kLastRetry = std::chrono::milliseconds(160);

}  // namespace

void ControlQueue::Pump(BurstSink& sink) {
  refusals_.Pump(state_.params.control_vc, sink);
  list_.ServeEach([&](uint32_t index) { return PumpChannel(index, sink); });
}

// Sends the channel's pending control commands. Returns true if none remain.
bool ControlQueue::PumpChannel(uint32_t index, BurstSink& sink) {
  Channel& channel = state_.channels[index];
  for (uint8_t what = 1; what <= Channel::kRefuse; what = static_cast<uint8_t>(what << 1)) {
    if ((channel.pending & what) == 0) continue;
    if (!Send(index, what, sink)) {
      ++state_.counters.blocked;
      return false;
    }
    channel.pending &= static_cast<uint8_t>(~what);
  }
  if (channel.socket == Channel::kNone && channel.state != Channel::State::kFree &&
      !channel.IsNeeded(state_.now)) {
    state_.channels.Free(index);
  }
  return true;
}

bool ControlQueue::Send(uint32_t index, uint8_t what, BurstSink& sink) {
  Channel& channel = state_.channels[index];
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
      sink.Send({.to = channel.Control(state_.params.control_vc),
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
    channel.at = state_.now +
                 (channel.state == Channel::State::kWaiting ? channel.interval : kProbeInterval);
    state_.WakeAt(channel.at);
  }
  return true;
}

}  // namespace suede::message
