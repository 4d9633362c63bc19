// SPDX-License-Identifier: Apache-2.0
// Checks of instances and peers: who is where.
#ifndef SUEDE_CONFIG_CONFIG_CHECK_ADDRESSES_H_
#define SUEDE_CONFIG_CONFIG_CHECK_ADDRESSES_H_

#include "absl/status/status.h"
#include "config/config_draft.h"

namespace suede {

// That no two instances are the same, and that an address on a port is that of one own instance and
// of one XPU.
absl::Status CheckAddresses(const ConfigDraft& draft);

// Instances that reach nobody, and addresses that nobody uses.
void WarnOfPeers(ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_ADDRESSES_H_
