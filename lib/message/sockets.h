// SPDX-License-Identifier: Apache-2.0
// Message sockets of an XPU (docs/sockets.md).
//
// The caller passes in calls, received commands, completions and the time; commands go to a sink.
// The class reads no clock and performs no I/O. Only the constructor and Open allocate memory. Not
// thread-safe: one thread at a time may call.
#ifndef SUEDE_MESSAGE_SOCKETS_H_
#define SUEDE_MESSAGE_SOCKETS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "message/channel.h"
#include "message/control_queue.h"
#include "message/receivers.h"
#include "message/senders.h"
#include "message/sockets_state.h"
#include "message/status.h"
#include "outbound/burst.h"

namespace suede::message {

enum class Opened : uint8_t { kOk, kInvalid, kNoRoom, kExists, kBusy };

class Sockets {
 public:
  explicit Sockets(const SocketsParams& params);
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  // Opens a socket to `peers` and schedules its connection setup. A receiver has one peer, or
  // kAnyXpu.
  Opened Open(const SocketParams& params, std::span<const uint16_t> peers, uint32_t* socket);
  // The sending and the receiving of open sockets.
  Senders& senders() { return senders_; }
  Receivers& receivers() { return receivers_; }

  // kPending: the socket waits for a peer. kOk: connected or ended. Otherwise the status of the
  // first failed peer.
  Status StatusOf(uint32_t socket) const;
  // Status of a closed sender. A peer that closed first counts as successful if it had read
  // everything.
  Status OutcomeOf(uint32_t socket) const;
  // Status of one peer. While it is not connected: kPending, or why it does not accept.
  Status PeerStatus(uint32_t socket, uint32_t peer) const;
  const Channel& PeerOf(uint32_t socket, uint32_t peer) const {
    return state_.channels[state_.sockets[socket].channels[peer]];
  }
  uint32_t PeerCount(uint32_t socket) const {
    return static_cast<uint32_t>(state_.sockets[socket].channels.size());
  }

  // Starts to close; a sender sends END behind its operations. IsClosed reports the end.
  void Close(uint32_t socket);
  // Whether close is complete: every peer has confirmed the END or has failed.
  bool IsClosed(uint32_t socket) const;
  // Frees the socket; `socket` becomes invalid. Notifies the peers of a socket that is not closed.
  void Release(uint32_t socket);

  // Sends pending commands, as far as credit permits.
  void Pump(BurstSink& sink);
  // Whether Pump has commands to send.
  bool HasUnsent() const { return !senders_.is_empty() || !control_.is_empty(); }
  void OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                 const uint8_t* data, uint32_t data_bytes);
  // Sets the time, for the calls that follow. Expires operations and channels, and schedules
  // CONNECTs.
  void OnTime(Time now);
  // Fails the channels of a plane whose daemon has gone.
  void OnPlaneLost(uint32_t plane);

  uint32_t free_channels() const { return state_.channels.free(); }
  const SocketsCounters& counters() const { return state_.counters; }
  // Changes with each valid received command, and each operation that is pushed or completes.
  uint64_t progress() const { return state_.progress; }

  // Aborts if the state is inconsistent; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  uint32_t OpenChannel(uint32_t socket, const Name& name, const Traits& traits);
  void LetGo(uint32_t index);
  void OnRefuse(const Route& from, const Command& command);

  SocketsState state_;
  ControlQueue control_;
  Senders senders_;
  Receivers receivers_;
  std::vector<uint32_t> free_sockets_;
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_SOCKETS_H_
