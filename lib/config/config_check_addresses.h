// SPDX-License-Identifier: Apache-2.0
// Checks of instances and peers: their identities and addresses.
#ifndef SUEDE_CONFIG_CONFIG_CHECK_ADDRESSES_H_
#define SUEDE_CONFIG_CONFIG_CHECK_ADDRESSES_H_

#include "absl/status/status.h"
#include "config/config_draft.h"

namespace suede {

// Checks that instances are unique, and that an address on a port belongs to one own instance and
// to one XPU.
absl::Status CheckAddresses(const ConfigDraft& draft);

// Warns of instances without peers, and of unused addresses.
void WarnOfPeers(ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_ADDRESSES_H_
