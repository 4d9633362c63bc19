// SPDX-License-Identifier: Apache-2.0
// The configuration of the planes of an instance (docs/planes.md).
#ifndef SUEDE_PATH_PARAMS_H_
#define SUEDE_PATH_PARAMS_H_

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace suede {

inline constexpr uint32_t kMaxPlanes = 4;
// Max sessions of a {peer, plane}; and max connections of a peer, over its planes, sessions and
// VCs.
inline constexpr uint32_t kMaxSessions = 64;
inline constexpr uint32_t kMaxPeerConnections = 64;

// SUE framework §1.2.
enum class Ordering : uint8_t {
  kStrict,     // all PDUs of a flow take one plane, each VC in order
  kUnordered,  // each PDU takes the plane with the most bandwidth left
};

// An operator's setting of a plane.
enum class PlaneAdmin : uint8_t {
  kUp,
  kDrain,  // PDUs in flight there may end, no new PDU takes the plane
  kDown,
};

enum class PlaneWeights : uint8_t {
  kStatic,    // those of the ports, or of the operator
  kMeasured,  // bounded by the measured rates of the planes
};

// Session groups (docs/sessions.md).
struct SessionParams {
  Duration interval = std::chrono::milliseconds(1);  // max time between evaluations of weights
  uint32_t open_percent = 150;   // of the weight of a session without congestion: if all are above,
                                 // another session opens
  uint32_t move_percent = 400;   // of the best session's weight: a session with as much moves
  uint32_t idle_intervals = 10;  // if all are far below for so long, a session closes
  uint32_t stall_timeouts = 2;   // in a row, after which a session moves
  Duration max_age{};            // 0: no limit
  friend bool operator==(const SessionParams&, const SessionParams&) = default;
};

struct PathParams {
  Ordering ordering = Ordering::kStrict;
  PlaneWeights weights = PlaneWeights::kStatic;
  Duration hello_interval = std::chrono::milliseconds(1);  // with PDUs in flight
  uint32_t hello_multiplier = 3;                           // unanswered PLANEs that end a plane
  Duration hello_idle = std::chrono::seconds(1);           // without PDUs in flight
  Duration hold_down = std::chrono::seconds(1);
  Duration hold_down_max = std::chrono::seconds(60);
  Duration unreachable = std::chrono::seconds(1);  // after the last sign of life
  SessionParams sessions;
  friend bool operator==(const PathParams&, const PathParams&) = default;
};

}  // namespace suede

#endif  // SUEDE_PATH_PARAMS_H_
