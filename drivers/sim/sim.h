// SPDX-License-Identifier: Apache-2.0
// The ports of hosts on a network in virtual time (network.h), behind the burst interface.
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

// Frames belong to the pool of the port that gave them, and may be sent through, asked of and
// released to any port: a host with several of them sends a frame again on another.
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

  // ---- Ways to die, and back. link() reports only the first one.

  SimFaults& faults() {
    faults_changed_ = true;
    network_->faults_changed_ = true;
    return faults_;
  }
  // Shows `watch` each frame that is handed up, before its taker gets it.
  void Watch(std::function<void(std::span<const uint8_t>)> watch) { watch_ = std::move(watch); }
  // Tells `woken` of each frame that arrives.
  void SetWaker(std::function<void(Time)> woken) { woken_ = std::move(woken); }
  // The device drops frames to other groups than these, as a NIC does that was asked for no more.
  void SetGroups(std::vector<std::array<uint8_t, 6>> groups) { groups_ = std::move(groups); }
  // A frame of the neighbour's, that no switch has forwarded and the device does not obey, arrives
  // now.
  void Arrive(std::span<const uint8_t> bytes);
  // A link that is down loses frames that arrive and frames that leave.
  void SetLink(bool up);
  // Where this is set, nothing leaves while the link is down: frames in the transmit ring then
  // come out when the link is up again, as of devices that stop with their rings full.
  void KeepRingWhileDown(bool keep) { keeps_ring_ = keep; }
  // Loses frames that the port sends, or frames that arrive for it, or both.
  void SetSilent(bool sends_nothing, bool receives_nothing) {
    sends_nothing_ = sends_nothing;
    receives_nothing_ = receives_nothing;
  }
  // Nothing leaves: the ring fills up, and then nothing is taken.
  void SetPaused(bool paused);
  // Asks the switch, by PFC frames, to hold frames of these classes, a mask. As these frames are
  // under way for a while and may be lost, and pauses end by themselves, it holds them roughly.
  void SetClassesPaused(uint8_t classes);
  // A device obeys the switch's PFC frames: frames of paused classes stay in the ring, and the
  // others pass them. Where it does not obey, it hands these frames up.
  void SetObeysPfc(bool obeys) { obeys_pfc_ = obeys; }
  // The process that drove the ports has ended and another one starts: frames in rings are gone,
  // and every frame is in its pool. All ports that have frames of each other go together.
  static void Restart(std::span<SimPort* const> ports);

  // Max bytes of a class that were in the ring in front of a frame of another class. The class is
  // set before the first frame.
  void SetOverloaded(uint32_t traffic_class) { overloaded_ = traffic_class; }
  uint32_t max_ahead() const { return max_ahead_; }

  // Frames that are not in the pool: the pipeline's and the devices'.
  uint32_t frames_out() const { return static_cast<uint32_t>(buffers_.size() - free_.size()); }
  // The max of frames_out().
  uint32_t max_frames_out() const { return max_frames_out_; }
  // Frames that the device has, of any port.
  uint32_t frames_held() const { return static_cast<uint32_t>(ring_.size() + left_.size()); }
  // Whether the switch holds frames for the port because their class is paused.
  bool waits_for_class() const;
  // When the oldest frame came that was not taken yet; kNever: there is none.
  Time waits_since() const { return received_.empty() ? kNever : received_.front().at; }
  // Bytes of frames that were given to the ring, and of those that have left, lost ones too.
  uint64_t bytes_taken() const { return bytes_taken_; }
  uint64_t bytes_sent() const { return bytes_sent_; }
  // Bytes of frames that arrived and were not lost.
  uint64_t bytes_received() const { return bytes_received_; }

 private:
  friend class SimNetwork;
  struct Buffer;
  struct OnWire {
    Buffer* buffer;
    Time leaves;  // its last byte does; known of the ring's first frame, unless it is paused
    uint64_t fingerprint;  // of the bytes when the device took them: nobody may write to them
  };
  bool Sends() const { return !paused_ && (up_ || !keeps_ring_); }
  // The ring's first frame begins to leave.
  void BeginFirst();
  void GoOn(bool sent_before);
  // When the ring's first frame leaves; kNever: there is none, or none may.
  Time leaves_at() const;
  // When it has something to do by itself, which is done by Act.
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
  uint32_t posted_ = 0;  // frames of the pool that the device keeps for arrivals
  bool up_ = true;
  bool keeps_ring_ = false;
  bool sends_nothing_ = false;
  bool receives_nothing_ = false;
  bool paused_ = false;
  bool obeys_pfc_ = true;
  std::optional<std::vector<std::array<uint8_t, 6>>> groups_;  // none: of all
  Time free_at_{};  // when the last frame has left
  uint64_t bytes_taken_ = 0;
  uint64_t bytes_sent_ = 0;
  uint64_t bytes_received_ = 0;
  uint32_t max_frames_out_ = 0;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Buffer*> free_;
  std::deque<OnWire> ring_;
  std::deque<OnWire> left_;  // the reader of departures has not seen them yet
  struct Received {
    Time at;
    Frame* frame;  // of the network
  };
  std::deque<Received> received_;
  std::function<void(std::span<const uint8_t>)> watch_;
  std::function<void(Time)> woken_;
  uint32_t overloaded_ = kSimClasses;
  uint32_t max_ahead_ = 0;
  fabric::ClassMask asked_ = 0;  // classes that the switch is asked to pause
  fabric::PfcSender asks_;
  fabric::PfcReceiver told_;  // what the switch asks of this device
};

}  // namespace suede

#endif  // SUEDE_SIM_SIM_H_
