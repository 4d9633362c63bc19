// SPDX-License-Identifier: Apache-2.0
// The rules of a switch's configuration that concern more than one value.
#ifndef SUEDE_CONFIG_SWITCH_CHECK_H_
#define SUEDE_CONFIG_SWITCH_CHECK_H_

#include "absl/status/status.h"
#include "config/config_draft.h"
#include "config/switch_config.h"

namespace suede {

// Also fills in values that are computed from others. `draft` has the places of the keys.
absl::Status CheckSwitchConfig(const MachineFacts& machine, ConfigDraft& draft,
                               SwitchConfig& config);

// The longest frame of a port, without FCS.
uint32_t MaxFrameBytes(const SwitchPortConfig& port);
uint64_t BpsOf(const Decimal& gbps);
// The headroom of each input of the class: configured, or computed from rate and cable.
uint32_t HeadroomOf(const SwitchConfig& config, const SwitchClassConfig& one);

}  // namespace suede

#endif  // SUEDE_CONFIG_SWITCH_CHECK_H_
