// SPDX-License-Identifier: Apache-2.0
// Runs the daemon with a parsed configuration: an endpoint and everything that serves it.
#ifndef SUEDE_APP_SUEDE_DAEMON_H_
#define SUEDE_APP_SUEDE_DAEMON_H_

#include <functional>

#include "config/config.h"
#include "daemon/config_origin.h"
#include "endpoint/endpoint.h"

namespace suede {

struct DaemonOptions {
  ConfigOrigin origin;
  std::vector<std::string> warnings{};  // of the configuration, for the log
  double drain_seconds = 2;             // max time to wait for commands in flight at the end
  // Called with the endpoint before its lcores start. A hook that it sets must outlive RunDaemon.
  std::function<void(Endpoint&)> prepare = [](Endpoint&) {};
};

// Builds the endpoint, with its sockets, and serves it until SIGTERM, SIGINT or a drain request. To
// be called by the process's first thread, before others start. Returns the exit code.
int RunDaemon(const Config& config, DaemonOptions options);

}  // namespace suede

#endif  // SUEDE_APP_SUEDE_DAEMON_H_
