// SPDX-License-Identifier: Apache-2.0
// An operator's question to a peer, whether it answers and how soon: the lcore's state of it, and
// the board that shows it to the asker. One question at a time for each instance.
#ifndef SUEDE_LCORE_PING_H_
#define SUEDE_LCORE_PING_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "base/coordinates.h"
#include "base/time.h"
#include "peer/hello_check.h"
#include "peer/peer_paths.h"
#include "wire/control_pdu.h"

namespace suede {

// The outcome of the question on one plane.
enum class PingState : uint8_t {
  kNotAsked,  // the plane does not lead to the peer, or was not meant
  kDown,      // an operator has set the port, the plane or the instance down
  kNoLink,
  kNoMac,          // the peer's MAC address is not known yet
  kNoRoom,         // nothing could be staged: the port is full
  kAsked,          // no answer so far
  kAnswered,       // by a HELLO
  kAnsweredProbe,  // by a NACK: the peer speaks no HELLO, or not yet
  kAcknowledges,   // the peer is plain and acknowledges PDUs in flight: it was not asked
};

// Written by the lcore, read by the control thread.
struct PingBoard {
  struct Plane {
    std::atomic<PingState> state{PingState::kNotAsked};         // stored last, with release
    std::atomic<int64_t> rtt_ns{0};                             // kAcknowledges: the smoothed one
    std::atomic<HelloMismatch> mismatch{HelloMismatch::kNone};  // of kAnswered
    std::atomic<uint32_t> own{0};
    std::atomic<uint32_t> theirs{0};
  };
  std::atomic<uint32_t> ticket{0};  // of the question that the rest is about; stored with release
  std::array<Plane, kMaxPlanes> planes;
};

// The lcore's own part.
struct Ping {
  PeerIndex peer = 0;
  PlaneMask hello = 0;  // planes on which an answer to a HELLO is waited for
  PlaneMask probe = 0;  // and to a probe
  std::array<uint64_t, kMaxPlanes> nonces{};
  std::array<Time, kMaxPlanes> asked_at{};
  PingBoard board;

  // Whether a HELLO of the peer answers the question: each does once. `own`: our HELLO.
  bool TakeAnswer(uint32_t from, const Hello& own, const Hello& theirs, Time now);
  // A NACK of the peer: the answer to a probe, if one was sent.
  void OnNack(uint32_t from, PlaneIndex plane, Time now);
};

}  // namespace suede

#endif  // SUEDE_LCORE_PING_H_
