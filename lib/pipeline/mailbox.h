// What the control thread asks of an lcore, and what the lcore answers: two bounded queues, so that
// neither ever waits for the other. A full queue is a refusal that the asker sees.
#ifndef SUEDE_PIPELINE_MAILBOX_H_
#define SUEDE_PIPELINE_MAILBOX_H_

#include <array>
#include <cstdint>

#include "base/spsc_ring.h"

namespace suede {

struct ConnectionSnapshot;
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
};

struct LcoreRequest {
  LcoreRequestKind kind = LcoreRequestKind::kAttach;
  uint8_t vc_mask = 0;
  uint16_t queue = 0;     // kResetQueue: number within the client
  uint32_t client = 0;
  uint32_t instance = 0;  // kClaim, kUnclaim, kSetPeerMac: the pipeline's number
  uint32_t peer = 0;      // index into InstanceParams::peers
  std::array<uint8_t, 6> mac{};
  const uint32_t* queue_instances = nullptr;  // kAttach: of each queue; read before the answer
  void* segment = nullptr;
  const SegmentShape* shape = nullptr;  // read before the answer is sent, not after
  ConnectionSnapshot* snapshot = nullptr;
  SettingsChange* settings = nullptr;
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

// One per lcore. The control thread pushes requests and pops replies, the lcore the reverse.
struct Mailbox {
  SpscRing<LcoreRequest, 256> requests;
  SpscRing<LcoreReply, 256> replies;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_MAILBOX_H_
