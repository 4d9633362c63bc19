// SPDX-License-Identifier: Apache-2.0
// Names of XPUs, in tables beside their numbers.
#ifndef SUEDE_APP_SUEDECTL_XPU_NAMES_H_
#define SUEDE_APP_SUEDECTL_XPU_NAMES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "mgmt/json.h"
#include "suedectl/daemon.h"

namespace suede::ctl {

using XpuNames = std::map<uint64_t, std::string>;

// Returns the names in a result of peers.list.
XpuNames NamesIn(const Json& peers);
// Returns the names that the daemon knows; none if it is a switch, or does not answer.
XpuNames NamesOf(Daemon& daemon);
// Whether a parameter takes the number of an XPU, or its name.
bool TakesXpu(std::string_view parameter);
// Returns the number of the XPU with this name. The error, of `parameter`, lists names like it.
absl::StatusOr<uint64_t> NumberOfXpu(std::string_view parameter, const std::string& name,
                                     const XpuNames& names);
// Returns "3 (right)", or "3" for an XPU without a name.
std::string NamedXpu(uint64_t xpu, const XpuNames& names);
// Whether the result has a list of objects with numbers of XPUs and without names.
bool HasXpus(const Json& result);
// Returns the result with a member xpu_name behind xpu, and peer_name behind peer, in lists in
// which such a number has a name. The name is null where a number has none.
Json WithNames(const Json& result, const XpuNames& names);
// As above, with the names that the daemon knows. Returns the result as it is if it has no XPUs, or
// the daemon does not answer.
Json WithNames(const Json& result, Daemon& daemon);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_XPU_NAMES_H_
