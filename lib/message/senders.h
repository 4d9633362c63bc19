// SPDX-License-Identifier: Apache-2.0
// The sending sockets of an XPU: operations, DATA and END, and the answers of receivers.
#ifndef SUEDE_MESSAGE_SENDERS_H_
#define SUEDE_MESSAGE_SENDERS_H_

#include <cstdint>

#include "base/time.h"
#include "message/command.h"
#include "message/control_queue.h"
#include "message/operations.h"
#include "message/sockets_state.h"
#include "outbound/burst.h"
#include "outbound/sender_list.h"

namespace suede::message {

// Cost of a DATA of maximum length.
inline constexpr uint32_t kFullCost = CostOf(kDataBytes);

enum class Started : uint8_t { kOk, kInvalid, kNoRoom, kNotConnected, kTooLong, kFailed };

class Senders {
 public:
  Senders(SocketsState* state, ControlQueue* control)
      : state_(*state), control_(*control), list_(state->params.channels) {}

  // Starts to send. `data` must stay valid until the operation is pushed or complete. Writes
  // *result (may be null) when the operation is pushed and when it completes, and stores the
  // operation's number in *number (may be null).
  Started Send(uint32_t socket, const uint8_t* data, uint64_t bytes, Time deadline,
               suede_socket_result* result, uint64_t* number);
  // Returns the operations of a sender; null for a receiver.
  OperationQueue* operations(uint32_t socket) {
    auto& operations = state_.sockets[socket].operations;
    return operations ? &*operations : nullptr;
  }

  // Sends DATA and END, as far as credit permits.
  void Pump(BurstSink& sink);
  bool is_empty() const { return list_.is_empty(); }
  // Schedules an END behind the channel's operations.
  void End(uint32_t index, Status status);
  // Fails a channel of either direction, and what is sent to it.
  void Fail(uint32_t index, Status status);

  void OnAnnounce(const Route& from, const Command& command);
  void OnAccept(const Route& from, const Command& command);
  void OnCredit(const Route& from, const Command& command);
  void OnClosed(const Route& from, const Command& command);
  // The receiver refuses the channel, or a command of it.
  void OnRefused(uint32_t index, const Command& command);
  // Processes the completion of a command. `status` is SUEDE_STATUS_….
  void OnCompletion(uint64_t completion_tag, uint8_t status);
  // Completes the socket's operations whose deadline has passed.
  void ExpireOperations(Socket& socket);
  // Schedules a CONNECT of the channel, if due.
  void OnTime(uint32_t index);

  // Aborts if the state of the channel is inconsistent.
  void CheckInvariants(uint32_t index) const;

 private:
  enum class Pumped : uint8_t { kIdle, kMore, kBlocked };

  void Complete(Socket& socket, uint64_t number, Status status);
  void Update(Socket& socket);
  void Expire(Socket& socket, uint64_t number);
  Pumped PumpChannel(uint32_t index, BurstSink& sink);
  Pumped SendData(uint32_t index, Socket& socket, BurstSink& sink, uint32_t* budget);
  Pumped SendEnd(uint32_t index, BurstSink& sink);
  bool Waits(const Channel& channel) const;
  void ScheduleProbe(Channel& channel);

  SocketsState& state_;
  ControlQueue& control_;
  SenderList list_;  // channels with DATA or END to send
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_SENDERS_H_
