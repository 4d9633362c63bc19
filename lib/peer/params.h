// SPDX-License-Identifier: Apache-2.0
// The configuration of the planes of an instance (docs/planes.md).
#ifndef SUEDE_PEER_PARAMS_H_
#define SUEDE_PEER_PARAMS_H_

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace suede {

inline constexpr uint32_t kMaxPlanes = 4;

// SUE framework §1.2.
enum class Ordering : uint8_t {
  kStrict,     // all PDUs to one destination take one plane, each VC in order
  kUnordered,  // each PDU takes the plane with the most bandwidth left
};

// How an operator has set a plane.
enum class PlaneAdmin : uint8_t {
  kUp,
  kDrain,  // PDUs in flight there may end, nothing new begins
  kDown,
};

struct PathParams {
  Ordering ordering = Ordering::kStrict;
  Duration hello_interval = std::chrono::milliseconds(1);  // with PDUs in flight
  uint32_t hello_multiplier = 3;                           // unanswered ones that end a plane
  Duration hello_idle = std::chrono::seconds(1);           // without
  Duration hold_down = std::chrono::seconds(1);
  Duration hold_down_max = std::chrono::seconds(60);
  Duration unreachable = std::chrono::seconds(1);          // after the last sign of life
};

}  // namespace suede

#endif  // SUEDE_PEER_PARAMS_H_
