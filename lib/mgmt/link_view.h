// SPDX-License-Identifier: Apache-2.0
// Link ends of a daemon (docs/link.md), for methods.
#ifndef SUEDE_MGMT_LINK_VIEW_H_
#define SUEDE_MGMT_LINK_VIEW_H_

#include <string>

#include "stats/link_counters.h"

namespace suede {

struct LinkView {
  std::string port;
  const LinkCounters* counters = nullptr;  // null: the port sends no link frames
};

}  // namespace suede

#endif  // SUEDE_MGMT_LINK_VIEW_H_
