// SPDX-License-Identifier: Apache-2.0
#include "router/board.h"

namespace suede {

Centre& Board::AddCentre(const PoolPort::Params& params) {
  Plane& plane = planes_.emplace_back();
  plane.centre = std::make_unique<Centre>(params);
  plane.end = std::make_unique<Centre::End>(params, *plane.centre);
  return *plane.centre;
}

Router& Board::AddRouter(const mesh::Device& device, const fabric::SwitchParams& params,
                         Port& pool) {
  return *routers_.emplace_back(std::make_unique<Router>(device, params, pool));
}

void Board::AddCentres(Router& router, uint32_t first_port) {
  for (const Plane& plane : planes_) {
    router.AddPort(plane.end.get());
    plane.centre->AddRouter(&router, first_port++);
  }
}

bool Board::Poll(Time now) {
  for (const Plane& plane : planes_) plane.centre->SetNow(now);
  bool worked = false;
  for (const auto& router : routers_) worked |= router->Poll(now);
  return worked;
}

}  // namespace suede
