// SPDX-License-Identifier: Apache-2.0
// Uses of the rate of a port's link, which some devices do not report (docs/dpdk.md).
#ifndef SUEDE_CONFIG_CONFIG_RATES_H_
#define SUEDE_CONFIG_CONFIG_RATES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"

namespace suede {

// A setting that depends on the rate of a port.
struct RateUse {
  std::string setting;   // as in "pfc: software"
  std::string_view why;  // its need, behind "as"
};

// Returns whether the speed of the link at Config::ports[port] is known.
using KnowsSpeed = std::function<bool(uint32_t port)>;

// Returns the first setting that depends on the rate of Config::ports[port] where neither
// bandwidth_gbps nor the link gives it; none: its rate is known, or of no use.
std::optional<RateUse> MissingRate(const Config& config, uint32_t port, const KnowsSpeed& knows);

// Returns the reason and the mend: "the rate of … is not known …; set bandwidth_gbps …".
std::string MissingRateText(const Config& config, uint32_t port, const RateUse& use);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_RATES_H_
