// SPDX-License-Identifier: Apache-2.0
// The layers between a link's burst and the port's device, stacked as templates: a call of a layer
// is direct and once a burst, and only the lowest layer makes a virtual one.
//
// A layer that lets some frames wait (flow control by VC) closes those VCs in `room`, keeps frames
// that it has taken and may not send yet in a queue of its own, and sends them from Flush; a layer
// that repeats frames (retry_layer.h) keeps them until the far end of the link has them. Frames
// that a layer keeps are busy like frames in a device. Their owner may release them meanwhile,
// through another port too, so the layer takes a reference of its own to each (Hold). A layer that
// looks at received frames does so in Receive: it keeps, releases or passes up each of them.
#ifndef SUEDE_LINK_LINK_LAYER_H_
#define SUEDE_LINK_LINK_LAYER_H_

#include <concepts>
#include <cstdint>
#include <utility>

#include "base/sue.h"
#include "base/time.h"
#include "port/port.h"

namespace suede {

using VcMask = uint8_t;
inline constexpr VcMask kEveryVc = (1u << kVcCount) - 1;
// Flows are held up separately: the VCs, and PDUs without commands.
inline constexpr uint32_t kLinkFlows = kVcCount + 1;
inline constexpr VcMask kAckBit = 1u << kVcCount;
inline constexpr VcMask kEveryFlow = kEveryVc | kAckBit;

class CreditGate;

// The lower side of a link. Transmit, IsBusy, Reclaim, Allocate, Release and the rest are as in
// Port.
template <typename T>
concept LinkLayer = requires(T& layer, const T& seen, Frame** frames, Frame* const* given,
                             const Frame* frame, uint32_t count, Time now, TxOffload offload) {
  // Passes up to `count` received frames up; the caller owns one reference to each.
  { layer.Receive(frames, count, now) } -> std::same_as<uint32_t>;
  // Takes a number of the given frames, the first ones; each has its TxNote.
  { layer.Transmit(given, count, now) } -> std::same_as<uint32_t>;
  // Sends frames that wait in the layer, and the layer's own frames. Called once a turn, before the
  // link's own burst, whether there is one or not.
  { layer.Flush(now) } -> std::same_as<void>;
  // Flows of which a frame may be staged. The link always offers frames that are staged already.
  { seen.room() } -> std::same_as<VcMask>;
  // The state of flow control by credit (credit_gate.h); null: there is none.
  { layer.gate() } -> std::same_as<CreditGate*>;
  { seen.gate() } -> std::same_as<const CreditGate*>;
  // Whether the layer, or one below it, may still read the frame.
  { seen.IsBusy(frame) } -> std::same_as<bool>;
  { layer.Reclaim() } -> std::same_as<bool>;
  { layer.Allocate(frames, count) } -> std::same_as<uint32_t>;
  { layer.Release(given, count) } -> std::same_as<void>;
  { layer.Hold(given, count) } -> std::same_as<void>;
  // For tests: frames of the pool that layers have made for themselves.
  { seen.frames_kept() } -> std::same_as<uint32_t>;
  { seen.Offers(offload) } -> std::same_as<bool>;
  { seen.max_frame_bytes() } -> std::same_as<uint32_t>;
  { seen.link() } -> std::same_as<LinkState>;
};

// The lowest layer: the port's queue pair.
class PortLayer {
 public:
  explicit PortLayer(Port* port) : port_(port) {}

  uint32_t Receive(Frame** frames, uint32_t max, Time /*now*/) {
    return port_->Receive(frames, max);
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count, Time /*now*/) {
    return port_->Transmit(frames, count);
  }
  void Flush(Time /*now*/) { port_->Flush(); }
  VcMask room() const { return kEveryFlow; }
  CreditGate* gate() { return nullptr; }
  const CreditGate* gate() const { return nullptr; }
  bool IsBusy(const Frame* frame) const { return port_->IsBusy(frame); }
  bool Reclaim() { return port_->Reclaim(); }
  uint32_t Allocate(Frame** frames, uint32_t count) { return port_->Allocate(frames, count); }
  void Release(Frame* const* frames, uint32_t count) { port_->Release(frames, count); }
  void Hold(Frame* const* frames, uint32_t count) { port_->Hold(frames, count); }
  uint32_t frames_kept() const { return 0; }
  bool Offers(TxOffload offload) const { return port_->Offers(offload); }
  uint32_t max_frame_bytes() const { return port_->max_frame_bytes(); }
  LinkState link() const { return port_->link(); }

 private:
  Port* port_;
};
static_assert(LinkLayer<PortLayer>);

// A layer that changes nothing: a layer above another derives from it and hides what it changes.
template <LinkLayer Below>
class LayerOver {
 public:
  explicit LayerOver(Below below) : below_(std::move(below)) {}

  uint32_t Receive(Frame** frames, uint32_t max, Time now) {
    return below_.Receive(frames, max, now);
  }
  uint32_t Transmit(Frame* const* frames, uint32_t count, Time now) {
    return below_.Transmit(frames, count, now);
  }
  void Flush(Time now) { below_.Flush(now); }
  VcMask room() const { return below_.room(); }
  CreditGate* gate() { return below_.gate(); }
  const CreditGate* gate() const { return below_.gate(); }
  bool IsBusy(const Frame* frame) const { return below_.IsBusy(frame); }
  bool Reclaim() { return below_.Reclaim(); }
  uint32_t Allocate(Frame** frames, uint32_t count) { return below_.Allocate(frames, count); }
  void Release(Frame* const* frames, uint32_t count) { below_.Release(frames, count); }
  void Hold(Frame* const* frames, uint32_t count) { below_.Hold(frames, count); }
  uint32_t frames_kept() const { return below_.frames_kept(); }
  bool Offers(TxOffload offload) const { return below_.Offers(offload); }
  uint32_t max_frame_bytes() const { return below_.max_frame_bytes(); }
  LinkState link() const { return below_.link(); }

 protected:
  Below& below() { return below_; }
  const Below& below() const { return below_; }

 private:
  Below below_;
};

}  // namespace suede

#endif  // SUEDE_LINK_LINK_LAYER_H_
