// SPDX-License-Identifier: Apache-2.0
// The receiving sockets of an XPU: CONNECT, DATA and END, and the program's reads.
#ifndef SUEDE_MESSAGE_RECEIVERS_H_
#define SUEDE_MESSAGE_RECEIVERS_H_

#include <cstdint>

#include "message/command.h"
#include "message/control_queue.h"
#include "message/sockets_state.h"

namespace suede::message {

enum class Got : uint8_t { kOctets, kNothing, kEnd, kTooLong, kFailed, kInvalid };

class Receivers {
 public:
  Receivers(SocketsState* state, ControlQueue* control) : state_(*state), control_(*control) {}

  // Copies up to `max` octets of a stream, or one datagram, to `room`. *bytes: the number copied;
  // for kTooLong the length of the datagram, which stays queued.
  Got Receive(uint32_t socket, uint8_t* room, uint32_t max, uint32_t* bytes);
  // Offers a buffer that receives a stream's octets directly, until WithdrawBuffer. Returns false,
  // and does nothing, for a datagram socket, if octets are queued, or if a buffer is already
  // offered.
  bool OfferBuffer(uint32_t socket, uint8_t* room, uint32_t max);
  // Octets written to the offered buffer so far.
  uint32_t Filled(uint32_t socket) const { return state_.sockets[socket].filled_bytes; }
  // Withdraws the offered buffer. Returns the number of octets written to it.
  uint32_t WithdrawBuffer(uint32_t socket);

  void OnConnect(const Route& from, const Command& command);
  void OnData(const Route& from, const Command& command);
  void OnEnd(const Route& from, const Command& command);
  // The sender refuses the channel's commands.
  void OnRefused(Channel& channel);

 private:
  uint32_t Find(const Route& from, const Command& command);
  void Fail(Channel& channel, Status status);
  void FailData(uint32_t index, Status status);
  void Place(uint32_t index, const Command& command);
  void OnReleased(uint32_t index);

  SocketsState& state_;
  ControlQueue& control_;
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_RECEIVERS_H_
