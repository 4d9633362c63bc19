// SPDX-License-Identifier: Apache-2.0
// The parameters of an end of a link, of an endpoint's port and of a switch's alike.
#ifndef SUEDE_CONFIG_LINK_CONFIG_H_
#define SUEDE_CONFIG_LINK_CONFIG_H_

#include <array>
#include <cstdint>

#include "config/config.h"
#include "link/link_params.h"

namespace suede {

// Without the secret, which is of the boot.
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

}  // namespace suede

#endif  // SUEDE_CONFIG_LINK_CONFIG_H_
