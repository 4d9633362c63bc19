// SPDX-License-Identifier: Apache-2.0
// Derives the routers of a configuration's devices (docs/mesh.md): their switch ports and
// parameters, and the frames that they may hold.
#ifndef SUEDE_APP_ENDPOINT_ROUTER_PARAMS_H_
#define SUEDE_APP_ENDPOINT_ROUTER_PARAMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "config/config.h"
#include "fabric/params.h"
#include "mesh/discovery.h"

namespace suede {

// The end of one of Config::cables at a device.
struct DeviceCable {
  uint32_t cable = 0;    // index into Config::cables
  bool is_from = true;   // whether it is the `from` end
  mesh::DevicePort own;  // the device's port
  mesh::DevicePort far;  // the port at the other end
};
// Returns the place that the end of a cable announces.
mesh::CableEnd OwnEnd(const Config& config, const DeviceCable& cable);
// Returns the ends of cables at Config::devices[device], in the order of its switch ports. The
// centres of its planes follow.
std::vector<DeviceCable> DeviceCablesOf(const Config& config, uint32_t device);

// Returns the parameters of a device's switch. Leaves out MAC addresses and secrets of links.
fabric::SwitchParams RouterParamsOf(const Config& config, uint32_t device);

// Returns the largest frame that passes devices.
uint32_t MeshFrameBytes(const Config& config);
// Returns the frames that all routers, and the cables between them, may hold together.
uint32_t RouterFramesOf(const Config& config);

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_ROUTER_PARAMS_H_
