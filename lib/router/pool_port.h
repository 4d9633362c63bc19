// SPDX-License-Identifier: Apache-2.0
// A port without a device, whose frames come from the pool of another port.
#ifndef SUEDE_ROUTER_POOL_PORT_H_
#define SUEDE_ROUTER_POOL_PORT_H_

#include <cstdint>

#include "port/port.h"

namespace suede {

class PoolPort : public Port {
 public:
  struct Params {
    Port* pool = nullptr;  // of the lcore that owns the port; outlives it
    uint32_t max_frame_bytes = 0;
    uint64_t speed_bps = 0;  // 0: unknown
  };
  explicit PoolPort(const Params& params) : params_(params) {}

  bool IsBusy(const Frame* /*frame*/) const override { return false; }
  bool Reclaim() override { return true; }
  uint32_t Allocate(Frame** frames, uint32_t count) override {
    return params_.pool->Allocate(frames, count);
  }
  void Release(Frame* const* frames, uint32_t count) override {
    params_.pool->Release(frames, count);
  }
  void Hold(Frame* const* frames, uint32_t count) override { params_.pool->Hold(frames, count); }
  uint32_t max_frame_bytes() const override { return params_.max_frame_bytes; }
  bool Offers(TxOffload offload) const override { return offload == TxOffload::kNone; }
  LinkState link() const override { return {.up = true, .speed_bps = params_.speed_bps}; }

 private:
  const Params params_;
};

}  // namespace suede

#endif  // SUEDE_ROUTER_POOL_PORT_H_
