// SPDX-License-Identifier: Apache-2.0
// The schemes that incast_bench compares: how the switch treats the data of the incast, and which
// congestion control its endpoints have.
#ifndef SUEDE_TESTS_SIM_INCAST_SCHEME_H_
#define SUEDE_TESTS_SIM_INCAST_SCHEME_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "fabric/params.h"
#include "lcore/params.h"

namespace suede {

// ---- Parameters of all schemes.

inline constexpr uint64_t kIncastRateBps = 100'000'000'000;
inline constexpr Duration kIncastRtt = std::chrono::microseconds(2);
inline constexpr uint32_t kIncastBdpBytes = 25'000;
inline constexpr Duration kIncastCableDelay{438};  // makes the unloaded round trip kIncastRtt
inline constexpr uint32_t kIncastBufferBytes = 4u << 20;

// Classes of the switch.
inline constexpr uint32_t kIncastData = 0;     // VC 0
inline constexpr uint32_t kIncastRequest = 1;  // VC 1, the requests that have no part in the incast
inline constexpr uint32_t kIncastAck = 6;
inline constexpr uint32_t kIncastTrimmed = 7;
inline constexpr uint8_t kIncastTrimmedDscp = 56;

struct Scheme {
  const char* name;   // on the command line
  const char* title;  // in tables
  void (*fabric)(fabric::SwitchParams&);
  void (*endpoint)(InstanceParams&);
  const char* reference;  // of uet-htsim, by its name in incast_reference.h; nullptr: none
};

std::span<const Scheme> Schemes();
// nullptr: there is none of that name.
const Scheme* FindScheme(std::string_view name);

// A switch of `ports` ports, and an endpoint, as all schemes begin with them.
fabric::SwitchParams IncastSwitch(uint32_t ports, uint64_t seed);
void SetIncastEndpoint(InstanceParams& params);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INCAST_SCHEME_H_
