// SPDX-License-Identifier: Apache-2.0
// A channel: one direction between a socket and one peer. A send socket has one per target, a
// receive socket exactly one.
#ifndef SUEDE_MESSAGE_CHANNEL_H_
#define SUEDE_MESSAGE_CHANNEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/sue.h"
#include "base/time.h"
#include "message/command.h"
#include "message/spill_ring.h"
#include "outbound/burst.h"
#include "outbound/completion_interval.h"

namespace suede::message {

inline constexpr uint32_t kMaxPlanes = 16;
inline constexpr uint16_t kAnyXpu = kMaxXpus;  // receive socket without a peer yet

// The name by which both ends match a channel. Key() packs it into an ordered integer with the
// epoch in the low bits: names that differ only in the epoch are adjacent.
struct Name {
  bool is_sender = false;
  uint8_t plane = 0;
  uint16_t xpuid = 0;  // the peer, or kAnyXpu
  uint16_t id = 0;
  uint32_t epoch = 0;
  uint64_t Key() const {
    return uint64_t{is_sender} << 63 | uint64_t{plane} << 59 | uint64_t{xpuid} << 48 |
           uint64_t{id} << 32 | epoch;
  }
};

struct Channel {
  enum class State : uint8_t {
    kFree,
    kWaiting,  // for the peer
    kConnected,
    kEnding,  // sender: END sent, CLOSED not received
    kEnded,   // sender: CLOSED received; receiver: END received
    kFailed,  // `status` has the reason
  };
  // Pending control commands, as bits.
  enum Pending : uint8_t {
    kConnect = 1,
    kAnnounce = 2,
    kAccept = 4,
    kCredit = 8,
    kClosed = 16,
    kRefuse = 32,
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  bool IsOpen() const { return state != State::kFree && state != State::kFailed; }
  // Whether a released channel still has pending commands, and its linger time has not elapsed.
  bool IsNeeded(Time now) const { return (pending != 0 || end_is_pending) && now < at; }
  // Returns false if it is not open.
  bool Fail(Status why) {
    if (!IsOpen()) return false;
    state = State::kFailed;
    status = why;
    pending = 0;
    end_is_pending = false;
    return true;
  }
  // The receiver has read everything up to the position.
  void Acknowledge(uint64_t position) {
    acknowledged = position;
    while (acknowledged_operations < operation &&
           ends[acknowledged_operations % ends.size()] <= position) {
      ++acknowledged_operations;
    }
  }
  // Everything of the operation has been sent that will be.
  void EndOperation() {
    ends[operation % ends.size()] = sent;
    ++operation;
    operation_bytes = 0;
    // Acknowledges an operation of which nothing was sent, or everything is acknowledged.
    Acknowledge(acknowledged);
  }
  Route Control(uint8_t vc) const { return {.xpuid = name.xpuid, .plane = name.plane, .vc = vc}; }

  State state = State::kFree;
  Status status = Status::kPending;  // why it failed; while kWaiting, why it is not connected
  uint8_t pending = 0;
  bool end_is_pending = false;
  Status end_status = Status::kOk;  // of the pending END
  Name name;
  Traits traits;
  uint32_t socket = kNone;  // kNone: released, kept until its pending commands are sent
  uint32_t tag = 0;
  uint32_t peer_tag = 0;  // valid once connected
  uint32_t number = 0;    // sequence number of the next DATA or END
  Time at{};              // of the next CONNECT; once released: when the channel is freed
  Duration interval{};    // between CONNECTs
  bool connect_is_in_flight = false;

  // ---- For a sender. Positions are cumulative costs (CostOf).
  uint64_t sent = 0;
  uint64_t limit = 0;  // upper bound of `sent`
  uint64_t acknowledged = 0;
  uint32_t window_bytes = 0;     // size of the peer's ring
  uint64_t operation = 0;        // number of the operation being sent
  uint64_t operation_bytes = 0;  // sent bytes of that operation
  uint64_t acknowledged_operations = 0;
  std::vector<uint64_t> ends;  // position of each operation's end, by number modulo the size
  CompletionInterval completions;
  bool has_delivered = false;  // the receiver closed after reading everything

  // ---- For a receiver.
  std::unique_ptr<SpillRing> ring;
  uint64_t granted = 0;  // limit last sent to the sender
  uint32_t taken = 0;    // once released: cost of the data read, modulo 2^32
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_CHANNEL_H_
