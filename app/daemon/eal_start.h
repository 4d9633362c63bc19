// SPDX-License-Identifier: Apache-2.0
// Starts EAL by a daemon's configuration.
#ifndef SUEDE_APP_DAEMON_EAL_START_H_
#define SUEDE_APP_DAEMON_EAL_START_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "config/config.h"
#include "dpdk/eal.h"

namespace suede {

using DaemonLog =
    std::function<void(EalLogLevel, std::string_view component, std::string_view line)>;

struct EalNeeds {
  std::string file_prefix;
  EalConfig eal;
  std::vector<LcoreConfig> lcores;
  std::vector<uint64_t> pool_bytes;  // frame pool of each port
  std::vector<std::string> devices;  // PCI addresses, or vdevs with their arguments
};

// Starts EAL with or without hugepages. Returns EAL's arguments for display. Control thread.
absl::StatusOr<std::string> StartEalFor(const EalNeeds& needs, const DaemonLog& log);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_EAL_START_H_
