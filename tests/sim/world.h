// Hosts with real pipelines on a simulated network, clients that load them, and the oracle: every
// accepted command is delivered exactly once, in order per {source queue, destination, VC}, bytes
// intact; tagged ones complete exactly once, not before their delivery; all is quiet at the end and
// every frame is back in its pool.
#ifndef SUEDE_TESTS_SIM_WORLD_H_
#define SUEDE_TESTS_SIM_WORLD_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/pipeline.h"
#include "pipeline/settings.h"
#include "sim/sim.h"
#include "xpu/client_queue.h"

namespace suede {

struct WorldOptions {
  uint32_t hosts = 2;
  uint32_t queues = 1;           // per host
  uint32_t commands = 10000;     // per host, over all destinations and VCs
  Encap encap = Encap::kUdp4;
  bool tagged_frames = false;    // with an 802.1Q tag
  SimFaults faults;
  TransportParams transport;
  uint32_t pack_limit_bytes = kDefaultPackBytes;
  bool both_ways = true;         // false: only host 0 sends
  double tagged = 0.1;           // share of commands that ask for a completion
  double transmit_now = 0.05;    // share of commands that close their PDU
  double slow_receiver = 0;      // share of turns in which a receiver takes nothing
  Duration claim_after{};        // before this time nobody claims the VCs
  uint32_t rx_lines = 16384;
  uint32_t fixed_data_bytes = 0; // 0: sizes are random
  bool outages = false;          // links go down for so long that peers count as unreachable
  bool changes = false;          // hosts get new settings again and again
  double pauses = 0.0005;        // share of turns before which the machine had something else to do
  uint32_t most_sent = 23;       // commands that a client sends in one turn, at most
  uint32_t most_received = 16;   // commands that a client takes of one VC in one turn, at most
  Duration time_limit = std::chrono::seconds(60);  // of virtual time
};

class World {
 public:
  World(uint64_t seed, const WorldOptions& options);
  ~World();

  // Runs to the end. Empty where the oracle is content, else what is wrong.
  std::string Run();

  // Virtual time until the last command was delivered, and octets of data that were.
  Duration elapsed() const { return last_delivery_ - Time{}; }
  uint64_t delivered_bytes() const { return delivered_bytes_; }
  uint64_t given_up() const { return given_up_; }
  uint64_t changes() const { return changes_; }
  uint64_t frames_lost() const { return network_.frames_lost(); }
  uint64_t Sum(Counter counter) const;

 private:
  struct Host;
  void Send(Host& host);
  void Receive(Host& host);
  void Complete(Host& host);
  void PullCables();
  void ChangeSettings();
  Settings RandomSettings();
  bool Delivered(Host& host, const ReceivedCommand& got);
  bool Finished() const;
  std::string Verdict() const;
  uint64_t Random(uint64_t below) { return network_.random()() % below; }
  void Fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }

  WorldOptions options_;
  SimNetwork network_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<ReceivedCommand> received_;  // scratch of Receive
  uint64_t delivered_bytes_ = 0;
  Time last_delivery_{};
  uint64_t changes_ = 0;   // of settings, that took effect
  uint64_t given_up_ = 0;  // commands that completed as unreachable
  Time next_outage_{};
  Time next_change_{};
  uint16_t partition_ = 7;
  std::string failure_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_WORLD_H_
