// SPDX-License-Identifier: Apache-2.0
// A flag by which the owner of a cable's far end makes a board poll a router. A board with many
// routers reads their bells instead of all their cables.
#ifndef SUEDE_ROUTER_BELL_H_
#define SUEDE_ROUTER_BELL_H_

#include <atomic>

namespace suede {

class Bell {
 public:
  // Any thread, after it has published frames.
  void Ring() { is_rung_.store(true, std::memory_order_release); }
  // The router's lcore, before it reads frames: a later Ring is returned by the next call.
  bool Take() {
    return is_rung_.load(std::memory_order_relaxed) &&
           is_rung_.exchange(false, std::memory_order_acq_rel);
  }

 private:
  std::atomic<bool> is_rung_{true};
};

}  // namespace suede

#endif  // SUEDE_ROUTER_BELL_H_
