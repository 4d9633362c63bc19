// SPDX-License-Identifier: Apache-2.0
// Derives the parameters of a switch and of its ports from a configuration.
#ifndef SUEDE_APP_SWITCH_SWITCH_PARAMS_H_
#define SUEDE_APP_SWITCH_SWITCH_PARAMS_H_

#include <cstdint>

#include "dpdk/dpdk_port.h"
#include "fabric/impairment.h"
#include "fabric/switch.h"
#include "switch/switch_config.h"

namespace suede {

// Without the MAC addresses of ports that the configuration leaves to the device.
fabric::SwitchParams SwitchParamsOf(const SwitchConfig& config);
fabric::ImpairmentParams ImpairmentOf(const SwitchImpairConfig& config);
// Returns the key of a configured entry.
NetAddress AddressKeyOf(const SwitchAddressConfig& address);
// For SwitchConfig::ports[port].
PortOptions PortOptionsOf(const SwitchConfig& config, uint32_t port);

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_PARAMS_H_
