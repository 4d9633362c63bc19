// SPDX-License-Identifier: Apache-2.0
// The layer of a link that exchanges link frames with the neighbour at the far end of the cable,
// and retransmits frames that the cable loses (docs/link.md). One branch for each burst where it is
// off.
//
// The layer holds a reference of its own to each numbered frame until the neighbour has received
// it, and gives the device few frames at a time: all frames in the device behind a lost frame are
// sent in vain. Frames of the layer above, credit-based flow control, pass through in both
// directions.
#ifndef SUEDE_LINK_RETRY_LAYER_H_
#define SUEDE_LINK_RETRY_LAYER_H_

#include <cstdint>
#include <memory>

#include "link/device_queue.h"
#include "link/link_end.h"
#include "port/port.h"

namespace suede {

class RetryLayer {
 public:
  RetryLayer(Port* port, const LinkParams& params)
      : port_(port), end_(params.on() ? std::make_unique<LinkEnd>(params) : nullptr) {}
  RetryLayer(const RetryLayer&) = delete;
  RetryLayer& operator=(const RetryLayer&) = delete;

  uint32_t Receive(Frame** frames, uint32_t max, Time now) {
    const uint32_t count = port_->Receive(frames, max);
    if (end_ == nullptr) [[likely]]
      return count;
    return OnReceive(frames, count, now);
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count, Time now) {
    if (end_ == nullptr) [[likely]]
      return port_->Transmit(frames, count);
    return Send(frames, count, now);
  }
  void Flush(Time now) {
    port_->Flush();
    if (end_ != nullptr) [[unlikely]]
      Serve(now);
  }
  // Devices do not support the shim.
  bool Offers(TxOffload offload) const {
    return port_->Offers(offload) && (!numbers() || offload == TxOffload::kNone);
  }
  uint32_t max_frame_bytes() const {
    return port_->max_frame_bytes() - (numbers() ? kLinkShimBytes : 0);
  }
  // For tests: frames of the pool that the layer has taken for itself.
  uint32_t frames_kept() const { return own_ != nullptr ? 1 : 0; }

  // This end of the link; null: all layers of the link are off.
  LinkEnd* end() { return end_.get(); }
  const LinkEnd* end() const { return end_.get(); }

 private:
  static constexpr uint32_t kAtOnce = 32;  // frames

  bool numbers() const { return end_ != nullptr && end_->params().retry.on; }
  uint32_t OnReceive(Frame** frames, uint32_t count, Time now);
  uint32_t Send(Frame* const* frames, uint32_t count, Time now);
  bool AllPass(Frame* const* frames, uint32_t count) const;
  bool Take(Frame* frame, LinkEnd::Passage passage, int64_t* room, Time now);
  Frame* CopyOf(const Frame& stale);
  void Serve(Time now);
  void SendHeld(Time now);
  void SendOwn(Time now);
  void ReleaseEnded();

  Port* const port_;
  std::unique_ptr<LinkEnd> end_;
  DeviceQueue device_;
  Frame* own_ = nullptr;  // a link frame that the port has not taken yet
};

}  // namespace suede

#endif  // SUEDE_LINK_RETRY_LAYER_H_
