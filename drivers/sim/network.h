// SPDX-License-Identifier: Apache-2.0
// A network in virtual time: one switch (lib/fabric), and the cables to the hosts' ports.
//
// All events are determined by the seed. There is no EAL, no thread and no clock except now().
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

// The faults of a link on frames that leave a port. Probabilities are per frame, 0 to 1. All fields
// may change at any time: a rate applies from the next frame on, a delay to frames that have not
// left.
struct SimFaults {
  double loss = 0;
  double reorder = 0;  // probability of an extra delay of up to reorder_delay
  double duplicate = 0;
  double corrupt = 0;  // one bit is flipped
  double loss_back = 0;  // of frames from the switch to the port
  Duration delay = std::chrono::microseconds(1);
  Duration reorder_delay = std::chrono::microseconds(20);
  double bits_per_ns = 100;  // link rate
  uint32_t max_bytes = ~0u;  // longer frames are lost
};

// The treatment of frames by class between two ports of a switch.
struct SimClasses {
  struct OfClass {
    Duration delay{};  // added to SimFaults::delay
    double loss = 0;   // added to SimFaults, like reorder
    double reorder = 0;
  };
  bool on = false;           // false: the switch forwards at once, without classes
  bool weighted = false;     // by weights of class number + 1; false: strict priority
  uint32_t max_held = 1024;  // max frames queued per class; more are lost
  Duration max_wait = std::chrono::microseconds(500);  // frames queued for longer are lost
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

  // Sets the number of host ports; the switch has one more, for Inject.
  void SetPorts(uint32_t count);
  // Sets the treatment of frames by class.
  void SetClasses(const SimClasses& classes);
  // Other parameters. With buffer_bytes 0, the default, the buffer has the bytes that the classes
  // reserve.
  fabric::SwitchParams& params() { return params_; }
  // Replaces all of the above by a switch with these parameters, with a host port at each of its
  // ports. The test sets forwarding addresses and impairments (Change); of SimFaults only the rate
  // is used.
  void SetSwitch(const fabric::SwitchParams& params);
  // Replaces the switch by a cable between two ports, with `delay` and without loss.
  void SetCable(Duration delay);

  // ---- Ports. `mac`: the address that leads to the port; if the switch forwards by AFH Gen 2
  // addresses, its last four bytes.

  // Adds a port with its own pool of `frames` frames, of which the device posts `rx_ring` for
  // arrivals (0: no limit), and a transmit ring of `tx_ring` frames.
  SimPort* AddPort(const uint8_t (&mac)[6], uint32_t frames, uint32_t tx_ring,
                   const SimFaults& faults, uint32_t rx_ring = 0);
  // Adds a port without an address, otherwise as above.
  SimPort* AddPort(uint32_t frames, uint32_t tx_ring, const SimFaults& faults,
                   uint32_t rx_ring = 0);
  // Forwards frames for the destination to `port` from now on, like a switch that learns a new
  // port.
  void Learn(const uint8_t (&mac)[6], SimPort* port);
  // Sends a frame from none of the ports.
  void Inject(std::span<const uint8_t> bytes);
  // Sends a frame from the far end of the port now, e.g. of another network.
  void Enter(const SimPort* port, std::span<const uint8_t> bytes);
  // While blocked, the switch forwards nothing from `from` to `to`.
  void Block(const SimPort* from, const SimPort* to, bool blocked);

  // Loses the share `loss` of the updates of credit-based flow control, in both directions
  // (docs/link.md).
  void SetUpdateLoss(double loss) { update_loss_ = loss; }
  // Updates lost thereby, which frames_lost does not count.
  uint64_t updates_lost() const { return updates_lost_; }

  // Loses frames for which `passes` returns false on their way into the switch.
  void SetFilter(std::function<bool(std::span<const uint8_t>)> passes) {
    passes_ = std::move(passes);
  }

  // A host's frame arrives at the switch at the time that `way` returns for the port, the frame,
  // which it may mark, and the time when the frame leaves the port; kNever: lost. Frames may
  // overtake others there.
  using Way = std::function<Time(const SimPort*, std::span<uint8_t>, Time leaves)>;
  void SetWay(Way way) { way_ = std::move(way); }

  // Passes link-local frames (01-80-C2-00-00-00 to -0F, e.g. PFC) to `hear` with their source port
  // when they leave it; they are not forwarded.
  void SetNeighbour(std::function<void(const SimPort*, std::span<const uint8_t>)> hear) {
    neighbour_ = std::move(hear);
  }

  // Keeps copies of up to `max` frames that ports send from now on; nullptr: stops.
  void Record(std::vector<std::vector<uint8_t>>* records, size_t max) {
    records_ = records;
    max_records_ = max;
  }
  // Makes digest() cover all frames that arrive from now on: their bytes, ports and times.
  void TakeDigest() { takes_digest_ = true; }
  uint64_t digest() const { return digest_; }

  Time now() const { return now_; }
  // Advances the clock, and processes all events due until then, in order.
  void AdvanceTo(Time time);
  // Returns when the next frame may arrive; kNever if none is in flight.
  Time next_arrival() const;
  // Returns when AdvanceTo has its next event of any kind; kNever: none.
  Time next_event() const { return ports_.empty() ? kNever : next_.time(); }
  // Frames lost so far by links, switch and devices.
  uint64_t frames_lost() const;
  // The switch; valid after the first AddPort.
  const fabric::Switch& the_switch() const { return *switch_; }
  // Changes settings of the switch's port now.
  void Change(const SimPort* port,
              const std::function<void(fabric::Switch&, uint32_t port)>& change);
  // Sends a PFC frame from the host's end of the port, independent of its device.
  void Storm(const SimPort* port, const fabric::PfcFrame& pfc);

 private:
  friend class SimPort;
  struct Pooled;

  void Build();
  fabric::Switch& SwitchOf(const SimPort* port);
  NetAddress KeyOf(const uint8_t (&mac)[6]) const;
  void SetImpairments(uint32_t number, const SimFaults& faults);
  // Actions of a port's device: Send transmits a frame, SendPfc requests a pause of classes from
  // the switch.
  void Send(const SimPort& from, const Frame& frame, Time leaves);
  bool LosesUpdate(const Frame& frame);
  void SendPfc(uint32_t number, const fabric::PfcFrame& pfc, Time leaves);
  // Schedules the port's next event at `at` at the latest.
  void WakeAt(uint32_t number, Time at);
  void Serve(uint32_t number);
  void ServeCable(uint32_t number);
  void EndWays(uint32_t number);
  void TransmitOf(uint32_t number);
  void Arrive(uint32_t number, Frame* frame);
  fabric::ClassMask ClassBitOf(const Frame& frame) const;
  // Frame buffers of the switch.
  Frame* Take(std::span<const uint8_t> bytes);
  Frame* TakeEmpty();
  void Release(Frame* frame) { free_.push_back(frame); }
  void Refill();

  fabric::SwitchParams params_;
  SimClasses classes_;
  bool given_ = false;  // params_ define the switch completely
  bool is_cable_ = false;
  Duration cable_delay_{};
  bool switch_pauses_ = false;  // the switch has lossless classes
  Time now_{};
  uint64_t frames_lost_ = 0;  // by devices
  double update_loss_ = 0;
  uint64_t updates_lost_ = 0;
  fabric::Random update_dice_;
  uint64_t frames_ended_ = 0;  // in the switch
  bool takes_digest_ = false;
  uint64_t digest_ = 0;
  std::function<bool(std::span<const uint8_t>)> passes_;
  Way way_;
  std::vector<std::multimap<Time, Frame*>> on_way_;  // from each port, by arrival time
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
  Earliest next_;                                // next event of each port of the switch
  bool faults_changed_ = false;                  // of a port
};

}  // namespace suede

#endif  // SUEDE_SIM_NETWORK_H_
