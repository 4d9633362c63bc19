// SPDX-License-Identifier: Apache-2.0
// Names of a daemon's counters and events, for programs that check a name before a query.
#ifndef SUEDE_MGMT_NAMES_H_
#define SUEDE_MGMT_NAMES_H_

#include <string>
#include <string_view>

#include "mgmt/daemon_view.h"

namespace suede {

// Returns a line for each name: `counter NAME` of the scope total, `port_counter NAME` of the scope
// port, `event KIND`. `kinds`: "|a|b", like kEventNames.
std::string NamesAsText(const CounterSetView& total, const CounterSetView& port,
                        std::string_view kinds);

}  // namespace suede

#endif  // SUEDE_MGMT_NAMES_H_
