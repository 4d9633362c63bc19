// SPDX-License-Identifier: Apache-2.0
// Checks of the arguments behind a virtual device's name: drivers end the process over some.
#ifndef SUEDE_CONFIG_CONFIG_CHECK_DEVICE_H_
#define SUEDE_CONFIG_CONFIG_CHECK_DEVICE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "config/config_draft.h"

namespace suede {

// The arguments of a port's device, and the keys that go with them.
absl::Status CheckDevice(const ConfigDraft& draft, size_t port);
// Whether the device can hold frames of these bytes, where its arguments decide that. The device is
// checked already.
absl::Status CheckFrameRoom(const ConfigDraft& draft, size_t port, uint32_t frame_bytes);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_DEVICE_H_
