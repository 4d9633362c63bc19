// SPDX-License-Identifier: Apache-2.0
// Members of results that several subjects share.
#ifndef SUEDE_MGMT_COMMON_MEMBERS_H_
#define SUEDE_MGMT_COMMON_MEMBERS_H_

#include <string_view>

#include "mgmt/members.h"

namespace suede::members {

inline constexpr std::string_view kUpOrDown = "up|down";

inline constexpr Member kXpu = Member::Integer("xpu");
inline constexpr Member kInstance = Member::Integer("instance");
inline constexpr Member kPeer = Member::Integer("peer", "its XPU");
inline constexpr Member kPlane = Member::Integer("plane", "its number");
inline constexpr Member kPort = Member::Text("port");
inline constexpr Member kAddress = Member::Text("address", "as the configuration writes it");
inline constexpr Member kMore = Member::Boolean("more", "there are more than `limit`");

}  // namespace suede::members

#endif  // SUEDE_MGMT_COMMON_MEMBERS_H_
