// SPDX-License-Identifier: Apache-2.0
// Frames of a port for instances of other lcores. Owned by the lcore.
#ifndef SUEDE_RECEIVE_FOREIGN_FRAMES_H_
#define SUEDE_RECEIVE_FOREIGN_FRAMES_H_

#include <array>
#include <cstdint>
#include <new>

#include "lcore/lcore.h"
#include "lcore/port_context.h"
#include "receive/received_burst.h"
#include "wire/encap.h"

namespace suede {

class ForeignFrames {
 public:
  explicit ForeignFrames(Lcore& lcore) : lcore_(lcore) {}

  // Keeps a frame for another lcore's instance until HandOver; drops a frame for no instance.
  // Returns whether the frame is kept. (A handover here would make every frame more expensive.)
  [[gnu::always_inline]] bool Add(const PortContext& port, PortContext::Location place,
                                  Frame* frame) {
    if (place.instance == PortContext::Location::kNowhere) {
      lcore_.counters.Add(Counter::kRxUnknownDestination);
      return false;
    }
    // RestoreFrame does not use the ParsedFrame.
    if (port.params.rules.encap == Encap::kUdp4) new (frame->notes) ParsedFrame;
    frames_[count_++] = {.frame = frame, .neighbour = place.plane};
    return true;
  }
  // Hands over the frames that were added, and publishes them to the other lcores.
  void HandOver(PortContext& port);
  // Counts whether a frame was handed over. Returns `handed`: if true, the other lcore owns the
  // frame.
  bool Count(bool handed) {
    lcore_.counters.Add(handed ? Counter::kRxHandedOver : Counter::kRxHandoverFull);
    return handed;
  }

 private:
  struct Foreign {
    Frame* frame = nullptr;
    uint32_t neighbour = 0;
  };
  Lcore& lcore_;
  std::array<Foreign, ReceivedBurst::kMaxFrames> frames_;
  uint32_t count_ = 0;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_FOREIGN_FRAMES_H_
