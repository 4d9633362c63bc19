// SPDX-License-Identifier: Apache-2.0
// Events that an lcore emits to the control thread: a bounded queue. An event that finds the queue
// full is only counted (lcore_events_lost_total); the lcore never waits.
#ifndef SUEDE_LCORE_EVENTS_H_
#define SUEDE_LCORE_EVENTS_H_

#include <cstdint>

#include "base/coordinates.h"
#include "base/spsc_ring.h"
#include "base/time.h"
#include "base/token_bucket.h"
#include "stats/counters.h"

namespace suede {

struct Instance;

// Facts that only an lcore learns and an operator needs to know at once.
enum class LcoreEventKind : uint8_t {
  kPeerReset,        // the peer has restarted
  kPeerUnreachable,  // the peer does not answer: PDUs in flight to it were given up
  kPeerReachable,    // the peer answers again
  kHelloMismatch,    // its HELLO does not agree with ours in `what`; emitted once until they agree
  kPlaneUp,          // the plane to the peer carries traffic
  kPlaneDown,        // the plane to the peer carries no traffic any longer: `what`
  kQueueBroken,      // a client's indices were invalid: its queue is no longer served
  kTxError,          // a command had the error mark (tx_err); max one per queue and 100 ms
  kHeldUp,           // no frame leaves the device of the plane's port
  kFenceOpened,      // PDUs of the plane to the peer are in doubt, and a FENCE was sent
  kPfcStorm,         // PDUs have waited too long for the end of a pause of the plane's port: `what`
                     // is a mask of flows (link/pauses.h)
  kPfcUndrained,     // the VC does not drain, and neighbours are no longer paused for it
  kSessionOpened,    // of the plane to the peer: `what` is a slot (docs/sessions.md)
  kSessionMoved,     // the same
  kSessionStalled,   // the same
  kSessionClosed,    // the same
  kSealMismatch,     // one end seals PDUs, and the other does not: `own` is a SealMode, `theirs`
                     // whether the peer seals
  kMalformed,        // the commands of a PDU of the peer do not parse
  kNoGrant,          // the peer grants no requested sending credit on the plane
};

// Whether the event is about a session: `what` is its slot. There may be thousands of events of
// sessions.
constexpr bool IsOfSession(LcoreEventKind kind) {
  return kind == LcoreEventKind::kSessionOpened || kind == LcoreEventKind::kSessionMoved ||
         kind == LcoreEventKind::kSessionStalled || kind == LcoreEventKind::kSessionClosed;
}

struct LcoreEvent {
  static constexpr uint8_t kAllVcs = 0xff;
  LcoreEventKind kind = LcoreEventKind::kPeerReset;
  uint8_t vc = kAllVcs;  // of the connection, if PSNs are counted for each VC
  uint8_t plane = 0;     // of events that concern a plane
  uint8_t what = 0;      // kPlaneDown: a PlaneDownReason; kHelloMismatch: a HelloMismatch
  uint16_t peer_xpuid = 0;
  uint16_t queue = 0;     // kQueueBroken, kTxError: number within the client
  uint32_t instance = 0;  // the pipeline's number
  uint32_t client = 0;    // kQueueBroken, kTxError
  uint32_t own = 0;       // kHelloMismatch: the two values
  uint32_t theirs = 0;
};

inline constexpr uint32_t kEventRingItems = 1024;
using EventRing = SpscRing<LcoreEvent, kEventRingItems>;

// The lcore's end of the queue.
class Events {
 public:
  // Both arguments outlive this object.
  Events(EventRing& ring, CounterBlock& counters) : ring_(ring), counters_(counters) {}

  // Emits the event. Events of sessions leave half of the queue to others.
  void Emit(const LcoreEvent& event);
  // Emits an event of a connection of the instance; `connection`: its number.
  void Emit(LcoreEventKind kind, const Instance& instance, ConnectionIndex connection);
  // Emits an event of a plane to a peer.
  void EmitPlane(LcoreEventKind kind, const Instance& instance, PeerIndex peer, PlaneIndex plane,
                 uint8_t what);
  // A PDU of the peer is sealed and the instance does not seal, or the reverse. Forged frames may
  // cause this, so only a few events per second are emitted.
  void EmitSealMismatch(const Instance& instance, PeerIndex peer, bool theirs, Time now);
  // The commands of a PDU of the peer do not parse. Emits only a few events per second.
  void EmitMalformed(const Instance& instance, PeerIndex peer, uint8_t vc, Time now);

 private:
  TokenBucket sealing_{1, 8};
  TokenBucket malformed_{1, 8};
  EventRing& ring_;
  CounterBlock& counters_;
};

}  // namespace suede

#endif  // SUEDE_LCORE_EVENTS_H_
