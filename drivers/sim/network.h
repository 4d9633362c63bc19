// SPDX-License-Identifier: Apache-2.0
// A network in virtual time: one switch (lib/fabric), and the cables to the ports of hosts.
//
// Everything that happens follows from the seed. There is no EAL, no thread and no clock but now().
#ifndef SUEDE_SIM_NETWORK_H_
#define SUEDE_SIM_NETWORK_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/time.h"
#include "fabric/random.h"
#include "fabric/switch.h"
#include "sim/earliest.h"

namespace suede {

inline constexpr uint32_t kSimClasses = fabric::kClasses;

// The faults that a link puts on frames that leave a port. Probabilities are per frame, 0 to 1. All
// of it may change at any time: a rate holds from the next frame on, a delay for frames that have
// not left.
struct SimFaults {
  double loss = 0;
  double reorder = 0;  // delayed by up to reorder_delay more than others
  double duplicate = 0;
  double corrupt = 0;  // one bit is flipped
  double loss_back = 0;  // of frames that the switch sends to the port
  Duration delay = std::chrono::microseconds(1);
  Duration reorder_delay = std::chrono::microseconds(20);
  double bits_per_ns = 100;  // rate of the link
  uint32_t max_bytes = ~0u;  // bytes: longer frames are lost
};

// The treatment of frames of each class between two ports of a switch.
struct SimClasses {
  struct OfClass {
    Duration delay{};  // more than SimFaults has
    double loss = 0;   // these two come in addition, too
    double reorder = 0;
  };
  bool on = false;            // false: the switch sends at once, and all frames are alike
  bool weighted = false;      // by shares of class number + 1; false: higher classes first
  uint32_t max_held = 1024;   // frames of a class; more are lost
  Duration max_wait = std::chrono::microseconds(500);  // those held for longer are lost
  std::array<OfClass, kSimClasses> of{};
};

class SimPort;

class SimNetwork {
 public:
  static constexpr uint32_t kMaxFrameBytes = 4400;

  explicit SimNetwork(uint64_t seed);
  ~SimNetwork();
  SimNetwork& operator=(SimNetwork&& other) noexcept;

  // ---- The switch, before the first AddPort.

  // Ports that hosts may have; the switch has one more, for Inject.
  void SetPorts(uint32_t count);
  // How the switch treats frames of different classes.
  void SetClasses(const SimClasses& classes);
  // All else. With buffer_bytes 0, as it is at first, the buffer has the bytes that the classes
  // have reserved.
  fabric::SwitchParams& params() { return params_; }
  // Instead of all that: a switch of these parameters, with a port of a host at each of its ports.
  // The test says where addresses lead, and sets impairments (Change); only the rate of SimFaults
  // is used.
  void SetSwitch(const fabric::SwitchParams& params);
  // Instead of a switch a cable between two ports. It takes `delay` and loses nothing.
  void SetCable(Duration delay);

  // ---- Ports. `mac`: the address that leads to it; where the switch forwards by addresses of AFH
  // Gen 2, these are its last four bytes.

  // A port with its own pool of `frames` frames, of which the device keeps `rx_ring` at hand for
  // arrivals, and a transmit ring of `tx_ring` frames.
  SimPort* AddPort(const uint8_t (&mac)[6], uint32_t frames, uint32_t tx_ring,
                   const SimFaults& faults, uint32_t rx_ring = 0);
  // A port without an address, else as above.
  SimPort* AddPort(uint32_t frames, uint32_t tx_ring, const SimFaults& faults,
                   uint32_t rx_ring = 0);
  // From now on frames for the destination go to `port`, as where a switch hears it on another.
  void Learn(const uint8_t (&mac)[6], SimPort* port);
  // A frame that comes from none of the ports.
  void Inject(std::span<const uint8_t> bytes);
  // While it is blocked, the switch forwards nothing from the one port to the other.
  void Block(const SimPort* from, const SimPort* to, bool blocked);

  // The share `loss` of the updates of credit-based flow control is lost, both ways (docs/link.md).
  void SetUpdateLoss(double loss) { update_loss_ = loss; }
  // Updates that were lost by it; frames_lost does not count them.
  uint64_t updates_lost() const { return updates_lost_; }

  // A frame that `passes` refuses is lost on its way into the switch.
  void SetFilter(std::function<bool(std::span<const uint8_t>)> passes) {
    passes_ = std::move(passes);
  }

  // A frame of a host comes to the switch when `way` says: it is shown the port, the frame, which
  // it may mark, and when that leaves the port; kNever: it is lost. Frames may overtake others
  // there.
  using Way = std::function<Time(const SimPort*, std::span<uint8_t>, Time leaves)>;
  void SetWay(Way way) { way_ = std::move(way); }

  // Frames to the next bridge alone (01-80-C2-00-00-00 to -0F, as PFC) are shown to `hear`, with
  // the port that they come from, as they leave it, and go no further.
  void SetNeighbour(std::function<void(const SimPort*, std::span<const uint8_t>)> hear) {
    neighbour_ = std::move(hear);
  }

  // Keeps copies of up to `max` frames that ports send from now on; nullptr: keeps no more.
  void Record(std::vector<std::vector<uint8_t>>* records, size_t max) {
    records_ = records;
    max_records_ = max;
  }
  // Makes digest() cover all frames that arrive from now on: their bytes, ports and times.
  void TakeDigest() { takes_digest_ = true; }
  uint64_t digest() const { return digest_; }

  Time now() const { return now_; }
  // Moves the clock, and does all that is due until then, in order.
  void AdvanceTo(Time time);
  // When the next frame may arrive; kNever where none is under way.
  Time next_arrival() const;
  // When AdvanceTo has something to do, whatever it is; kNever: nothing.
  Time next_event() const { return ports_.empty() ? kNever : next_.time(); }
  // Frames that links, the switch and devices have lost so far.
  uint64_t frames_lost() const;
  // The switch, after the first AddPort.
  const fabric::Switch& the_switch() const { return *switch_; }
  // Changes settings of the switch's port now.
  void Change(const SimPort* port,
              const std::function<void(fabric::Switch&, uint32_t port)>& change);
  // The host's end of the port sends a PFC frame that no device of ours has made.
  void Storm(const SimPort* port, const fabric::PfcFrame& pfc);

 private:
  friend class SimPort;
  struct Pooled;

  void Build();
  fabric::Switch& SwitchOf(const SimPort* port);
  NetAddress KeyOf(const uint8_t (&mac)[6]) const;
  void SetImpairments(uint32_t number, const SimFaults& faults);
  // Actions of a port's device: a frame leaves it; it tells the switch to pause classes.
  void Send(const SimPort& from, const Frame& frame, Time leaves);
  bool LosesUpdate(const Frame& frame);
  void SendPfc(uint32_t number, const fabric::PfcFrame& pfc, Time leaves);
  // A port has something to do at `at`, or earlier.
  void WakeAt(uint32_t number, Time at);
  void Serve(uint32_t number);
  void ServeCable(uint32_t number);
  void EndWays(uint32_t number);
  void TransmitOf(uint32_t number);
  void Arrive(uint32_t number, Frame* frame);
  fabric::ClassMask ClassBitOf(const Frame& frame) const;
  // Frames of the switch.
  Frame* Take(std::span<const uint8_t> bytes);
  Frame* TakeEmpty();
  void Release(Frame* frame) { free_.push_back(frame); }
  void Refill();

  fabric::SwitchParams params_;
  SimClasses classes_;
  bool given_ = false;  // params_ are all that there is to the switch
  bool is_cable_ = false;
  Duration cable_delay_{};
  bool switch_pauses_ = false;  // it has lossless classes
  Time now_{};
  uint64_t frames_lost_ = 0;   // by devices
  double update_loss_ = 0;
  uint64_t updates_lost_ = 0;
  fabric::Random update_dice_;
  uint64_t frames_ended_ = 0;  // in the switch
  bool takes_digest_ = false;
  uint64_t digest_ = 0;
  std::function<bool(std::span<const uint8_t>)> passes_;
  Way way_;
  std::vector<std::multimap<Time, Frame*>> on_way_;  // from each port, by when they are there
  std::function<void(const SimPort*, std::span<const uint8_t>)> neighbour_;
  std::vector<std::vector<uint8_t>>* records_ = nullptr;
  size_t max_records_ = 0;
  std::vector<std::unique_ptr<Pooled>> frames_;
  std::vector<Frame*> free_;
  std::unique_ptr<fabric::Switch> switch_;
  std::vector<std::unique_ptr<SimPort>> ports_;
  struct OnCable {
    Time at;
    Frame* frame;
  };
  std::array<std::deque<OnCable>, 2> on_cable_;  // towards each end of a cable
  Earliest next_;                                // when each port of the switch has something to do
  bool faults_changed_ = false;                  // of a port
};

}  // namespace suede

#endif  // SUEDE_SIM_NETWORK_H_
