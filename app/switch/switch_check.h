// SPDX-License-Identifier: Apache-2.0
// Rules of a switch's configuration that concern more than one value.
#ifndef SUEDE_APP_SWITCH_SWITCH_CHECK_H_
#define SUEDE_APP_SWITCH_SWITCH_CHECK_H_

#include "absl/status/status.h"
#include "config/config_draft.h"
#include "lldp/assignment.h"
#include "switch/switch_config.h"

namespace suede {

// Checks the rules, and fills in computed values. `draft`: the places of the keys.
absl::Status CheckSwitchConfig(const MachineFacts& machine, ConfigDraft& draft,
                               SwitchConfig& config);

// Returns the longest frame of a port in bytes, without FCS.
uint32_t MaxFrameBytes(const SwitchPortConfig& port);
uint64_t BpsOf(const Decimal& gbps);
// Returns the headroom of each input of the class in bytes: configured, or computed from rate and
// cable.
uint32_t HeadroomOf(const SwitchConfig& config, const SwitchClassConfig& one);

// Returns the credit that each port of a switch grants: by default four of the longest frames per
// link VC.
CreditGrant CreditGrantOf(const SwitchConfig& config);
// Returns the octets of the longest frame, as credit counts them: with a VLAN tag, without the
// shim.
uint32_t MaxBytesOnCredit(const SwitchConfig& config);

// Returns the address as LLDP has it. `prefix` is at most that of the address's family.
lldp::Assignment AssignmentOf(const SwitchAssignConfig& config);

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_CHECK_H_
