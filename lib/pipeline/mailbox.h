// SPDX-License-Identifier: Apache-2.0
// What the control thread asks of an lcore, what the lcore answers, and what it tells of its own
// accord: bounded queues, so that neither ever waits for the other. A full queue is a refusal that
// the asker sees; of what it tells, a counter (lcore_events_lost_total).
#ifndef SUEDE_PIPELINE_MAILBOX_H_
#define SUEDE_PIPELINE_MAILBOX_H_

#include <array>
#include <cstdint>

#include "base/spsc_ring.h"

namespace suede {

struct ConnectionSnapshot;
struct PlaneSnapshot;
struct QueueSnapshot;
struct SegmentShape;
struct SettingsChange;

enum class LcoreRequestKind : uint8_t {
  kAttach,      // serve the client's segment: `segment`, `shape`, and the instance of each queue
  kDetach,      // deliver what it had handed over, then forget the segment
  kClaim,       // commands for {instance, vc_mask} go to the client
  kUnclaim,
  kResetQueue,  // discard what was not packed and start `queue` over
  kDrain,       // take no more from a client than its ring holds; answered once all of it is
                // acknowledged, and from then on take nothing
  kSnapshot,    // write connections to `snapshot`; has no reply but its `done`
  kSettings,    // take `settings`; no reply but its `done`; one at a time
  kSetPeerMac,  // frames to `peer` of `instance` on `plane` go to `mac` from now on; has no reply
  kLosePeer,    // nobody knows that MAC address: what is for `peer` is given up, where no other
                // plane leads there, until kSetPeerMac; has no reply
  kQueues,      // write the clients' queues to `queues`; has no reply but its `done`
  kSetPort,     // take `port` out of the data path or back into it; shows in Pipeline::admin_done
  kSetInstance, // `instance` likewise
  kSetPlane,    // `plane` of `instance`, one of several, is set `plane_admin`; shows there, too
  kSetWeight,   // `weight` of `plane` of `instance` for `peer`, or for all of them; shows there
  kPlanes,      // write planes to `planes`; has no reply but its `done`
  kPing,        // ask `peer` of `instance` on `plane_mask`; shows in Pipeline::ping_board
};

// How an operator has set a plane.
enum class PlaneAdmin : uint8_t {
  kUp,
  kDrain,  // what is in flight there may end, nothing new begins
  kDown,
};

struct LcoreRequest {
  LcoreRequestKind kind = LcoreRequestKind::kAttach;
  uint8_t vc_mask = 0;
  uint16_t queue = 0;     // kResetQueue: number within the client
  uint32_t client = 0;
  uint32_t instance = 0;  // the pipeline's number
  uint32_t peer = 0;      // index into InstanceParams::peers
  std::array<uint8_t, 6> mac{};
  uint32_t port = 0;      // kSetPort: the pipeline's number
  bool up = false;        // kSetPort, kSetInstance
  uint32_t plane = 0;     // kSetPeerMac, kLosePeer, kSetPlane, kSetWeight
  PlaneAdmin plane_admin = PlaneAdmin::kUp;
  uint32_t weight = 1;    // kSetWeight: 1 to 65535
  uint32_t ticket = 0;    // kPing: names the question
  uint8_t plane_mask = 0; // kPing
  const uint32_t* queue_instances = nullptr;  // kAttach: of each queue; read before the answer
  const uint8_t* queue_vc_masks = nullptr;    // kAttach: what each may send on; nullptr: all VCs
  void* segment = nullptr;
  const SegmentShape* shape = nullptr;  // read before the answer is sent, not after
  ConnectionSnapshot* snapshot = nullptr;
  SettingsChange* settings = nullptr;
  QueueSnapshot* queues = nullptr;
  PlaneSnapshot* planes = nullptr;

  static constexpr uint32_t kAllPeers = ~0u;
};

enum class LcoreStatus : uint8_t {
  kDone,
  kBusy,     // no room for more clients or queues
  kClaimed,  // another client has claimed one of the VCs
  kUnknown,  // no such client, queue or instance
};

struct LcoreReply {
  LcoreRequestKind kind = LcoreRequestKind::kAttach;
  LcoreStatus status = LcoreStatus::kDone;
  uint16_t queue = 0;
  uint32_t client = 0;
};

// What an lcore alone learns and an operator wants to know at once.
enum class LcoreEventKind : uint8_t {
  kPeerReset,        // the peer has restarted
  kPeerUnreachable,  // it does not answer: what was in flight to it was given up
  kPeerReachable,    // it answers again
  kHelloMismatch,    // its HELLO does not agree with ours in `what`; told once until it does
  kPlaneUp,          // the plane to the peer carries traffic
  kPlaneDown,        // it does not any longer: `what`
  kQueueBroken,      // a client's indices were nonsense: its queue is served no more
  kTxError,          // a command came with the error mark (tx_err); of a queue each 100 ms at most
  kHeldUp,           // nothing leaves the device of the plane's port
  kFenceOpened,      // PDUs of the plane to the peer are in doubt, and the peer is asked for them
};

// What a HELLO must agree in (docs/control-pdus.md).
enum class HelloMismatch : uint8_t { kNone, kPsnScope, kWindowPdus, kPackLimitBytes, kSessions };

struct LcoreEvent {
  static constexpr uint8_t kAllVcs = 0xff;
  LcoreEventKind kind = LcoreEventKind::kPeerReset;
  uint8_t vc = kAllVcs;     // of the connection, where PSNs are counted for each VC
  uint8_t plane = 0;        // kPlaneUp, kPlaneDown, kFenceOpened, kHeldUp
  uint8_t what = 0;         // kPlaneDown: a PlaneDownReason; kHelloMismatch: a HelloMismatch
  uint16_t peer_xpuid = 0;
  uint16_t queue = 0;       // kQueueBroken, kTxError: number within the client
  uint32_t instance = 0;    // the pipeline's number
  uint32_t client = 0;      // kQueueBroken, kTxError
  uint32_t own = 0;         // kHelloMismatch: the two values
  uint32_t theirs = 0;
};

// One per lcore. The control thread pushes requests and pops the rest, the lcore the reverse.
struct Mailbox {
  SpscRing<LcoreRequest, 256> requests;
  SpscRing<LcoreReply, 256> replies;
  SpscRing<LcoreEvent, 1024> events;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_MAILBOX_H_
