// SPDX-License-Identifier: Apache-2.0
#include "endpoint/preflight.h"

#include "client/segment.h"
#include "dpdk/eal.h"
#include "dpdk/vdev_drivers.h"
#include "endpoint/client_service.h"
#include "endpoint/endpoint.h"
#include "preflight/linux_machine.h"

namespace suede {

std::vector<Finding> PreflightOf(const Config& config) {
  const LinuxMachine machine({.prefix_holder = EalPrefixHolder, .vdev_drivers = VdevDrivers});
  const MemoryNeeds needs{.pool_bytes = Endpoint::PoolBytesOf(config),
                          .segment_bytes = SegmentOffsets(SegmentShapeOf(config.clients)).bytes};
  return RunPreflight({.config = config, .needs = needs, .machine = machine});
}

}  // namespace suede
