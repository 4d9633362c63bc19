// SPDX-License-Identifier: Apache-2.0
// The sources of a configuration besides its file.
#ifndef SUEDE_APP_DAEMON_CONFIG_ORIGIN_H_
#define SUEDE_APP_DAEMON_CONFIG_ORIGIN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "config/config.h"

namespace suede {

// A file that is loaded later gets it too.
struct ConfigOrigin {
  std::string file;  // absolute; empty: none
  std::vector<ConfigOverride> overrides;  // of flags and environment
  size_t eal_arguments = 0;  // of the command line, at the end of the endpoint's eal.args
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_CONFIG_ORIGIN_H_
