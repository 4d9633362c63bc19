// SPDX-License-Identifier: Apache-2.0
// Defaults of the transport's settings, shared by its parameters and the configuration's keys.
#ifndef SUEDE_BASE_TRANSPORT_DEFAULTS_H_
#define SUEDE_BASE_TRANSPORT_DEFAULTS_H_

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace suede::transport_defaults {

inline constexpr uint32_t kWindowPdus = 512;
inline constexpr uint32_t kWindowBytes = 1u << 20;
inline constexpr uint32_t kAckEveryPdus = 32;
inline constexpr Duration kAckDelay = std::chrono::microseconds(20);
inline constexpr Duration kNackTimeout = std::chrono::microseconds(500);
inline constexpr Duration kReorderAllowance = std::chrono::microseconds(20);
inline constexpr Duration kRtoInitial = std::chrono::milliseconds(5);
inline constexpr Duration kRtoMin = std::chrono::milliseconds(1);
inline constexpr Duration kRtoMax = std::chrono::milliseconds(200);
inline constexpr uint32_t kMaxTries = 10;
inline constexpr Duration kNotReadyBackoff = std::chrono::microseconds(100);
inline constexpr Duration kPauseLimit = std::chrono::milliseconds(100);
inline constexpr Duration kHelloTimeout = std::chrono::milliseconds(2);
inline constexpr uint32_t kHelloTries = 5;

}  // namespace suede::transport_defaults

#endif  // SUEDE_BASE_TRANSPORT_DEFAULTS_H_
