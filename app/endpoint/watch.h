// SPDX-License-Identifier: Apache-2.0
// Checks an endpoint's links, pools, planes and lcores, and raises their events.
#ifndef SUEDE_APP_ENDPOINT_WATCH_H_
#define SUEDE_APP_ENDPOINT_WATCH_H_

#include <cstdint>
#include <vector>

#include "daemon/cpu_share.h"
#include "daemon/link_follower.h"
#include "endpoint/pool_level.h"
#include "lcore/mailbox.h"
#include "mgmt/endpoint_view.h"

namespace suede {

class Endpoint;

// Control thread only.
class Watch {
 public:
  // The endpoint must outlive this, and have its ports and pipelines.
  explicit Watch(Endpoint* endpoint);
  // To be called about every 10 ms.
  void Tick();

 private:
  void CheckPort(uint32_t port);
  void CheckPlanes();
  void DrainEvents(uint32_t lcore);
  void Raise(uint32_t lcore, const LcoreEvent& event);

  Endpoint* const endpoint_;
  uint32_t ticks_ = 0;
  std::vector<bool> link_up_;        // in the order of Config::ports
  std::vector<PoolLevel> pools_;     // in the order of Config::ports
  std::vector<LinkFollower> links_;  // in the order of Config::ports
  std::vector<bool> plane_up_;       // in the order of Administration::Planes
  std::vector<uint64_t> lost_;       // of each lcore, as last reported
  std::vector<CpuShare> shares_;     // of each lcore
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_WATCH_H_
