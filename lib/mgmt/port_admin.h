// SPDX-License-Identifier: Apache-2.0
// The method that sets a port administratively down or up, shared by all kinds of daemon.
#ifndef SUEDE_MGMT_PORT_ADMIN_H_
#define SUEDE_MGMT_PORT_ADMIN_H_

#include "mgmt/common_members.h"
#include "mgmt/method.h"

namespace suede::port_admin {

inline constexpr Param kPort = Param::Text("port", "Name of the port.", 32).Required();
inline constexpr Param kParams[] = {kPort,
                                    Param::Choice("admin", "The setting.", "up|down").Required()};
inline constexpr Member kResult[] = {members::kPort, Member::Choice("admin", members::kUpOrDown)};
Answer Set(Call& call);

}  // namespace suede::port_admin

#endif  // SUEDE_MGMT_PORT_ADMIN_H_
