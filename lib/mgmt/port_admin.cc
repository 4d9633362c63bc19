// SPDX-License-Identifier: Apache-2.0
#include "mgmt/port_admin.h"

#include <string>
#include <utility>

#include "mgmt/daemon_view.h"

namespace suede::port_admin {

Answer Set(Call& call) {
  const std::string& port = call.arguments.Text("port");
  const std::string& admin = call.arguments.Text("admin");
  absl::StatusOr<DaemonView::PortQuestion> done = call.daemon.SetPortAdmin(port, admin == "up");
  if (!done.ok()) return done.status();
  return Answer::When(*std::move(done), Json{{"port", port}, {"admin", admin}});
}

}  // namespace suede::port_admin
