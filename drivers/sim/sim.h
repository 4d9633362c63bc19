// SPDX-License-Identifier: Apache-2.0
// A network in virtual time behind the burst interface: ports, links with faults, one switch.
//
// Everything that happens follows from the seed. There is no EAL, no thread and no clock but now().
#ifndef SUEDE_SIM_SIM_H_
#define SUEDE_SIM_SIM_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/time.h"
#include "port/port.h"
#include "sim/class_queues.h"

namespace suede {

// The faults that a link puts on frames that leave a port. Probabilities are per frame, 0 to 1. All
// of it may change at any time: a rate holds from the next frame on, a delay for frames that have
// not left.
struct SimFaults {
  double loss = 0;
  double reorder = 0;    // delayed by up to reorder_delay more than others
  double duplicate = 0;
  double corrupt = 0;    // one bit is flipped
  Duration delay = std::chrono::microseconds(1);
  Duration reorder_delay = std::chrono::microseconds(20);
  double bits_per_ns = 100;  // rate of the link
  uint32_t longest = ~0u;    // bytes: longer frames are lost
};

class SimPort;

// The switch that all ports are connected to: forwards by the destination in a frame's first six
// bytes, as an Ethernet switch does by the MAC address.
class SimNetwork {
 public:
  explicit SimNetwork(uint64_t seed) : random_(seed) {}

  // For a switch of another generation: which bits of those bytes, the first one most significant,
  // are the destination. Before the first AddPort.
  void SetDestinationMask(uint64_t mask) { destination_mask_ = mask; }

  // How the switch treats frames of different classes. Before the first AddPort.
  void SetClasses(const SimClasses& classes) { classes_ = classes; }

  // A port with its own pool of `frames` frames, of which the device keeps `rx_ring` at hand for
  // arrivals, and a transmit ring of `tx_ring` frames. `mac` holds the destination that leads to
  // it.
  SimPort* AddPort(const uint8_t (&mac)[6], uint32_t frames, uint32_t tx_ring,
                   const SimFaults& faults, uint32_t rx_ring = 0);
  // From now on frames for the destination go to `port`, as where a switch hears it on another.
  void Learn(const uint8_t (&mac)[6], SimPort* port);
  // A frame that comes from none of the ports.
  void Inject(std::vector<uint8_t> bytes) { Schedule(nullptr, std::move(bytes), now_); }

  // While it is blocked, the switch forwards nothing from the one port to the other.
  void Block(const SimPort* from, const SimPort* to, bool blocked);

  // A frame that `passes` refuses is lost on its way into the switch.
  void SetFilter(std::function<bool(std::span<const uint8_t>)> passes) {
    passes_ = std::move(passes);
  }

  // Keeps copies of frames that ports send from now on, up to so many frames; nullptr: no more.
  void Record(std::vector<std::vector<uint8_t>>* records, size_t most) {
    records_ = records;
    most_records_ = most;
  }

  Time now() const { return now_; }
  // Moves the clock, lets frames leave whose time comes until then, and delivers those that arrive.
  void AdvanceTo(Time time);
  // When the next frame arrives; kNever where none is under way.
  Time next_arrival() const;
  // Frames that links have lost so far.
  uint64_t frames_lost() const { return frames_lost_; }
  std::mt19937_64& random() { return random_; }
  bool Chance(double probability) {
    return probability > 0 && std::uniform_real_distribution<>(0, 1)(random_) < probability;
  }

 private:
  friend class SimPort;
  struct IsLater {
    bool operator()(const SimFrame& a, const SimFrame& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  void Send(const SimPort* from, const Frame& frame, Time leaves);
  void Schedule(const SimPort* from, std::vector<uint8_t> bytes, Time at);
  // It has come to the switch; it has come to the other port.
  void Switch(SimFrame frame);
  void Deliver(SimPort* to, SimFrame frame);
  SimPort* NextToFinish() const;
  uint32_t ClassOf(const std::vector<uint8_t>& bytes) const;

  std::mt19937_64 random_;
  Time now_{};
  uint64_t order_ = 0;
  uint64_t frames_lost_ = 0;
  SimClasses classes_;
  std::function<bool(std::span<const uint8_t>)> passes_;
  std::vector<std::vector<uint8_t>>* records_ = nullptr;
  size_t most_records_ = 0;
  std::priority_queue<SimFrame, std::vector<SimFrame>, IsLater> arrivals_;
  std::map<uint64_t, SimPort*> ports_;  // by destination
  std::set<std::pair<const SimPort*, const SimPort*>> blocked_;
  uint64_t destination_mask_ = (uint64_t{1} << 48) - 1;
  std::vector<std::unique_ptr<SimPort>> owned_;
};

// Frames belong to the pool of the port that gave them, and may be sent through, asked of and
// released to any port: a host with several of them sends a frame again on another.
class SimPort : public Port {
 public:
  static constexpr uint32_t kMaxFrameBytes = 4400;

  SimPort(SimNetwork* network, uint32_t frames, uint32_t tx_ring, const SimFaults& faults,
          uint32_t rx_ring);
  ~SimPort() override;

  uint32_t Receive(Frame** frames, uint32_t max) override;
  uint32_t Transmit(Frame* const* frames, uint32_t count) override;
  bool IsBusy(const Frame* frame) const override;
  bool Reclaim() override;
  uint32_t Allocate(Frame** frames, uint32_t count) override;
  void Release(Frame* const* frames, uint32_t count) override;
  uint32_t max_frame_bytes() const override { return kMaxFrameBytes; }
  bool Offers(TxOffload offload) const override { return offload == TxOffload::kNone; }
  LinkState link() const override {
    return {.up = up_, .speed_bps = static_cast<uint64_t>(faults_.bits_per_ns * 1e9)};
  }

  // ---- Ways to die, and back. The first is the only one that link() tells.

  SimFaults& faults() { return faults_; }
  // Shows `watch` each frame that is handed up, before its taker gets it.
  void Watch(std::function<void(std::span<const uint8_t>)> watch) { watch_ = std::move(watch); }
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
  // Frames of these classes, a mask, are held by the switch and do not come here.
  void SetClassesPaused(uint8_t classes);
  // The process that drove the ports has ended and another one starts: frames in rings are gone,
  // and every frame is in its pool. All ports that have frames of each other go together.
  static void Restart(std::span<SimPort* const> ports);

  // Frames that are not in the pool: the pipeline's and the devices'.
  uint32_t frames_out() const { return static_cast<uint32_t>(buffers_.size() - free_.size()); }
  // The most that ever were.
  uint32_t most_frames_out() const { return most_frames_out_; }
  // Frames that the device has, of any port.
  uint32_t frames_held() const { return static_cast<uint32_t>(ring_.size() + left_.size()); }
  // Whether frames are in the ring that nothing lets out.
  bool holds_frames() const { return !Sends() && !ring_.empty(); }
  // Whether the switch holds frames for it because their class is paused.
  bool waits_for_class() const { return queues_.HoldsPaused(); }
  // When the oldest frame came that was not taken yet; kNever: there is none.
  Time waits_since() const { return received_.empty() ? kNever : received_.front().at; }
  // Bytes of frames that were given to the ring, and of those that have left, lost ones too.
  uint64_t bytes_taken() const { return bytes_taken_; }
  uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  friend class SimNetwork;
  struct Buffer;
  struct OnWire {
    Buffer* buffer;
    Time leaves;           // its last byte does; known of the ring's first frame
    uint64_t fingerprint;  // of the bytes when the device took them: nobody may write to them
  };
  bool Sends() const { return !paused_ && (up_ || !keeps_ring_); }
  // The ring's first frame begins to leave.
  void BeginFirst();
  void GoOn(bool sent_before);
  void LeaveUntil(Time time);
  void FinishTransmissions();
  static void Unreference(Buffer* buffer);
  bool Take(Frame** frame);
  void Grow();
  void Refill();

  SimNetwork* network_;
  SimFaults faults_;
  uint32_t frames_;
  uint32_t tx_ring_;
  uint32_t rx_ring_;
  uint32_t posted_ = 0;  // frames of the pool that the device keeps for arrivals
  bool up_ = true;
  bool keeps_ring_ = false;
  bool sends_nothing_ = false;
  bool receives_nothing_ = false;
  bool paused_ = false;
  Time free_at_{};  // when the last frame has left
  uint64_t bytes_taken_ = 0;
  uint64_t bytes_sent_ = 0;
  uint32_t most_frames_out_ = 0;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Buffer*> free_;
  std::deque<OnWire> ring_;
  std::deque<OnWire> left_;  // the reader of departures has not seen them yet
  struct Received {
    Time at;
    std::vector<uint8_t> bytes;
  };
  std::deque<Received> received_;
  std::function<void(std::span<const uint8_t>)> watch_;
  ClassQueues queues_;  // of the switch, of frames for this port
};

}  // namespace suede

#endif  // SUEDE_SIM_SIM_H_
