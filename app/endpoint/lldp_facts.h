// SPDX-License-Identifier: Apache-2.0
// Content of the LLDP frames of an endpoint's port (docs/lldp.md).
#ifndef SUEDE_APP_ENDPOINT_LLDP_FACTS_H_
#define SUEDE_APP_ENDPOINT_LLDP_FACTS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/config.h"
#include "lldp/assignment.h"
#include "lldp/lldpdu.h"

namespace suede {

// `chassis`: MAC address of the first port. `driver`: of the port's device.
lldp::Lldpdu LldpFactsOf(const Config& config, uint32_t port, const MacAddress& chassis,
                         std::string_view driver);

// Returns the rules for an address that the neighbour assigns to the port. `used`: the one that it
// has.
lldp::AddressPolicy AddressPolicyOf(const Config& config, uint32_t port,
                                    const std::optional<lldp::Assignment>& used);

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_LLDP_FACTS_H_
