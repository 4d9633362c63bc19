// SPDX-License-Identifier: Apache-2.0
// Requests of the control thread to an lcore, the lcore's replies, and its events: bounded queues,
// so that neither thread ever waits for the other. A full queue of requests refuses the request,
// which its sender learns; an event that finds its queue full is counted (lcore_events_lost_total).
#ifndef SUEDE_LCORE_MAILBOX_H_
#define SUEDE_LCORE_MAILBOX_H_

#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include "base/spsc_ring.h"
#include "lcore/events.h"
#include "path/params.h"
#include "peer/hello_check.h"

namespace suede {

struct ConnectionSnapshot;
struct WaitSnapshot;
struct PathRun;
struct PlaneSnapshot;
struct QueueSnapshot;
struct RecordSnapshot;
struct SegmentShape;
struct ServedWindow;
struct SecretsUpdate;
struct SettingsChange;
struct TraceSnapshot;
class ServedTarget;

// Requests of the control thread. Instances and ports have the pipeline's numbers. Only requests
// that LcoreReplyKind names have a reply.
namespace request {

// Serve the client's segment. The pointers are read before the reply is sent, not after.
struct Attach {
  uint32_t client = 0;
  const uint32_t* queue_instances = nullptr;  // of each queue
  const uint8_t* queue_vc_masks = nullptr;    // VCs that each may send on; nullptr: all
  void* segment = nullptr;
  const SegmentShape* shape = nullptr;
};
// Serve memory requests by `target`, which is attached as a client of its own, without VCs that it
// may not send on. Its windows are not accessed any more once its Detach has been taken.
struct AttachTarget {
  uint32_t client = 0;  // of the target
  uint32_t owner = 0;   // the client that owns the target
  uint32_t instance = 0;
  uint8_t vc_mask = 0;  // VCs that it may send on
  ServedTarget* target = nullptr;
};
// A window of a target; `window` is read before the reply is sent.
struct SetWindow {
  uint32_t client = 0;
  uint32_t id = 0;
  const ServedWindow* window = nullptr;
};
// Deliver the records that the client had handed over, then release its segment.
struct Detach {
  uint32_t client = 0;
};
// Commands for {instance, vc_mask} go to the client.
struct Claim {
  uint8_t vc_mask = 0;
  uint32_t client = 0;
  uint32_t instance = 0;
};
struct Unclaim {
  uint8_t vc_mask = 0;
  uint32_t client = 0;
  uint32_t instance = 0;
};
// Discard the records of the queue that are not packed yet, and start it over.
struct ResetQueue {
  uint16_t queue = 0;  // number within the client
  uint32_t client = 0;
};
// Take no more from a client than its ring holds. The reply is sent once all of these records are
// acknowledged; after that none is taken.
struct Drain {};
// Write connections to `snapshot`; its `done` is the answer.
struct Connections {
  ConnectionSnapshot* snapshot = nullptr;
};
// Write the causes for which commands wait to `snapshot`; its `done` is the answer.
struct Waits {
  WaitSnapshot* snapshot = nullptr;
};
// Write the clients' queues to `snapshot`; its `done` is the answer.
struct Queues {
  QueueSnapshot* snapshot = nullptr;
};
// Write planes to `snapshot`; its `done` is the answer.
struct Planes {
  PlaneSnapshot* snapshot = nullptr;
};
// Write the next piece of an instance's load to `snapshot`; its `done` is the answer.
struct Record {
  RecordSnapshot* snapshot = nullptr;
};
// Begin, end or read the trace of an instance as `snapshot` says; its `done` is the answer.
struct Trace {
  TraceSnapshot* snapshot = nullptr;
};
// Take `settings`; its `done` is the answer. One at a time.
struct ChangeSettings {
  SettingsChange* settings = nullptr;
};
// Frames to `peer` of `instance` on `plane` go to `mac` from now on.
struct SetPeerMac {
  uint32_t instance = 0;
  PeerIndex peer = 0;  // index into InstanceParams::peers
  std::array<uint8_t, 6> mac{};
  PlaneIndex plane = 0;
};
// The MAC address of `peer` on `plane` is unknown: PDUs to `peer` are given up, if no other plane
// leads there, until a SetPeerMac.
struct LosePeer {
  uint32_t instance = 0;
  PeerIndex peer = 0;
  PlaneIndex plane = 0;
};
// Take a port out of the data path or put it back; shows in Pipeline::admin_done.
struct SetPort {
  uint32_t port = 0;
  bool up = false;
};
// Take an instance out of the data path or put it back; shows in Pipeline::admin_done.
struct SetInstance {
  uint32_t instance = 0;
  bool up = false;
};
// Set the state of a plane of an instance with several planes; shows in Pipeline::admin_done.
struct SetPlane {
  uint32_t instance = 0;
  PlaneIndex plane = 0;
  PlaneAdmin plane_admin = PlaneAdmin::kUp;
};
// The weight of `plane` of `instance` for one peer or for all; shows in Pipeline::admin_done.
struct SetWeight {
  static constexpr PeerIndex kAllPeers{~0u};
  uint32_t instance = 0;
  PeerIndex peer = 0;
  PlaneIndex plane = 0;
  uint32_t weight = 1;  // max kMaxPlaneWeight; 0, for one peer: its route is withdrawn
};
// Ping `peer`; shows in Pipeline::ping_board.
struct Ping {
  uint32_t instance = 0;
  PeerIndex peer = 0;
  uint32_t ticket = 0;  // identifies the ping
  uint8_t plane_mask = 0;
};
// Probe the path to a peer as `run` says, which stays until its state is not kRunning. One run of
// an instance at a time.
struct ProbePath {
  uint32_t instance = 0;
  PathRun* run = nullptr;
};

// Seal with these secrets from now on; `update` stays until its `done`.
struct SetSecrets {
  SecretsUpdate* update = nullptr;
  std::optional<uint32_t> only{};  // number of an instance; nullopt: all
};
// Seal only PDUs to `peer` with these secrets, which are newer than the partition's; `update` stays
// until its `done`.
struct SetPeerSecrets {
  uint32_t instance = 0;
  PeerIndex peer = 0;
  SecretsUpdate* update = nullptr;
};
// Begin another epoch with each peer, as soon as it has confirmed the present one.
struct RotateKeys {};

}  // namespace request

using LcoreRequest =
    std::variant<request::Attach, request::AttachTarget, request::SetWindow, request::Detach,
                 request::Claim, request::Unclaim, request::ResetQueue, request::Drain,
                 request::Connections, request::Waits, request::Queues, request::Planes,
                 request::Record, request::Trace, request::ChangeSettings, request::SetPeerMac,
                 request::LosePeer, request::SetPort, request::SetInstance, request::SetPlane,
                 request::SetWeight, request::Ping, request::ProbePath, request::SetSecrets,
                 request::SetPeerSecrets, request::RotateKeys>;
// Requests are copied into a ring and out of it.
static_assert(std::is_trivially_copyable_v<LcoreRequest> && sizeof(LcoreRequest) <= 48);

enum class LcoreStatus : uint8_t {
  kDone,
  kBusy,     // no room for more clients or queues
  kClaimed,  // another client has claimed one of the VCs
  kUnknown,  // no such client, queue, instance or window
};

// The requests that have a reply.
enum class LcoreReplyKind : uint8_t {
  kAttach,
  kDetach,
  kClaim,
  kUnclaim,
  kResetQueue,
  kDrain,
  kSetWindow,
};

struct LcoreReply {
  LcoreReplyKind kind = LcoreReplyKind::kAttach;
  LcoreStatus status = LcoreStatus::kDone;
  uint32_t client = 0;
};

// One per lcore. The control thread pushes requests and pops the rest, the lcore the reverse.
struct Mailbox {
  SpscRing<LcoreRequest, 256> requests;
  SpscRing<LcoreReply, 256> replies;
  EventRing events;
};

}  // namespace suede

#endif  // SUEDE_LCORE_MAILBOX_H_
