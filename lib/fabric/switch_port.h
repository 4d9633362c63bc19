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
#include "fabric/output.h"
#include "fabric/params.h"
#include "fabric/pfc.h"
#include "fabric/shared_buffer.h"
#include "stats/switch_counters.h"

namespace suede::fabric {

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
  bool is_down() const { return down_; }
  bool is_refused() const { return refused_; }
  // The caller has freed `frames` frames of Transmit that the device had not taken, as the port is
  // down.
  void OnUnsent(uint64_t frames) { counters_.Add(SwitchPortCounter::kTxDown, frames); }
  // Port isolation: no frame of this port is forwarded to `out` while `blocked` is set.
  void SetBlocked(uint32_t out, bool blocked);

 private:
  friend class Switch;

  bool Blocks(uint32_t out) const { return blocks_ != 0 && blocked_[out]; }
  bool HasVlan(uint16_t vid) const { return vlans_.empty() || vlans_[vid]; }
  // Returns false if the frame is to be dropped; counts the reason.
  bool Check(const FrameView& view) {
    if (view.error == ViewError::kNone && HasVlan(view.vid)) [[likely]]
      return true;
    counters_.Add(FaultOf(view.error));
    return false;
  }
  static SwitchPortCounter FaultOf(ViewError error);

  SwitchPortCounters counters_;
  Output::ClassCounters of_class_;
  Impairment in_;
  Impairment out_;
  Output output_;
  PfcSender pfc_;
  std::unique_ptr<LinkPort> link_;
  DropNote without_hops_;
  bool down_ = false;
  bool refused_ = false;
  bool touched_ = false;
  uint32_t blocks_ = 0;  // outputs
  std::vector<bool> blocked_;
  std::vector<bool> vlans_;  // by VID; empty: all
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_SWITCH_PORT_H_
