// SPDX-License-Identifier: Apache-2.0
// The layer of a link that sends on the credit of the neighbour at the far end of the cable, and
// grants it credit (docs/link.md, "Credit-based flow control"). One branch for each burst where it
// is off.
//
// Received frames count as in the buffer from when the layer passes them up until the end of the
// poll iteration: by then the pipeline has released them, or keeps them and the device has others
// instead. The credit of staged frames counts as used (`CreditGate::CountStaged`), so that staged
// frames can leave. Frames without credit nevertheless wait here, in order, and hold up no other
// link VC: frames staged before the credit restarted, and management packets, whose class was not
// checked for credit.
#ifndef SUEDE_LINK_CREDIT_LAYER_H_
#define SUEDE_LINK_CREDIT_LAYER_H_

#include <cstdint>
#include <memory>

#include "link/credit_gate.h"
#include "link/link_flows.h"
#include "link/retry_layer.h"

namespace suede {

class CreditLayer {
 public:
  CreditLayer(Port* port, const LinkParams& params) : port_(port), below_(port, params) {
    if (!params.credit.cbfc) return;
    gate_ = std::make_unique<CreditGate>(params, below_.max_frame_bytes());
    open_ = &gate_->open();
  }
  CreditLayer(const CreditLayer&) = delete;
  CreditLayer& operator=(const CreditLayer&) = delete;

  uint32_t Receive(Frame** frames, uint32_t max, Time now) {
    const uint32_t count = below_.Receive(frames, max, now);
    if (gate_ == nullptr) [[likely]]
      return count;
    return OnReceive(frames, count, now);
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count, Time now) {
    if (gate_ == nullptr || !(gate_->is_on() || gate_->waiting() != 0)) [[likely]]
      return below_.Transmit(frames, count, now);
    return Send(frames, count, now);
  }
  void Flush(Time now) {
    below_.Flush(now);
    if (gate_ != nullptr) [[unlikely]]
      Serve(now);
  }
  // Flows of which a frame may be staged. The link always offers frames that are already staged.
  VcMask room() const { return *open_; }
  bool Offers(TxOffload offload) const { return below_.Offers(offload); }
  uint32_t max_frame_bytes() const { return below_.max_frame_bytes(); }
  uint32_t frames_kept() const { return below_.frames_kept(); }

  LinkEnd* end() { return below_.end(); }
  const LinkEnd* end() const { return below_.end(); }
  // The gate of this end of the link; null: frames use no credit.
  CreditGate* gate() { return gate_.get(); }
  const CreditGate* gate() const { return gate_.get(); }

 private:
  uint32_t OnReceive(Frame** frames, uint32_t count, Time now);
  uint32_t Send(Frame* const* frames, uint32_t count, Time now);
  uint32_t SendRun(Frame* const* frames, uint32_t count, Time now);
  void SendWaiting(Time now);
  void SendUpdates(Time now);
  template <typename Next>
  bool SendUpdate(Next next, Time now);
  void Serve(Time now);

  static constexpr VcMask kOpen = kEveryFlow;

  Port* const port_;
  RetryLayer below_;
  std::unique_ptr<CreditGate> gate_;
  const VcMask* open_ = &kOpen;  // the gate's, if there is one
};

}  // namespace suede

#endif  // SUEDE_LINK_CREDIT_LAYER_H_
