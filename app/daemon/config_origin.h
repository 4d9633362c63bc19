// SPDX-License-Identifier: Apache-2.0
// The sources of a configuration besides its file.
#ifndef SUEDE_APP_DAEMON_CONFIG_ORIGIN_H_
#define SUEDE_APP_DAEMON_CONFIG_ORIGIN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "config/config.h"

namespace suede {

// Reapplied to a file that is loaded later.
struct ConfigOrigin {
  std::string file;                       // absolute path; empty: none
  std::vector<ConfigOverride> overrides;  // from flags and environment
  size_t eal_arguments = 0;               // number from the command line, last in eal.args
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_CONFIG_ORIGIN_H_
