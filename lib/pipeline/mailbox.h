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
  kSetPeerMac,  // frames to `peer` of `instance` go to `mac` from now on; has no reply
  kLosePeer,    // nobody knows that MAC address: what is for `peer` is given up, until kSetPeerMac;
                // has no reply
  kQueues,      // write the clients' queues to `queues`; has no reply but its `done`
  kSetPort,     // take `port` out of the data path or back into it; shows in Pipeline::admin_done
  kSetInstance, // `instance` likewise
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
  const uint32_t* queue_instances = nullptr;  // kAttach: of each queue; read before the answer
  void* segment = nullptr;
  const SegmentShape* shape = nullptr;  // read before the answer is sent, not after
  ConnectionSnapshot* snapshot = nullptr;
  SettingsChange* settings = nullptr;
  QueueSnapshot* queues = nullptr;
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
  kHelloMismatch,    // it speaks with another PSN scope; told once until it does not
  kQueueBroken,      // a client's indices were nonsense: its queue is served no more
};

struct LcoreEvent {
  static constexpr uint8_t kAllVcs = 0xff;
  LcoreEventKind kind = LcoreEventKind::kPeerReset;
  uint8_t vc = kAllVcs;     // of the connection, where PSNs are counted for each VC
  uint16_t peer_xpuid = 0;
  uint16_t queue = 0;       // kQueueBroken: number within the client
  uint32_t instance = 0;    // the pipeline's number
  uint32_t client = 0;      // kQueueBroken
};

// One per lcore. The control thread pushes requests and pops the rest, the lcore the reverse.
struct Mailbox {
  SpscRing<LcoreRequest, 256> requests;
  SpscRing<LcoreReply, 256> replies;
  SpscRing<LcoreEvent, 1024> events;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_MAILBOX_H_
