// SPDX-License-Identifier: Apache-2.0
// One port of a switch: its cables, its output, its end of a link, its settings and counters. Owned
// by one lcore.
#ifndef SUEDE_FABRIC_SWITCH_PORT_H_
#define SUEDE_FABRIC_SWITCH_PORT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/impairment.h"
#include "fabric/link_port.h"
#include "fabric/lldp_tap.h"
#include "fabric/output.h"
#include "fabric/params.h"
#include "fabric/pfc.h"
#include "fabric/shared_buffer.h"
#include "port/frame_tap.h"
#include "stats/switch_counters.h"

namespace suede::fabric {

// Takes frames that find the queues of a port empty, in place of the queues.
class Bypass {
 public:
  virtual ~Bypass() = default;
  // Takes a frame for the port, and returns true; false if there is no room for it now.
  virtual bool Take(uint32_t port, Frame* frame) = 0;
};

class SwitchPort {
 public:
  // Both references outlive this object.
  SwitchPort(const SwitchParams& params, uint32_t number, SharedBuffer& buffer);

  Impairment& in() { return in_; }
  Impairment& out() { return out_; }
  const Impairment& in() const { return in_; }
  const Impairment& out() const { return out_; }
  const Output& output() const { return output_; }
  // The port's end of its link; null: the port exchanges no link frames.
  LinkEnd* link() { return link_ != nullptr ? &link_->end() : nullptr; }
  const LinkEnd* link() const { return link_ != nullptr ? &link_->end() : nullptr; }
  // The credit of the port's link (docs/link.md); null: the port has none.
  CreditEnd* credit() { return link_ != nullptr ? link_->credit() : nullptr; }
  const CreditEnd* credit() const { return link_ != nullptr ? link_->credit() : nullptr; }

  const SwitchPortCounters& counters() const { return counters_; }
  const SwitchClassCounters& counters(uint32_t traffic_class) const {
    return of_class_[traffic_class];
  }
  // Received frames whose hop limit was used up.
  const DropNote& without_hops() const { return without_hops_; }
  // Copies frames that the port receives or has queued, and drops; not those that an impairment
  // loses, nor those that the device has not taken.
  TapPoint& drop_tap() { return drop_tap_; }
  bool is_down() const { return down_; }
  bool is_refused() const { return refused_; }
  // The caller has freed `frames` frames of Transmit that the device had not taken, as the port is
  // down.
  void OnUnsent(uint64_t frames) { counters_.Add(SwitchPortCounter::kTxDown, frames); }
  // With kMesh: frames for the port pass its queues by where they are empty. `bypass` outlives this
  // object.
  void SetBypass(Bypass* bypass) { bypass_ = bypass; }
  // Received LLDP frames go to `tap`, which outlives this object. To be called before frames come.
  void SetLldp(LldpTap* tap) { lldp_ = tap; }
  // Port isolation: no frame of this port is forwarded to `out` while `blocked` is set.
  void SetBlocked(uint32_t out, bool blocked);

 private:
  friend class Switch;

  bool Blocks(uint32_t out) const { return blocks_ != 0 && blocked_[out]; }
  bool HasVlan(uint16_t vid) const { return vlans_.empty() || vlans_[vid]; }
  // Returns false if the frame is to be dropped, for the reason FaultOf.
  bool Check(const FrameView& view) const {
    return view.error == ViewError::kNone && HasVlan(view.vid);
  }
  // Count a frame that is dropped, and copy it to the tap.
  void CountDrop(SwitchPortCounter reason, const Frame& frame) {
    counters_.Add(reason);
    if (drop_tap_.is_set()) [[unlikely]]
      CopyDropped(reason, frame);
  }
  void CountDrop(SwitchClassCounter reason, uint32_t traffic_class, const Frame& frame) {
    of_class_[traffic_class].Add(reason);
    if (drop_tap_.is_set()) [[unlikely]]
      CopyDropped(reason, frame);
  }
  void CopyDropped(SwitchPortCounter reason, const Frame& frame);
  void CopyDropped(SwitchClassCounter reason, const Frame& frame);
  static SwitchPortCounter FaultOf(ViewError error);
  // Counts a frame that leaves without having waited.
  void CountPassed(uint32_t traffic_class, uint32_t bytes) {
    counters_.Add(SwitchPortCounter::kTxFrames);
    counters_.Add(SwitchPortCounter::kTxFrameBytes, bytes);
    of_class_[traffic_class].Add(SwitchClassCounter::kFrames);
    of_class_[traffic_class].Add(SwitchClassCounter::kFrameBytes, bytes);
  }

  SwitchPortCounters counters_;
  Output::ClassCounters of_class_;
  Impairment in_;
  Impairment out_;
  Output output_;
  PfcSender pfc_;
  std::unique_ptr<LinkPort> link_;
  DropNote without_hops_;
  TapPoint drop_tap_;
  Bypass* bypass_ = nullptr;  // null: none
  LldpTap* lldp_ = nullptr;   // null: LLDP frames are dropped
  bool down_ = false;
  bool refused_ = false;
  bool touched_ = false;
  uint32_t blocks_ = 0;  // outputs
  std::vector<bool> blocked_;
  std::vector<bool> vlans_;  // by VID; empty: all
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_SWITCH_PORT_H_
