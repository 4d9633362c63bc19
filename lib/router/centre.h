// SPDX-License-Identifier: Apache-2.0
// The port by which the instances of an lcore send into a plane of the mesh, and receive from it:
// their frames enter and leave the routers of their devices there. Owned by one lcore.
#ifndef SUEDE_ROUTER_CENTRE_H_
#define SUEDE_ROUTER_CENTRE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "router/pool_port.h"
#include "router/router.h"

namespace suede {

class Centre final : public PoolPort {
 public:
  static constexpr uint32_t kDelivered = 1024;  // frames that wait for the pipeline

  explicit Centre(const PoolPort::Params& params) : PoolPort(params) {}

  // The router of a device, and the number of the centre in its switch; outlives this object.
  void AddRouter(Router* router, uint32_t port);
  // The time of this poll iteration.
  void SetNow(Time now) { now_ = now; }

  // ---- For routers.

  // The end of a centre that a router sends to.
  class End final : public PoolPort {
   public:
    End(const PoolPort::Params& params, Centre& centre) : PoolPort(params), centre_(centre) {}
    uint32_t Receive(Frame** /*frames*/, uint32_t /*max*/) override { return 0; }
    uint32_t Transmit(Frame* const* /*frames*/, uint32_t /*count*/) override { return 0; }
    uint32_t Give(Frame* const* frames, uint32_t count) override {
      return centre_.Deliver(frames, count);
    }

   private:
    Centre& centre_;
  };
  uint32_t Deliver(Frame* const* frames, uint32_t count);

  // ---- For the pipeline.

  uint32_t Receive(Frame** frames, uint32_t max) override;
  // Copies frames: the caller keeps its own for retransmission, and routers write to theirs.
  uint32_t Transmit(Frame* const* frames, uint32_t count) override;
  uint32_t Give(Frame* const* frames, uint32_t count) override;

 private:
  static constexpr uint32_t kCopied = 32;

  struct Entry {
    uint32_t device = 0;  // bits of the mesh and the device of an address
    Router* router = nullptr;
    uint32_t port = 0;
  };
  // Returns the entry of the frame's source; null: no own device.
  const Entry* EntryOf(const Frame* frame);
  template <class Take>
  uint32_t Inject(Frame* const* frames, uint32_t count, Take take);

  std::vector<Entry> entries_;  // by device
  const Entry* last_ = nullptr;
  Time now_{};
  std::array<Frame*, kDelivered> delivered_{};
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
};

}  // namespace suede

#endif  // SUEDE_ROUTER_CENTRE_H_
