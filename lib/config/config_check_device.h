// SPDX-License-Identifier: Apache-2.0
// Checks of what stands behind a virtual device's name: drivers end the process over some of it.
#ifndef SUEDE_CONFIG_CONFIG_CHECK_DEVICE_H_
#define SUEDE_CONFIG_CONFIG_CHECK_DEVICE_H_

#include <cstddef>

#include "absl/status/status.h"
#include "config/config_draft.h"

namespace suede {

// The arguments of a port's device, and what goes with them.
absl::Status CheckDevice(const ConfigDraft& draft, size_t port);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_DEVICE_H_
