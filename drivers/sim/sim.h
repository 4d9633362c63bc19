// A network in virtual time behind the burst interface: ports, links with faults, one switch.
//
// Everything that happens follows from the seed. There is no EAL, no thread and no clock but now().
#ifndef SUEDE_SIM_SIM_H_
#define SUEDE_SIM_SIM_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <vector>

#include "base/time.h"
#include "port/port.h"

namespace suede {

// What a link does to the frames that leave a port. Probabilities are per frame, 0 to 1.
struct SimFaults {
  double loss = 0;
  double reorder = 0;    // delayed by up to reorder_delay more than others
  double duplicate = 0;
  double corrupt = 0;    // one bit is flipped
  Duration delay = std::chrono::microseconds(1);
  Duration reorder_delay = std::chrono::microseconds(20);
  double bits_per_ns = 100;  // rate of the link
};

class SimPort;

// The switch that all ports are connected to: forwards by the destination in a frame's first six
// octets, as an Ethernet switch does by the MAC address.
class SimNetwork {
 public:
  explicit SimNetwork(uint64_t seed) : random_(seed) {}

  // For a switch of another generation: which bits of those octets, the first one most significant,
  // are the destination. Before the first AddPort.
  void SetDestinationMask(uint64_t mask) { destination_mask_ = mask; }

  // A port with its own pool of `frames` frames and a transmit ring of `tx_ring` frames. `mac`
  // holds the destination that leads to it.
  SimPort* AddPort(const uint8_t (&mac)[6], uint32_t frames, uint32_t tx_ring,
                   const SimFaults& faults);

  Time now() const { return now_; }
  // Moves the clock and delivers what arrives until then.
  void AdvanceTo(Time time);
  // When the next frame arrives; kNever where none is under way.
  Time next_arrival() const { return arrivals_.empty() ? kNever : arrivals_.top().at; }
  // Frames that links have lost so far.
  uint64_t frames_lost() const { return frames_lost_; }
  std::mt19937_64& random() { return random_; }
  bool Chance(double probability) {
    return probability > 0 && std::uniform_real_distribution<>(0, 1)(random_) < probability;
  }

 private:
  friend class SimPort;
  struct Arrival {
    Time at;
    uint64_t order;
    std::vector<uint8_t> octets;
    bool operator<(const Arrival& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  void Send(const Frame& frame, const SimFaults& faults, Time leaves);
  void Schedule(std::vector<uint8_t> octets, Time at);

  std::mt19937_64 random_;
  Time now_{};
  uint64_t order_ = 0;
  uint64_t frames_lost_ = 0;
  std::priority_queue<Arrival> arrivals_;
  std::map<uint64_t, SimPort*> ports_;  // by destination
  uint64_t destination_mask_ = (uint64_t{1} << 48) - 1;
  std::vector<std::unique_ptr<SimPort>> owned_;
};

class SimPort : public Port {
 public:
  static constexpr uint32_t kMaxFrameBytes = 4400;

  SimPort(SimNetwork* network, uint32_t frames, uint32_t tx_ring, const SimFaults& faults);
  ~SimPort() override;

  uint32_t Receive(Frame** frames, uint32_t max) override;
  uint32_t Transmit(Frame* const* frames, uint32_t count) override;
  bool IsBusy(const Frame* frame) const override;
  uint32_t Allocate(Frame** frames, uint32_t count) override;
  void Release(Frame* const* frames, uint32_t count) override;
  uint32_t max_frame_bytes() const override { return kMaxFrameBytes; }
  bool Offers(TxOffload offload) const override { return offload == TxOffload::kNone; }
  LinkState link() const override { return {.up = up_, .speed_bps = 0}; }

  SimFaults& faults() { return faults_; }
  // A link that is down loses what is sent and what arrives.
  void SetLink(bool up) { up_ = up; }
  // Frames that are with neither the pool nor the device: the pipeline's.
  uint32_t frames_out() const { return static_cast<uint32_t>(buffers_.size() - free_.size()); }

 private:
  friend class SimNetwork;
  struct Buffer;
  struct OnWire {
    Buffer* buffer;
    Time until;
    uint64_t fingerprint;  // of the octets when the device took them: nobody may write to them
  };
  void FinishTransmissions();
  void Unreference(Buffer* buffer);

  SimNetwork* network_;
  SimFaults faults_;
  uint32_t tx_ring_;
  bool up_ = true;
  Time free_at_{};  // when the link has sent what it was given
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Buffer*> free_;
  std::deque<OnWire> on_wire_;
  std::deque<std::vector<uint8_t>> received_;
};

}  // namespace suede

#endif  // SUEDE_SIM_SIM_H_
