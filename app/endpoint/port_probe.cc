// SPDX-License-Identifier: Apache-2.0
#include "endpoint/port_probe.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/device_string.h"
#include "daemon/eal_start.h"
#include "dpdk/dpdk_port.h"
#include "endpoint/endpoint.h"
#include "endpoint/pipeline_params.h"

namespace suede {
namespace {

// Whether other programs would see the device come and go.
bool IsMadeByDriver(std::string_view device) {
  const std::string_view driver = VdevDriver(device);
  return driver == "net_tap" || driver == "net_vhost" || driver == "virtio_user";
}

bool IsProbed(const PortConfig& port) {
  return !IsCentre(port) && !IsMemif(port.device) && !IsMadeByDriver(port.device);
}

absl::StatusOr<std::vector<ProbedPort>> OpenAll(const std::vector<PortOptions>& options) {
  std::vector<ProbedPort> all;
  for (const PortOptions& one : options) {
    const absl::StatusOr<std::unique_ptr<DpdkPort>> port = DpdkPort::Open(one);
    if (!port.ok()) return port.status();
    all.push_back({.name = one.name,
                   .driver = (*port)->driver(),
                   .warnings = (*port)->warnings(),
                   .capabilities = CapabilitiesOf((*port)->facts(), one)});
  }
  return all;
}

}  // namespace

absl::StatusOr<std::vector<ProbedPort>> ProbePorts(const Config& config) {
  std::vector<PortOptions> options;
  EalNeeds needs{.file_prefix = EalFilePrefix(config), .eal = config.eal, .lcores = config.lcores};
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    if (!IsProbed(config.ports[p])) continue;
    PortOptions& one = options.emplace_back(PortOptionsOf(config, p));
    one.pool.clear();
    one.pool_frames = 0;  // those of the device's rings are added
    needs.pool_bytes.push_back(PoolBytes(one));
    needs.devices.push_back(DeviceOf(config.ports[p]));
  }
  if (options.empty()) return std::vector<ProbedPort>();
  // Errors are in the status.
  const absl::StatusOr<std::string> arguments =
      StartEalFor(needs, [](EalLogLevel, std::string_view, std::string_view) {});
  if (!arguments.ok()) return arguments.status();
  absl::StatusOr<std::vector<ProbedPort>> all = OpenAll(options);
  StopEal();
  return all;
}

}  // namespace suede
