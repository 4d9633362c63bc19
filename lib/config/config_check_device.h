// SPDX-License-Identifier: Apache-2.0
// Checks of a virtual device's arguments: some invalid ones make drivers end the process.
#ifndef SUEDE_CONFIG_CONFIG_CHECK_DEVICE_H_
#define SUEDE_CONFIG_CONFIG_CHECK_DEVICE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "config/config_draft.h"

namespace suede {

// Checks the arguments of a port's device, and the keys that belong to them.
absl::Status CheckDevice(const ConfigDraft& draft, size_t port);
// Checks that the device can hold frames of `frame_bytes`, if its arguments decide that. Call
// CheckDevice first.
absl::Status CheckFrameRoom(const ConfigDraft& draft, size_t port, uint32_t frame_bytes);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_DEVICE_H_
