// SPDX-License-Identifier: Apache-2.0
// An operator's ping of a peer: the lcore's state of the ping, and the board that publishes its
// outcome. One ping at a time for each instance.
#ifndef SUEDE_LCORE_PING_H_
#define SUEDE_LCORE_PING_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "base/coordinates.h"
#include "base/time.h"
#include "path/peer_paths.h"
#include "peer/hello_check.h"
#include "wire/control_pdu.h"

namespace suede {

// The outcome of the ping on one plane.
enum class PingState : uint8_t {
  kNotAsked,  // the plane does not lead to the peer, or was not requested
  kDown,      // an operator has set the port, the plane or the instance down
  kNoLink,
  kNoMac,          // the peer's MAC address is not known yet
  kNoRoom,         // the PDU could not be staged: the port is full
  kAsked,          // no answer so far
  kAnswered,       // by a HELLO
  kAnsweredProbe,  // by a NACK: the peer speaks no HELLO, or not yet
  kAcknowledges,   // the peer is plain and acknowledges PDUs in flight: no probe was sent
};

// Written by the lcore, read by the control thread.
struct PingBoard {
  struct Plane {
    std::atomic<PingState> state{PingState::kNotAsked};         // stored last, with release
    std::atomic<int64_t> rtt_ns{0};                             // kAcknowledges: the smoothed round
                                                                // trip
    std::atomic<HelloMismatch> mismatch{HelloMismatch::kNone};  // of kAnswered
    std::atomic<uint32_t> own{0};
    std::atomic<uint32_t> theirs{0};
  };
  std::atomic<uint32_t> ticket{0};  // of the ping with this outcome; stored with release
  std::array<Plane, kMaxPlanes> planes;
};

// The lcore's own part.
struct Ping {
  PeerIndex peer = 0;
  PlaneMask hello = 0;  // planes on which an answer to a HELLO is awaited,
  PlaneMask probe = 0;  // and to a probe
  std::array<uint64_t, kMaxPlanes> nonces{};
  std::array<Time, kMaxPlanes> asked_at{};
  PingBoard board;

  // Takes a HELLO of the peer. Returns whether it answers the ping; each HELLO does so once. `own`:
  // our HELLO.
  bool TakeAnswer(uint32_t from, const Hello& own, const Hello& theirs, Time now);
  // A NACK of the peer: the answer to a probe, if one was sent.
  void OnNack(uint32_t from, PlaneIndex plane, Time now);
};

}  // namespace suede

#endif  // SUEDE_LCORE_PING_H_
