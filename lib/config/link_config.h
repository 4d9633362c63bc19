// SPDX-License-Identifier: Apache-2.0
// The parameters of an end of a link, of an endpoint's port and of a switch's alike.
#ifndef SUEDE_CONFIG_LINK_CONFIG_H_
#define SUEDE_CONFIG_LINK_CONFIG_H_

#include <array>
#include <cstdint>

#include "config/config.h"
#include "config/switch_config.h"
#include "link/link_params.h"

namespace suede {

// All parameters but the secret, which is drawn at each boot.
inline LinkParams LinkParamsOf(const LlrConfig& config, OnOff llr, uint16_t ether_type,
                               const std::array<uint8_t, 6>& mac) {
  return {.ether_type = ether_type,
          .mac = mac,
          .hello = config.hello,
          .retry = {.on = llr == OnOff::kOn,
                    .window_frames = config.window_frames,
                    .window_octets = config.window_octets,
                    .replay_count = config.replay_count,
                    .replay_timeout = config.replay,
                    .max_age = config.max_age,
                    .ack_frames = config.ack_frames,
                    .ack_delay = config.ack_delay}};
}

// Link VCs that frames can name, and so the entries of cbfc.credits.
inline constexpr uint32_t kNamedLinkVcs = 8;
// Descriptors of an endpoint's port with cbfc: on for frames that use no credit.
inline constexpr uint32_t kFreeDescriptors = 64;

CreditTimes CreditTimesOf(const CbfcConfig& config);
// Credit that an endpoint's port grants: by default an even share of its receive descriptors.
CreditGrant CreditGrantOf(const Config& config, const PortConfig& port);
// Credit that each port of a switch grants: by default four of the longest frames of each link VC.
CreditGrant CreditGrantOf(const SwitchConfig& config);
// Octets of the longest frame, as credit counts them: with a VLAN tag, without the shim.
uint32_t MaxBytesOnCredit(const SwitchConfig& config);
inline uint32_t MaxBytesOnCredit(const PortConfig& port) { return 14 + 4 + port.mtu_bytes; }

}  // namespace suede

#endif  // SUEDE_CONFIG_LINK_CONFIG_H_
