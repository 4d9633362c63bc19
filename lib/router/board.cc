// SPDX-License-Identifier: Apache-2.0
#include "router/board.h"

#include <algorithm>

namespace suede {
namespace {

constexpr Duration kCheckInterval = std::chrono::milliseconds(1);  // of a router,
// And of the board: many routers are checked less often, and no two at once.
constexpr Duration kMinCheckInterval = std::chrono::microseconds(10);

}  // namespace

Centre& Board::AddCentre(const PoolPort::Params& params) {
  Plane& plane = planes_.emplace_back();
  plane.centre = std::make_unique<Centre>(params);
  plane.end = std::make_unique<Centre::End>(params, *plane.centre);
  return *plane.centre;
}

Router& Board::AddRouter(const mesh::Device& device, const fabric::SwitchParams& params,
                         Port& pool) {
  due_.push_back({});
  return *routers_.emplace_back(
      std::make_unique<Router>(device, params, pool, bells_.emplace_back()));
}

void Board::AddCentres(Router& router, uint32_t first_port) {
  for (const Plane& plane : planes_) {
    router.AddCentre(plane.end.get());
    plane.centre->AddRouter(&router, first_port++);
  }
}

bool Board::Poll(Time now) {
  for (const Plane& plane : planes_) plane.centre->SetNow(now);
  bool worked = false;
  for (size_t i = 0; i < routers_.size(); ++i) {
    if (!bells_[i].Take() && now < due_[i]) continue;
    worked |= routers_[i]->Poll(now);
    due_[i] = routers_[i]->due();
  }
  if (now >= next_check_) [[unlikely]]
    CheckRouters(now);
  return worked;
}

// Checks the routers whose turn has come.
void Board::CheckRouters(Time now) {
  const Duration interval = std::max(kCheckInterval / std::max(size(), 1u), kMinCheckInterval);
  for (uint32_t left = size(); left != 0 && now >= next_check_; --left) {
    routers_[checked_]->Check();
    checked_ = (checked_ + 1) % size();
    next_check_ += interval;
  }
  next_check_ = std::max(next_check_, now);
}

}  // namespace suede
