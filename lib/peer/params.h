// SPDX-License-Identifier: Apache-2.0
// The configuration of the planes of an instance (docs/planes.md).
#ifndef SUEDE_PEER_PARAMS_H_
#define SUEDE_PEER_PARAMS_H_

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace suede {

inline constexpr uint32_t kMaxPlanes = 4;
// Sessions of a {peer, plane}; and connections of a peer at most, over its planes, sessions and
// VCs.
inline constexpr uint32_t kMaxSessions = 64;
inline constexpr uint32_t kMaxPeerConnections = 64;

// SUE framework §1.2.
enum class Ordering : uint8_t {
  kStrict,     // all PDUs of a flow take one plane, each VC in order
  kUnordered,  // each PDU takes the plane with the most bandwidth left
};

// How an operator has set a plane.
enum class PlaneAdmin : uint8_t {
  kUp,
  kDrain,  // PDUs in flight there may end, nothing new begins
  kDown,
};

// Session groups (docs/sessions.md).
struct SessionParams {
  Duration interval = std::chrono::milliseconds(1);  // max time between looks at weights
  uint32_t open_percent =
      150;  // of the weight of a session without congestion: all above, one more
  uint32_t move_percent = 400;   // of the weight of the best one: such a session moves
  uint32_t idle_intervals = 10;  // in which all are far below: one less
  uint32_t stall_timeouts = 2;   // in a row, after which a session moves
  Duration max_age{};            // 0: no limit
};

struct PathParams {
  Ordering ordering = Ordering::kStrict;
  bool measures = false;  // the measured rates of planes count in their weights
  Duration hello_interval = std::chrono::milliseconds(1);  // with PDUs in flight
  uint32_t hello_multiplier = 3;                           // unanswered PLANEs that end a plane
  Duration hello_idle = std::chrono::seconds(1);           // without PDUs in flight
  Duration hold_down = std::chrono::seconds(1);
  Duration hold_down_max = std::chrono::seconds(60);
  Duration unreachable = std::chrono::seconds(1);  // after the last sign of life
  SessionParams sessions;
};

}  // namespace suede

#endif  // SUEDE_PEER_PARAMS_H_
