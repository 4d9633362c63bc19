// SPDX-License-Identifier: Apache-2.0
// An Ethernet and AFH switch: parse, look up, classify, admit, queue, schedule, act
// (docs/switch.md). No I/O: takes frames and the time, returns frames. Owned by one lcore.
#ifndef SUEDE_FABRIC_SWITCH_H_
#define SUEDE_FABRIC_SWITCH_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/forwarding_table.h"
#include "fabric/impairment.h"
#include "fabric/link_port.h"
#include "fabric/output.h"
#include "fabric/params.h"
#include "fabric/pfc.h"
#include "fabric/shared_buffer.h"
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
  // Number of missing spare frames: floods, duplicates and PFC need frames that are not received.
  uint32_t spares_wanted() const { return max_spares_ - spares(); }
  uint32_t spares() const { return static_cast<uint32_t>(spares_.size()); }
  void GiveSpare(Frame* frame) { spares_.push_back(frame); }
  // Whether Transmit(port) would return no frame.
  bool IsIdle(uint32_t port) const {
    const Port& p = *ports_[port];
    return p.output.waiting() == 0 && p.out.on_cable() == 0 && !params_.ports[port].pfc.on &&
           p.link == nullptr;
  }
  // When the switch has work without further facts; kNever: never.
  Time deadline(Time now) const;
  // When one port has work without further facts; kNever: never.
  Time deadline(uint32_t port, Time now) const;
  // The ports for which frames were queued since the last ClearTouched.
  std::span<const uint16_t> touched() const { return touched_; }
  void ClearTouched();

  // ---- Settings, at any time.

  ForwardingTable& table() { return table_; }
  // The credit of the port's link (docs/link.md); null: the port has none.
  CreditEnd* credit(uint32_t port) {
    return ports_[port]->link != nullptr ? ports_[port]->link->credit() : nullptr;
  }
  const CreditEnd* credit(uint32_t port) const {
    return ports_[port]->link != nullptr ? ports_[port]->link->credit() : nullptr;
  }
  // Resets the high-water marks of queues and buffer.
  void ResetHighWater() {
    buffer_.ResetMax();
    for (const auto& port : ports_) port->output.ResetMax();
  }
  void SetDown(uint32_t port, bool down);
  bool is_down(uint32_t port) const { return ports_[port]->down; }
  // The caller has freed `frames` frames of Transmit that the device had not taken, as the port is
  // down.
  void OnUnsent(uint32_t port, uint64_t frames) {
    ports_[port]->counters.Add(SwitchPortCounter::kTxDown, frames);
  }
  // Port isolation: no frame is forwarded from `in` to `out` while `blocked` is set.
  void SetBlocked(uint32_t in, uint32_t out, bool blocked);
  Impairment& impairment_in(uint32_t port) { return ports_[port]->in; }
  Impairment& impairment_out(uint32_t port) { return ports_[port]->out; }
  const Impairment& impairment_in(uint32_t port) const { return ports_[port]->in; }
  const Impairment& impairment_out(uint32_t port) const { return ports_[port]->out; }

  // ---- State.

  uint32_t ClassOf(const Frame* frame, const FrameView& view) const;

  const SwitchParams& params() const { return params_; }
  const ForwardingTable& table() const { return table_; }
  const SharedBuffer& buffer() const { return buffer_; }
  const Output& output(uint32_t port) const { return ports_[port]->output; }
  const PfcSender& pfc(uint32_t port) const { return ports_[port]->pfc; }
  // The port's end of its link; null: the port exchanges no link frames.
  const LinkEnd* link(uint32_t port) const {
    return ports_[port]->link != nullptr ? &ports_[port]->link->end() : nullptr;
  }
  LinkEnd* link(uint32_t port) {
    return ports_[port]->link != nullptr ? &ports_[port]->link->end() : nullptr;
  }
  // Frames of links, and frames whose copy has arrived, which have ended without loss.
  uint64_t frames_of_links() const { return frames_of_links_; }
  const SwitchPortCounters& counters(uint32_t port) const { return ports_[port]->counters; }
  const SwitchClassCounters& counters(uint32_t port, uint32_t traffic_class) const {
    return ports_[port]->of_class[traffic_class];
  }
  // Frames inside the switch; for tests.
  uint32_t frames_inside() const;
  void CheckInvariants() const;

 private:
  static constexpr uint32_t kSpares = 64;
  static constexpr uint32_t kSparesOfLinks = 512;  // each numbered frame that leaves needs a spare

  struct Port {
    Port(const SwitchParams& params, uint32_t number, SharedBuffer& buffer);

    SwitchPortCounters counters;
    Output::ClassCounters of_class;
    Impairment in;
    Impairment out;
    Output output;
    PfcSender pfc;
    std::unique_ptr<LinkPort> link;
    bool down = false;
    bool touched = false;
    uint32_t blocks = 0;  // outputs
    std::vector<bool> blocked;
    std::vector<bool> vlans;  // by VID; empty: all
  };

  void OnFrame(uint32_t port, Frame* frame, Time now);
  void Forward(uint32_t in, Frame* frame, FrameView& view, Time now);
  bool Check(Port& port, const FrameView& view);
  void Learn(Port& port, uint32_t number, const FrameView& view, Time now);
  void Flood(uint32_t in, Frame* frame, const FrameView& view);
  bool UseHop(uint32_t in, Frame* frame, const FrameView& view, bool routed);
  void Queue(Port& port, uint32_t out, Frame* frame, const FrameView& view) {
    port.output.Push(frame, view);
    if (port.touched) return;
    port.touched = true;
    touched_.push_back(static_cast<uint16_t>(out));
  }
  static bool Blocks(const Port& port, uint32_t out) {
    return port.blocks != 0 && port.blocked[out];
  }
  void CountCredit(uint32_t number, Frame* frame);
  void FreeCredit(Frame* frame);
  bool Admit(uint32_t in, uint32_t out, FrameNote& note);
  void Enqueue(uint32_t in, uint32_t out, Frame* frame, const FrameView& view);
  bool Trim(uint32_t out, Frame* frame, const FrameView& view);
  void SendOn(Port& port, Frame* frame, Time now);
  bool OnReceive(Port& port, Frame* frame, Time now);
  Frame* NextOfLink(Port& port, Time now);
  void EndHeld(Port& port);
  Frame* PfcFrameOf(uint32_t number, Time now);
  Frame* CopyOf(const Frame* frame);
  void End(Frame* frame) {
    FreeCredit(frame);
    ended_.push_back(frame);
  }
  void Drop(Port& port, SwitchPortCounter reason, Frame* frame) {
    port.counters.Add(reason);
    End(frame);
  }

  const SwitchParams params_;
  SharedBuffer buffer_;
  ForwardingTable table_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<Frame*> ended_;
  std::vector<Frame*> spares_;
  std::vector<uint16_t> touched_;
  Time now_{};                              // of the last call that receives
  std::vector<CreditReceiver*> receivers_;  // of each port; null: it grants no credit
  uint32_t max_spares_ = kSpares;
  uint64_t frames_of_links_ = 0;
  uint64_t arriving_ = 0;  // a bit for each port whose cable may have frames
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_SWITCH_H_
