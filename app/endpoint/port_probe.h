// SPDX-License-Identifier: Apache-2.0
// Opens a configuration's devices for a moment, to query their capabilities.
#ifndef SUEDE_APP_ENDPOINT_PORT_PROBE_H_
#define SUEDE_APP_ENDPOINT_PORT_PROBE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/config.h"
#include "dpdk/capabilities.h"

namespace suede {

struct ProbedPort {
  std::string name;
  std::string driver;
  std::vector<std::string> warnings;  // settings that the device refused
  std::vector<DeviceCapability> capabilities;
};

// Starts EAL, opens each device of DPDK as the endpoint does at its start, with fewer frames, and
// closes them. Leaves out memifs, and virtual devices that other programs would see
// come and go (net_tap, net_vhost, virtio_user). Returns the first error. Once per process, and not
// beside an endpoint.
absl::StatusOr<std::vector<ProbedPort>> ProbePorts(const Config& config);

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PORT_PROBE_H_
