// SPDX-License-Identifier: Apache-2.0
// Hosts' ports on a network in virtual time (network.h), with the burst interface.
#ifndef SUEDE_SIM_SIM_H_
#define SUEDE_SIM_SIM_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/coordinates.h"
#include "base/time.h"
#include "fabric/pfc.h"
#include "port/port.h"
#include "sim/network.h"

namespace suede {

struct SimPortBytes {
  uint64_t taken = 0;     // of frames put into the ring
  uint64_t sent = 0;      // of frames sent, lost ones included
  uint64_t received = 0;  // of frames that arrived and were not lost
};

// Frames belong to the pool of the port that allocated them, and may be sent through, queried by
// and released to any port: a host with several ports may retransmit a frame on another.
class SimPort : public Port {
 public:
  static constexpr uint32_t kMaxFrameBytes = SimNetwork::kMaxFrameBytes;

  SimPort(SimNetwork* network, PortIndex number, uint32_t frames, uint32_t tx_ring,
          const SimFaults& faults, uint32_t rx_ring);
  ~SimPort() override;

  uint32_t Receive(Frame** frames, uint32_t max) override;
  uint32_t Transmit(Frame* const* frames, uint32_t count) override;
  bool IsBusy(const Frame* frame) const override;
  bool Reclaim() override;
  uint32_t Allocate(Frame** frames, uint32_t count) override;
  void Release(Frame* const* frames, uint32_t count) override;
  void Hold(Frame* const* frames, uint32_t count) override;
  uint32_t max_frame_bytes() const override { return kMaxFrameBytes; }
  bool Offers(TxOffload offload) const override { return offload == TxOffload::kNone; }
  LinkState link() const override {
    return {.up = up_, .speed_bps = static_cast<uint64_t>(faults_.bits_per_ns * 1e9)};
  }

  // ---- Failures and recovery. link() reports only SetLink.

  SimFaults& faults() {
    faults_changed_ = true;
    network_->faults_changed_ = true;
    return faults_;
  }
  // Calls `watch` with each received frame before the caller gets it.
  void Watch(std::function<void(std::span<const uint8_t>)> watch) { watch_ = std::move(watch); }
  // Calls `woken` for each frame that arrives.
  void SetWaker(std::function<void(Time)> woken) { woken_ = std::move(woken); }
  // Drops frames to groups other than these, like a NIC with a multicast filter.
  void SetGroups(std::vector<std::array<uint8_t, 6>> groups) { groups_ = std::move(groups); }
  // Receives a frame of the neighbour now, which no switch forwards and the device does not
  // process.
  void Arrive(std::span<const uint8_t> bytes);
  // Sets the link; a link that is down loses arriving and leaving frames.
  void SetLink(bool up);
  // Keeps frames in the transmit ring while the link is down; they are sent when it is up again, as
  // by devices that stop with full rings.
  void KeepRingWhileDown(bool keep) { keeps_ring_ = keep; }
  // Loses frames that the port sends, or frames that arrive for it, or both.
  void SetSilent(bool sends_nothing, bool receives_nothing) {
    sends_nothing_ = sends_nothing;
    receives_nothing_ = receives_nothing;
  }
  // Stops transmission: the ring fills up, then Transmit takes nothing.
  void SetPaused(bool paused);
  // Requests the switch, by PFC frames, to pause these classes, a mask. The effect is approximate:
  // PFC frames take time and may be lost, and pauses expire.
  void SetClassesPaused(uint8_t classes);
  // Sets whether the device processes the switch's PFC frames: frames of paused classes stay in the
  // ring, and others pass them. If not, the device delivers PFC frames to the host.
  void SetObeysPfc(bool obeys) { obeys_pfc_ = obeys; }
  // Simulates the end of the process that drove the ports and the start of another: frames in rings
  // are lost, and every frame is back in its pool. Must include all ports that hold frames of each
  // other.
  static void Restart(std::span<SimPort* const> ports);

  // Measures the max bytes of this class in the ring ahead of a frame of another class. To be
  // called before the first frame.
  void SetOverloaded(uint32_t traffic_class) { overloaded_ = traffic_class; }
  uint32_t max_ahead() const { return max_ahead_; }

  // Frames outside the pool: held by the pipeline or by devices.
  uint32_t frames_out() const { return static_cast<uint32_t>(buffers_.size() - free_.size()); }
  // Max of frames_out().
  uint32_t max_frames_out() const { return max_frames_out_; }
  // Frames that the device holds, of any port.
  uint32_t frames_held() const { return static_cast<uint32_t>(ring_.size() + left_.size()); }
  // Whether the switch holds frames for the port because their class is paused.
  bool waits_for_class() const;
  // Returns the arrival time of the oldest frame not yet received; kNever: none.
  Time waits_since() const { return received_.empty() ? kNever : received_.front().at; }
  const SimPortBytes& bytes() const { return bytes_; }

 private:
  friend class SimNetwork;
  struct Buffer;
  struct OnWire {
    Buffer* buffer;
    Time leaves;           // of the last byte; set for the ring's first frame, unless paused
    uint64_t fingerprint;  // of the bytes when the device took them, which must not change
  };
  bool Sends() const { return !paused_ && (up_ || !keeps_ring_); }
  // Starts transmission of the ring's first frame.
  void BeginFirst();
  void GoOn(bool sent_before);
  // Returns when the ring's first frame leaves; kNever: none, or not permitted.
  Time leaves_at() const;
  // Returns when Act has work due.
  Time deadline() const;
  void Act(Time now);
  void Ask(Time now);
  void Arrive(Frame* frame, Time now);
  bool Filters(const Frame& frame) const;
  void Lose(Frame* frame);
  void LeaveUntil(Time time);
  void LookAhead(const Frame& frame);
  void FinishTransmissions();
  static void Unreference(Buffer* buffer);
  bool Take(Frame** frame);
  void Grow();
  void Refill();

  SimNetwork* network_;
  const uint32_t number_;  // of the switch's port
  SimFaults faults_;
  bool faults_changed_ = true;
  uint32_t frames_;
  uint32_t tx_ring_;
  uint32_t rx_ring_;
  uint32_t posted_ = 0;  // frames of the pool reserved for arrivals
  bool up_ = true;
  bool keeps_ring_ = false;
  bool sends_nothing_ = false;
  bool receives_nothing_ = false;
  bool paused_ = false;
  bool obeys_pfc_ = true;
  std::optional<std::vector<std::array<uint8_t, 6>>> groups_;  // none: no filter
  Time free_at_{};  // when the last frame has left
  SimPortBytes bytes_;
  uint32_t max_frames_out_ = 0;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Buffer*> free_;
  std::deque<OnWire> ring_;
  std::deque<OnWire> left_;  // sent, not yet processed by FinishTransmissions
  struct Received {
    Time at;
    Frame* frame;  // of the network
  };
  std::deque<Received> received_;
  std::function<void(std::span<const uint8_t>)> watch_;
  std::function<void(Time)> woken_;
  uint32_t overloaded_ = kSimClasses;
  uint32_t max_ahead_ = 0;
  fabric::ClassMask asked_ = 0;  // classes that the switch is requested to pause
  fabric::PfcSender asks_;
  fabric::PfcReceiver told_;  // pauses that the switch requests of this device
};

}  // namespace suede

#endif  // SUEDE_SIM_SIM_H_
