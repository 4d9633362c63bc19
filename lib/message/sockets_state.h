// SPDX-License-Identifier: Apache-2.0
// The sockets of an XPU and their channels: the state that senders, receivers and control commands
// share.
#ifndef SUEDE_MESSAGE_SOCKETS_STATE_H_
#define SUEDE_MESSAGE_SOCKETS_STATE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/sue.h"
#include "base/time.h"
#include "message/channel.h"
#include "message/channel_table.h"
#include "message/operations.h"
#include "message/status.h"

namespace suede::message {

// Interval of the first CONNECTs, and minimum interval of a channel's timer.
inline constexpr Duration kFirstRetry = std::chrono::milliseconds(5);
// Interval of the CONNECTs by which a waiting sender checks that its receiver still exists.
inline constexpr Duration kProbeInterval = std::chrono::milliseconds(500);

struct SocketsParams {
  uint16_t own_xpuid = 0;
  uint32_t planes = 1;       // 1 to kMaxPlanes
  uint32_t channels = 1024;  // 1 to kMaxChannels
  uint32_t data_vcs = 4;     // mask, not 0
  uint8_t control_vc = 3;    // not in data_vcs
  uint64_t seed = 0;         // random; seeds the generation of tags
};

struct SocketParams {
  bool is_sender = false;
  bool is_datagram = false;
  bool is_private = false;
  int8_t plane = -1;  // -1: the receiver's XPU modulo the planes
  int8_t vc = -1;     // one of data_vcs; -1: the lowest
  uint16_t id = 0;
  uint32_t epoch = 0;
  uint32_t ring_bytes = 1 << 20;  // of a receiver
  uint32_t operations = 256;      // of a sender: maximum of incomplete operations
};

struct SocketsCounters {
  uint64_t sent_bytes = 0;
  uint64_t sent_commands = 0;  // of DATA
  uint64_t received_bytes = 0;
  uint64_t received_commands = 0;    // of DATA
  uint64_t spilled_bytes = 0;        // part of received_bytes that was buffered in a ring
  uint64_t refused[kRefusals] = {};  // commands, by status, from kFirstRefusal on
  uint64_t stray = 0;                // CREDIT, CLOSED and REFUSE that match no open channel
  uint64_t foreign = 0;              // commands of other classes or lengths
  uint64_t unanswered = 0;           // refusals not sent, as one to the XPU was pending
  uint64_t torn = 0;                 // datagrams that the sender aborted midway
  uint64_t starved = 0;              // times a peer's credit was exhausted
  uint64_t blocked = 0;              // times the daemon's credit or queue was exhausted

  void CountRefused(Status status) { ++refused[static_cast<uint8_t>(status) - kFirstRefusal]; }
};

struct Socket {
  bool is_open = false;
  bool is_closing = false;
  SocketParams params;
  std::vector<uint32_t> channels;
  std::optional<OperationQueue> operations;  // of a sender
  uint8_t* room = nullptr;                   // buffer of OfferBuffer
  uint32_t room_bytes = 0;
  uint32_t filled_bytes = 0;
};

struct SocketsState {
  explicit SocketsState(const SocketsParams& all)
      : params(all), sockets(all.channels), channels(all.channels, all.seed) {}

  // Calls OnTime at `at`, or earlier.
  void WakeAt(Time at) { earliest = std::min(earliest, at); }

  const SocketsParams params;
  std::vector<Socket> sockets;
  ChannelTable channels;
  SocketsCounters counters;
  uint64_t progress = 0;  // received commands, and events for the program
  Time now{};
  Time earliest = kNever;  // when OnTime next has work
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_SOCKETS_STATE_H_
