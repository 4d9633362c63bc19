// SPDX-License-Identifier: Apache-2.0
// The ends of links that a daemon has (docs/link.md), as the methods see them.
#ifndef SUEDE_MGMT_LINK_VIEW_H_
#define SUEDE_MGMT_LINK_VIEW_H_

#include <string>

#include "stats/link_counters.h"

namespace suede {

struct LinkView {
  std::string port;
  const LinkCounters* counters = nullptr;  // null: the port says nothing to its neighbour
};

}  // namespace suede

#endif  // SUEDE_MGMT_LINK_VIEW_H_
