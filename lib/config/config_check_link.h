// SPDX-License-Identifier: Apache-2.0
// Checks of a port's link parameters (docs/link.md).
#ifndef SUEDE_CONFIG_CONFIG_CHECK_LINK_H_
#define SUEDE_CONFIG_CONFIG_CHECK_LINK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "config/config_draft.h"
#include "link/link_params.h"

namespace suede {

// Checks that the EtherType at `path` collides with no known one, nor with that of the port's PDUs,
// `of_pdus` (0: none).
absl::Status CheckLinkEtherType(const ConfigDraft& draft, const std::string& path,
                                uint16_t ether_type, uint16_t of_pdus);
// Checks the limits of cbfc.credits: one for each link VC, and each sufficient for a frame of `max`
// octets.
absl::Status CheckCredits(const ConfigDraft& draft, const CbfcConfig& config,
                          const CreditGrant& grant, uint32_t max);
// Checks all ports of an endpoint.
absl::Status CheckLinks(const ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_LINK_H_
