// SPDX-License-Identifier: Apache-2.0
// An Ethernet and AFH switch: parse, look up, classify, admit, queue, schedule, act
// (docs/switch.md). No I/O: takes frames and the time, returns frames. Owned by one lcore.
#ifndef SUEDE_FABRIC_SWITCH_H_
#define SUEDE_FABRIC_SWITCH_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/device_routes.h"
#include "fabric/forwarding_table.h"
#include "fabric/group_spread.h"
#include "fabric/params.h"
#include "fabric/shared_buffer.h"
#include "fabric/switch_port.h"
#include "stats/switch_counters.h"

namespace suede::fabric {

class Switch {
 public:
  static constexpr uint32_t kMaxPorts = 1024;

  // `params`: valid (CheckParams), 1 to kMaxPorts ports. Allocates all its memory.
  explicit Switch(const SwitchParams& params);

  // ---- Frames.

  // Takes frames that the port has received, in order. The switch owns them now.
  void Receive(uint32_t port, Frame* const* frames, uint32_t count, Time now);
  // Returns up to `max` frames that the port sends now, in order. The caller owns them.
  uint32_t Transmit(uint32_t port, Frame** frames, uint32_t max, Time now);
  // Called once in a poll iteration, after all ports have received: processes frames that have
  // arrived from impaired cables. For callers with up to 64 ports; others call PollPort.
  void Poll(Time now);
  // Processes frames that have arrived from one port's impaired cable.
  void PollPort(uint32_t port, Time now);
  // Frames that have ended inside the switch, for the caller to release; then ClearEnded.
  std::span<Frame* const> ended() const { return ended_; }
  void ClearEnded() { ended_.clear(); }
  // Returns the spare frames of a switch.
  static uint32_t MaxSpares(const SwitchParams& params);
  // Number of missing spare frames: floods, duplicates and PFC need frames that are not received.
  uint32_t spares_wanted() const { return max_spares_ - spares(); }
  uint32_t spares() const { return static_cast<uint32_t>(spares_.size()); }
  void GiveSpare(Frame* frame) { spares_.push_back(frame); }
  // Whether Transmit(port) would return no frame, at any time.
  bool IsIdle(uint32_t port) const { return IsEmpty(port) && ports_[port]->link_ == nullptr; }
  // When the switch has work without further facts; kNever: never.
  Time deadline(Time now) const;
  // When one port has work without further facts; kNever: never.
  Time deadline(uint32_t port, Time now) const;
  // The ports for which frames were queued since the last ClearTouched.
  std::span<const uint16_t> touched() const { return touched_; }
  void ClearTouched();
  // Sends a frame of the switch's own by a port, in the class of untagged frames without a DSCP.
  // Returns false if the port is down or there is no room. For switches without levels.
  bool SendOwn(uint32_t port, std::span<const uint8_t> bytes, Time now);
  // Publishes the gauges of credit. To be called about each millisecond.
  void ShowCredit();

  // ---- Settings, at any time.

  ForwardingTable& table() { return table_; }
  SwitchPort& port(uint32_t port) { return *ports_[port]; }
  // Resets the high-water marks of queues and buffer.
  void ResetHighWater() {
    buffer_.ResetMax();
    for (const auto& port : ports_) port->output_.ResetMax();
  }
  void SetDown(uint32_t port, bool down);
  // Group g is that of SwitchParams::groups.
  GroupSpread& group(uint32_t group) { return *groups_[group]; }
  // Replaces the routing table of a plane, which has no routes at first. With kMesh.
  void SetRoutes(PlaneIndex plane, const mesh::RoutingTable& table) { routes_->Set(plane, table); }
  // Refuses a cable, which leads to another end than it should: frames from it and for it are
  // dropped, and link frames pass. With kMesh.
  void SetRefused(uint32_t port, bool refused);

  // ---- State.

  // The class, 0 to kClasses - 1.
  uint32_t ClassOf(const Frame* frame, const FrameView& view) const;

  const SwitchParams& params() const { return params_; }
  const ForwardingTable& table() const { return table_; }
  const SharedBuffer& buffer() const { return buffer_; }
  const SwitchPort& port(uint32_t port) const { return *ports_[port]; }
  const GroupSpread& group(uint32_t group) const { return *groups_[group]; }
  // Frames of links, and frames whose copy has arrived, which have ended without loss.
  uint64_t frames_of_links() const { return frames_of_links_; }
  // Frames inside the switch; for tests.
  uint32_t frames_inside() const;
  void CheckInvariants() const;

 private:
  static constexpr uint32_t kSpares = 64;
  static constexpr uint32_t kSparesOfRetry = 512;  // each numbered frame that leaves needs a spare

  // Whether no frame leaves by the port but those of its link.
  bool IsEmpty(uint32_t port) const {
    const SwitchPort& p = *ports_[port];
    return p.output_.is_empty() && p.out_.on_cable() == 0 && !params_.ports[port].pfc.on;
  }
  // Whether Transmit(port) would do nothing now.
  bool IsQuiet(uint32_t port, Time now) const {
    const LinkPort* const link = ports_[port]->link_.get();
    return IsEmpty(port) && (link == nullptr || link->IsQuiet(now));
  }
  FrameView ViewOf(const Frame* frame) const {
    return ViewFrame(params_.forwarding, frame->data, frame->length, params_.esun_ether_type);
  }
  void OnFrame(uint32_t port, Frame* frame, Time now);
  void Forward(uint32_t in, Frame* frame, FrameView& view, Time now);
  uint16_t RouteInMesh(uint32_t in, Frame* frame, FrameView& view, Time now);
  void Learn(SwitchPort& port, uint32_t number, const FrameView& view, Time now);
  void Flood(uint32_t in, Frame* frame, const FrameView& view);
  uint16_t MemberFor(uint32_t in, uint32_t group, Frame* frame, const FrameView& view);
  uint32_t QueuedBytes(uint16_t port) const;
  bool UseHop(uint32_t in, Frame* frame, const FrameView& view, bool routed);
  void DropWithoutHops(SwitchPort& port, Frame* frame, const FrameView& view);
  void Queue(SwitchPort& port, uint32_t out, Frame* frame, const FrameView& view) {
    port.output_.Push(frame, view);
    if (port.touched_) return;
    port.touched_ = true;
    touched_.push_back(static_cast<uint16_t>(out));
  }
  void CountCredit(uint32_t number, Frame* frame, uint8_t link_vc);
  void CountAny(uint32_t number, Frame* frame);
  void Refuse(uint32_t out, Frame* frame, const FrameView& view);
  void FreeCredit(Frame* frame);
  bool Admit(uint32_t in, uint32_t out, FrameNote& note);
  bool PassBy(uint32_t out, Frame* frame);
  void Enqueue(uint32_t in, uint32_t out, Frame* frame, const FrameView& view);
  bool TrimEarly(uint32_t out, Frame* frame, const FrameView& view);
  bool Trim(uint32_t out, Frame* frame, const FrameView& view);
  void SendOn(SwitchPort& port, Frame* frame, Time now);
  bool OnLinkFrame(SwitchPort& port, Frame* frame, Time now);
  Frame* NextOfLink(SwitchPort& port, Time now);
  Frame* Next(SwitchPort& port, bool& asks, Time now);
  void EndHeld(SwitchPort& port);
  uint32_t Send(uint32_t number, Frame** frames, uint32_t max, Time now);
  void DropWaiting(SwitchPort& port, SwitchClassCounter reason);
  Frame* PfcFrameOf(uint32_t number, Time now);
  Frame* CopyOf(const Frame* frame);
  void End(Frame* frame) {
    FreeCredit(frame);
    ended_.push_back(frame);
  }
  bool TakeLldp(SwitchPort& port, Frame* frame, Time now);
  void Drop(SwitchPort& port, SwitchPortCounter reason, Frame* frame) {
    port.CountDrop(reason, *frame);
    End(frame);
  }
  // Drops a frame that has no output.
  uint16_t DropUnrouted(SwitchPort& port, SwitchPortCounter reason, Frame* frame) {
    Drop(port, reason, frame);
    return kNoPort;
  }

  const SwitchParams params_;
  const FrameClassRule class_rule_;
  const bool learns_;
  SharedBuffer buffer_;
  ForwardingTable table_;
  std::unique_ptr<DeviceRoutes> routes_;  // null: not of kMesh
  std::vector<std::unique_ptr<SwitchPort>> ports_;
  std::vector<std::unique_ptr<GroupSpread>> groups_;
  std::vector<Frame*> ended_;
  std::vector<Frame*> spares_;
  std::vector<uint16_t> touched_;
  Time now_{};                              // of the last call that receives
  std::vector<CreditReceiver*> receivers_;  // of each port; null: it grants no credit
  const uint32_t max_spares_;
  uint64_t frames_of_links_ = 0;
  uint64_t arriving_ = 0;  // a bit for each port whose cable may have frames
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_SWITCH_H_
