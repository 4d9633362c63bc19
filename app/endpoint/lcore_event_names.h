// SPDX-License-Identifier: Apache-2.0
// Public names of lcore events.
#ifndef SUEDE_APP_ENDPOINT_LCORE_EVENT_NAMES_H_
#define SUEDE_APP_ENDPOINT_LCORE_EVENT_NAMES_H_

#include <iterator>
#include <string_view>

#include "lcore/events.h"
#include "mgmt/events.h"
#include "path/plane_session.h"

namespace suede {

inline EventKind KindOf(LcoreEventKind kind) {
  using enum EventKind;
  // In the order of LcoreEventKind; an event of a queue becomes client_error.
  constexpr EventKind kKinds[] = {
      kPeerReset,     kPeerUnreachable, kPeerReachable, kHelloMismatch,    kPeerPlaneUp,
      kPeerPlaneDown, kClientError,     kClientError,   kTxHeldUp,         kPeerFence,
      kPfcStorm,      kPfcUndrained,    kSessionOpened, kSessionMoved,     kSessionStalled,
      kSessionClosed, kSealMismatch,    kMalformedPdu,  kCongestionNoGrant};
  static_assert(std::size(kKinds) == static_cast<size_t>(LcoreEventKind::kNoGrant) + 1);
  return kKinds[static_cast<size_t>(kind)];
}

// Whether the event is about a plane to a peer, or a session there.
inline bool IsOfPlane(LcoreEventKind kind) {
  return kind == LcoreEventKind::kPlaneUp || kind == LcoreEventKind::kPlaneDown ||
         kind == LcoreEventKind::kFenceOpened || kind == LcoreEventKind::kHeldUp ||
         kind == LcoreEventKind::kNoGrant || IsOfSession(kind);
}

inline std::string_view NameOf(PlaneDownReason reason) {
  constexpr std::string_view kNames[] = {"silence", "timeouts", "link",        "peer",
                                         "fence",   "admin",    "unreachable", "paused"};
  return kNames[static_cast<size_t>(reason)];
}

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_LCORE_EVENT_NAMES_H_
