// SPDX-License-Identifier: Apache-2.0
// The method that sets a port administratively down or up, shared by all kinds of daemon.
#ifndef SUEDE_MGMT_PORT_ADMIN_H_
#define SUEDE_MGMT_PORT_ADMIN_H_

#include <string>
#include <string_view>
#include <utility>

#include "mgmt/method.h"

namespace suede::port_admin {

inline constexpr Param kPort = Param::Text("port", "Name of the port.", 32).Required();
inline constexpr Param kParams[] = {kPort,
                                    Param::Choice("admin", "The setting.", "up|down").Required()};
inline constexpr Member kResult[] = {Member::Text("port"), Member::Choice("admin", kUpOrDown)};

inline Answer Set(Call& call) {
  const std::string& port = call.arguments.Text("port");
  const std::string& admin = call.arguments.Text("admin");
  auto done = call.daemon.SetPortAdmin(port, admin == "up");
  if (!done.ok()) return done.status();
  return Answer::When(*std::move(done), Json{{"port", port}, {"admin", admin}});
}
constexpr Method Row(std::string_view sentence) {
  return {.name = "ports.set_admin",
          .sentence = sentence,
          .result = kResult,
          .run = Set,
          .params = kParams,
          .changes = true};
}

}  // namespace suede::port_admin

#endif  // SUEDE_MGMT_PORT_ADMIN_H_
