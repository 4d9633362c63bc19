// SPDX-License-Identifier: Apache-2.0
// Looks at an endpoint's links, pools, planes and lcores, and emits their events.
#ifndef SUEDE_APP_ENDPOINT_WATCH_H_
#define SUEDE_APP_ENDPOINT_WATCH_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "daemon/link_follower.h"
#include "endpoint/pool_level.h"
#include "lcore/mailbox.h"
#include "mgmt/admin_view.h"

namespace suede {

class Endpoint;

// Control thread only.
class Watch {
 public:
  // The endpoint outlives it, and has its ports and pipelines.
  explicit Watch(Endpoint* endpoint);
  // Every 10 ms or so.
  void Tick();

 private:
  void CheckPort(uint32_t port);
  void CheckPlanes();
  void DrainEvents(uint32_t lcore);
  void Raise(uint32_t lcore, const LcoreEvent& event);

  Endpoint* const endpoint_;
  uint32_t ticks_ = 0;
  std::vector<bool> link_up_;                     // as Config::ports
  std::vector<PoolLevel> pools_;                  // as Config::ports
  std::vector<LinkFollower> links_;               // as Config::ports
  std::vector<bool> plane_up_;                    // as Administration::Planes
  std::vector<uint64_t> lost_;                    // of each lcore, as told
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_WATCH_H_
