// SPDX-License-Identifier: Apache-2.0
// Control commands to be sent: those that channels owe their peers, and REFUSEs of commands without
// a channel.
#ifndef SUEDE_MESSAGE_CONTROL_QUEUE_H_
#define SUEDE_MESSAGE_CONTROL_QUEUE_H_

#include <cstdint>

#include "message/command.h"
#include "message/refusals.h"
#include "message/sockets_state.h"
#include "outbound/burst.h"
#include "outbound/sender_list.h"

namespace suede::message {

class ControlQueue {
 public:
  explicit ControlQueue(SocketsState* state)
      : state_(*state), list_(state->params.channels), refusals_(state->params.planes) {}

  // Schedules control commands of the channel. `what`: bits of Channel::Pending.
  void Schedule(uint32_t index, uint8_t what) {
    state_.channels[index].pending |= what;
    list_.Append(index);
  }
  bool Contains(uint32_t index) const { return list_.Contains(index); }
  bool is_empty() const { return list_.is_empty(); }
  // Schedules the refusal of a received command.
  void Refuse(const Route& from, const Command& command, uint32_t tag, Status status) {
    state_.counters.CountRefused(status);
    if (!refusals_.Add(from, command, tag, status)) ++state_.counters.unanswered;
  }
  Refusals& refusals() { return refusals_; }
  const Refusals& refusals() const { return refusals_; }

  // Sends the scheduled commands, as far as credit permits.
  void Pump(BurstSink& sink);

 private:
  bool PumpChannel(uint32_t index, BurstSink& sink);
  bool Send(uint32_t index, uint8_t what, BurstSink& sink);

  SocketsState& state_;
  SenderList list_;
  Refusals refusals_;
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_CONTROL_QUEUE_H_
