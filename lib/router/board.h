// SPDX-License-Identifier: Apache-2.0
// The routers of the devices that one lcore runs, and the centres of its pipeline. Owned by that
// lcore once it runs.
#ifndef SUEDE_ROUTER_BOARD_H_
#define SUEDE_ROUTER_BOARD_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "router/centre.h"
#include "router/router.h"

namespace suede {

class Board {
 public:
  // Adds the next plane's centre, for the pipeline of the lcore.
  Centre& AddCentre(const PoolPort::Params& params);
  // Adds the router of a device. `params`: its ports are the cables, then the centre of each plane.
  // The caller then adds the cables' ports, in order, and calls AddCentres.
  Router& AddRouter(const mesh::Device& device, const fabric::SwitchParams& params, Port& pool);
  void AddCentres(Router& router, uint32_t first_port);

  // Runs one poll iteration of all routers that have work. Returns whether there was work.
  bool Poll(Time now);

  Centre& centre(uint32_t plane) { return *planes_[plane].centre; }
  uint32_t size() const { return static_cast<uint32_t>(routers_.size()); }
  Router& router(uint32_t number) { return *routers_[number]; }
  const Router& router(uint32_t number) const { return *routers_[number]; }

 private:
  struct Plane {
    std::unique_ptr<Centre> centre;
    std::unique_ptr<Centre::End> end;
  };
  void CheckRouters(Time now);

  std::vector<Plane> planes_;
  // States of all routers, apart from these, so that idle ones are passed quickly.
  std::deque<Bell> bells_;
  std::vector<Time> due_;
  std::vector<std::unique_ptr<Router>> routers_;
  Time next_check_{};
  uint32_t checked_ = 0;  // router whose turn is next
};

}  // namespace suede

#endif  // SUEDE_ROUTER_BOARD_H_
