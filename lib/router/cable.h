// SPDX-License-Identifier: Apache-2.0
// A cable between two devices of one process: a ring of frames in each direction. Each end belongs
// to the lcore of its device; the two may differ.
#ifndef SUEDE_ROUTER_CABLE_H_
#define SUEDE_ROUTER_CABLE_H_

#include <atomic>

#include "base/burst_ring.h"
#include "router/bell.h"
#include "router/pool_port.h"

namespace suede {

class Cable {
 public:
  static constexpr uint32_t kFrames = 64;  // in each direction

  class End final : public PoolPort {
   public:
    uint32_t Receive(Frame** frames, uint32_t max) override { return in_.Pop(frames, max); }
    // Not for frames that the caller keeps: use Give.
    uint32_t Transmit(Frame* const* /*frames*/, uint32_t /*count*/) override { return 0; }
    uint32_t Give(Frame* const* frames, uint32_t count) override;
    // Rings `bell` for frames that arrive at this end. Set before the first frame; null: none.
    void SetBell(Bell* bell) { bell_ = bell; }
    LinkState link() const override {
      return {.up = is_up_.load(std::memory_order_relaxed), .speed_bps = 0};
    }

   private:
    friend class Cable;
    using Ring = BurstRing<Frame*, kFrames>;
    End(const PoolPort::Params& params, Ring& in, Ring& out, End& far,
        const std::atomic<bool>& is_up)
        : PoolPort(params), in_(in), out_(out), far_(far), is_up_(is_up) {}

    Ring& in_;
    Ring& out_;
    End& far_;
    const std::atomic<bool>& is_up_;
    Bell* bell_ = nullptr;
  };

  explicit Cable(const PoolPort::Params& params)
      : a_(params, to_a_, to_b_, b_, is_up_), b_(params, to_b_, to_a_, a_, is_up_) {}
  Cable(const Cable&) = delete;
  Cable& operator=(const Cable&) = delete;

  End& a() { return a_; }
  End& b() { return b_; }
  // Breaks or mends the cable. Any thread.
  void SetUp(bool up) { is_up_.store(up, std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_up_{true};
  End::Ring to_a_;
  End::Ring to_b_;
  End a_;
  End b_;
};

}  // namespace suede

#endif  // SUEDE_ROUTER_CABLE_H_
