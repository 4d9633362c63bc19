// SPDX-License-Identifier: Apache-2.0
// Public names of lcore events.
#ifndef SUEDE_APP_ENDPOINT_LCORE_EVENT_NAMES_H_
#define SUEDE_APP_ENDPOINT_LCORE_EVENT_NAMES_H_

#include <string_view>

#include "lcore/events.h"
#include "mgmt/events.h"
#include "peer/plane_session.h"

namespace suede {

inline EventKind KindOf(LcoreEventKind kind) {
  switch (kind) {
    case LcoreEventKind::kPeerReset:
      return EventKind::kPeerReset;
    case LcoreEventKind::kPeerUnreachable:
      return EventKind::kPeerUnreachable;
    case LcoreEventKind::kPeerReachable:
      return EventKind::kPeerReachable;
    case LcoreEventKind::kHelloMismatch:
      return EventKind::kHelloMismatch;
    case LcoreEventKind::kPlaneUp:
      return EventKind::kPeerPlaneUp;
    case LcoreEventKind::kPlaneDown:
      return EventKind::kPeerPlaneDown;
    case LcoreEventKind::kFenceOpened:
      return EventKind::kPeerFence;
    case LcoreEventKind::kHeldUp:
      return EventKind::kTxHeldUp;
    case LcoreEventKind::kPfcStorm:
      return EventKind::kPfcStorm;
    case LcoreEventKind::kPfcUndrained:
      return EventKind::kPfcUndrained;
    case LcoreEventKind::kSessionOpened:
      return EventKind::kSessionOpened;
    case LcoreEventKind::kSessionMoved:
      return EventKind::kSessionMoved;
    case LcoreEventKind::kSessionStalled:
      return EventKind::kSessionStalled;
    case LcoreEventKind::kSessionClosed:
      return EventKind::kSessionClosed;
    case LcoreEventKind::kSealMismatch:
      return EventKind::kSealMismatch;
    case LcoreEventKind::kMalformed:
      return EventKind::kMalformedPdu;
    case LcoreEventKind::kNoGrant:
      return EventKind::kCongestionNoGrant;
    case LcoreEventKind::kTxError:
    case LcoreEventKind::kQueueBroken:
      break;
  }
  return EventKind::kClientError;
}

// Whether the event is about a plane to a peer, or a session there.
inline bool IsOfPlane(LcoreEventKind kind) {
  return kind == LcoreEventKind::kPlaneUp || kind == LcoreEventKind::kPlaneDown ||
         kind == LcoreEventKind::kFenceOpened || kind == LcoreEventKind::kHeldUp ||
         kind == LcoreEventKind::kNoGrant || IsOfSession(kind);
}

inline std::string_view NameOf(PlaneDownReason reason) {
  switch (reason) {
    case PlaneDownReason::kSilence:
      return "silence";
    case PlaneDownReason::kTimeouts:
      return "timeouts";
    case PlaneDownReason::kLink:
      return "link";
    case PlaneDownReason::kPeer:
      return "peer";
    case PlaneDownReason::kFence:
      return "fence";
    case PlaneDownReason::kAdmin:
      return "admin";
    case PlaneDownReason::kPaused:
      return "paused";
    case PlaneDownReason::kUnreachable:
      break;
  }
  return "unreachable";
}

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_LCORE_EVENT_NAMES_H_
