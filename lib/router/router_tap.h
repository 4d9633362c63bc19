// SPDX-License-Identifier: Apache-2.0
// Ports of routers whose frames are captured under one name.
#ifndef SUEDE_ROUTER_ROUTER_TAP_H_
#define SUEDE_ROUTER_ROUTER_TAP_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "port/frame_tap.h"

namespace suede {

class RouterTap final : public TappedPort {
 public:
  // `points`: at least one, of ports of routers, which outlive this object.
  RouterTap(std::string name, std::vector<TapPoint*> points)
      : name_(std::move(name)), points_(std::move(points)) {}

  const std::string& name() const override { return name_; }
  uint32_t lcores() const override { return static_cast<uint32_t>(points_.size()); }
  void SetTap(FrameTap* tap) override {
    for (TapPoint* const point : points_) point->Set(tap);
  }
  bool is_tapped() const override { return std::ranges::any_of(points_, &TapPoint::is_set); }

 private:
  const std::string name_;
  const std::vector<TapPoint*> points_;
};

}  // namespace suede

#endif  // SUEDE_ROUTER_ROUTER_TAP_H_
