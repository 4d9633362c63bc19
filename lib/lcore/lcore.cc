// SPDX-License-Identifier: Apache-2.0
#include "lcore/lcore.h"

namespace suede {

bool Lcore::IsIdle() const {
  for (const auto& port : ports) {
    // Acknowledgements do not leave over a link that is down. (PDUs on it are in flight.)
    if (!port->link.state().up) continue;
    if (!port->link.empty() || !port->ack_now.empty()) return false;
    for (const DelayedAcks& list : port->ack_due) {
      if (!list.due.empty()) return false;
    }
  }
  for (const auto& instance : instances) {
    if (instance->tx.inflight != 0 || instance->tx.queued != 0) return false;
  }
  return true;
}

}  // namespace suede
