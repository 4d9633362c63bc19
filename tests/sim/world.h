// Hosts with real pipelines on simulated switches, clients that load them, and the oracle: every
// accepted command is delivered exactly once, in order per {source queue, destination, VC} unless
// the world is unordered, bytes intact; tagged ones complete exactly once. What is given up may be
// missing, and does not arrive any more once its sender was told; nothing is given up without a
// reason. At the end all is quiet and every frame is back in its pool.
#ifndef SUEDE_TESTS_SIM_WORLD_H_
#define SUEDE_TESTS_SIM_WORLD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dice.h"
#include "host.h"
#include "ledger.h"
#include "log.h"
#include "trouble.h"
#include "wiring.h"

namespace suede {

struct WorldOptions {
  Wiring wiring;
  uint32_t queues = 1;           // per host
  uint32_t commands = 10000;     // per host, over all destinations and VCs
  uint32_t burst = 0;            // a client sends up to so many, and waits; 0: it does not
  Duration burst_gap{};          // for so long, on average
  std::vector<SimFaults> faults = {{}};  // of each switch's links; the last holds for the rest
  TransportParams transport;
  PathParams paths;
  uint32_t inflight_pdus = 4096;
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
  TroubleOptions trouble;
  uint32_t commands_after = 100; // that each host sends when the trouble is over
  uint32_t restarts = 0;         // times that a daemon dies and comes back, at most
  uint32_t sleeps = 0;           // times that one is stopped for a while, at most
  double pauses = 0.0005;        // share of turns before which the machine had something else to do
  uint32_t most_sent = 23;       // commands that a client sends in one turn, at most
  uint32_t most_received = 16;   // commands that a client takes of one VC in one turn, at most
  bool verbose = false;          // the log has every command
  Duration time_limit = std::chrono::seconds(60);  // of virtual time; after all trouble, if any
};

// Longer than a frame is under way in any world, but in a ring that does not drain.
inline constexpr Duration kFrameLife = std::chrono::milliseconds(2);

class World {
 public:
  World(uint64_t seed, const WorldOptions& options);
  ~World();

  // Runs to the end. Empty where the oracle is content, else what is wrong.
  std::string Run();
  // One turn of everybody. Returns whether anybody had work.
  bool Turn();

  Time now() const { return now_; }
  Host& host(uint32_t number) { return *hosts_[number]; }
  const std::string& failure() const { return failure_; }
  const Log& log() const { return log_; }
  // Adds to the log how far everybody has got.
  void Describe();
  // Virtual time until the last command was delivered, and octets of data that were.
  Duration elapsed() const { return last_delivery_ - Time{}; }
  uint64_t delivered_bytes() const { return delivered_bytes_; }
  uint64_t given_up() const { return given_up_; }
  uint64_t restarts() const { return restarts_; }
  uint64_t troubles() const { return trouble_->begun(); }
  uint64_t frames_lost() const;
  uint64_t Sum(Counter counter) const;

 private:
  SegmentShape ShapeOfSegments() const;
  InstanceParams ParamsOf(const Host& host) const;
  void Boot(Host& host);
  void TearDown(Host& host);
  bool IsForgotten(const Host& dead) const;
  void EndAndBegin();
  void Send(Host& host);
  uint32_t ToSendNow(Host& host);
  void SendOne(Host& host);
  void Receive(Host& host, uint32_t most);
  void TakeAll(Host& host);
  bool OnReceived(Host& host, const ReceivedCommand& got, uint32_t vc);
  void Complete(Host& host);
  bool MayBeUnderWay(const Host& from, const Host& to) const;
  void OnGivenUp(Host& host, const Host::Tagged& tagged, uint8_t status);
  bool MayGiveUp() const;
  bool MayBeUnreachable(const Host& from, const Host& to) const;
  void Note(const char* what, const StreamName& stream, uint32_t sequence);
  void LogEvents(Host& host);
  void DescribePeer(const Host& host, uint32_t peer);
  void PullCables();
  void ChangeSettings();
  Settings RandomSettings();
  void MakeTrouble();
  void AdvanceTo(Time time);
  Time NextArrival() const;
  bool Disturbed() const;
  bool Finished() const;
  void Idle();
  void RunOut();
  std::string Verdict() const;
  bool IsAwake(const Host& host) const { return host.alive() && now_ >= host.asleep_until; }
  void Fail(const std::string& what) {
    if (failure_.empty() && !what.empty()) failure_ = what;
  }

  const WorldOptions options_;
  Dice dice_;
  Ledger ledger_;
  Log log_;
  std::vector<std::unique_ptr<SimNetwork>> switches_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::unique_ptr<Trouble> trouble_;
  Time now_{};
  uint32_t turns_ = 0;
  std::vector<ReceivedCommand> received_;  // scratch of Receive
  uint64_t delivered_bytes_ = 0;
  Time last_delivery_{};
  uint64_t given_up_ = 0;  // commands that completed as unreachable, or as reset
  uint64_t restarts_ = 0;
  uint32_t restarts_left_;
  uint32_t sleeps_left_;
  Time next_outage_{};
  Time next_change_{};
  Time next_end_{};  // of a daemon, or sleep
  uint16_t partition_ = 7;
  std::string failure_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_WORLD_H_
