// SPDX-License-Identifier: Apache-2.0
// Content of the LLDP frames of a switch's port (docs/lldp.md).
#ifndef SUEDE_APP_SWITCH_LLDP_FACTS_H_
#define SUEDE_APP_SWITCH_LLDP_FACTS_H_

#include <cstdint>
#include <string_view>

#include "fabric/params.h"
#include "lldp/lldpdu.h"
#include "switch/switch_config.h"

namespace suede {

// `params`: of the same switch. `chassis`: MAC address of the first port. `driver`: of the port's
// device.
lldp::Lldpdu SwitchLldpFactsOf(const SwitchConfig& config, const fabric::SwitchParams& params,
                               uint32_t port, const MacAddress& chassis, std::string_view driver);

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_LLDP_FACTS_H_
