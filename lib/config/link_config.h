// SPDX-License-Identifier: Apache-2.0
// Parameters of a link end, for ports of endpoints and switches.
#ifndef SUEDE_CONFIG_LINK_CONFIG_H_
#define SUEDE_CONFIG_LINK_CONFIG_H_

#include <cstdint>

#include "config/config.h"
#include "link/link_params.h"

namespace suede {

// Returns all parameters except the secret, which is generated at each boot.
inline LinkParams LinkParamsOf(const LlrConfig& config, OnOff llr, uint16_t ether_type,
                               const MacAddress& mac) {
  LinkParams params{.ether_type = ether_type, .mac = mac, .hello = config.hello, .retry = config};
  params.retry.on = llr == OnOff::kOn;
  return params;
}

// Link VCs that frames can use, which is the number of entries of cbfc.credits.
inline constexpr uint32_t kNamedLinkVcs = 8;
// Receive descriptors of an endpoint's port with cbfc: on that are kept for frames without credit.
inline constexpr uint32_t kFreeDescriptors = 64;

// Returns the grant, with `usual` credits for each link VC if the file sets no limits.
CreditGrant CreditGrantWith(const CbfcConfig& config, uint32_t usual);
// Returns the credit that an endpoint's port grants: by default an even share of its receive
// descriptors.
CreditGrant CreditGrantOf(const Config& config, const PortConfig& port);
// Returns the octets of the longest frame, as credit counts them: with a VLAN tag, without the
// shim.
inline uint32_t MaxBytesOnCredit(const PortConfig& port) { return 14 + 4 + port.mtu_bytes; }

}  // namespace suede

#endif  // SUEDE_CONFIG_LINK_CONFIG_H_
