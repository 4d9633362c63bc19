// SPDX-License-Identifier: Apache-2.0
// An attacker on every switch of a world, which sends frames as if they came from the hosts: knows
// their addresses, XPUs, partition and formats, sees nothing, and guesses the rest: PSNs, boots,
// nonces, generations. May have recorded frames of the hosts' former lives.
#ifndef SUEDE_TESTS_SIM_ATTACKER_H_
#define SUEDE_TESTS_SIM_ATTACKER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "dice.h"
#include "host.h"
#include "log.h"
#include "sim/sim.h"
#include "wire/rh.h"
#include "wiring.h"

namespace suede {

struct AttackOptions {
  Duration time{};                              // for how long; 0: nobody attacks
  Duration gap = std::chrono::microseconds(5);  // between two frames, on average
  bool replays = false;   // hosts restart before it, and their former frames are sent again
  uint32_t kinds = ~0u;   // of frames, a mask: see Attacker::Kind
  // It sends recorded frames again, as they are, with changed bits or joined of two, and takes
  // frames from one switch to another.
  bool mutates = false;
  bool sessions = false;  // it forges numbers of sessions, and asks for numbers by SESSION
};

// A guess that was right, which excuses damage before the oracle.
struct LuckyHit {
  uint32_t victim;  // host that took the frame for one of the other's
  uint32_t peer;
  bool data;  // a data PDU had the expected PSN, or else an answer was within the window
};

class Attacker {
 public:
  // Kinds of frames; each is as frequent as the others.
  enum Kind : uint32_t {
    kData,
    kAck,
    kNack,
    kNotReady,
    kReady,
    kHello,
    kPlane,
    kFence,
    kFenced,
    kCongestion,
    kUnknown,
    kMalformed,
    kGarbage,
    kReplay,
    kKinds,
  };
  static constexpr uint8_t kForged = 0xee;  // the queue that forged commands name

  // The arguments outlive it.
  Attacker(const AttackOptions& options, const Wiring& wiring, uint16_t partition,
           const std::vector<std::unique_ptr<SimNetwork>>& switches,
           const std::vector<std::unique_ptr<Host>>& hosts, Dice& dice, Log& log);
  ~Attacker();

  // Before it begins: has the hosts' frames recorded.
  void Record();
  void Begin(Time now);
  void Turn(Time now);
  bool over() const { return over_; }

  // After the host's turn: which guesses were right in it.
  std::vector<LuckyHit> TakeHits(const Host& host);
  uint64_t injected() const { return injected_; }
  uint64_t hits() const { return hits_; }
  // More right guesses than chance explains: nobody had to guess.
  bool IsTooLucky() const;

 private:
  // A frame of ours that a host was handed in this turn, and its possible target.
  struct Taken {
    PlaneIndex plane;
    PeerIndex peer;
    SessionIndex slot = 0;  // of its session
    ReliabilityHeader rh;
    bool data;
    bool answers;
    Psn expected;  // of the connection, when it was handed
    Psn oldest;
  };
  void Inject(Time now);
  void Mutate(uint32_t number);
  void TakeToOtherPlanes();
  void Send(uint32_t number, std::vector<uint8_t> bytes);
  void OnTaken(uint32_t host, uint32_t plane, std::span<const uint8_t> bytes);
  uint16_t Guess();
  void Guess(std::vector<uint8_t>& body, uint32_t bytes);
  std::vector<uint8_t> Commands();
  std::vector<uint8_t> Control(Kind kind);
  std::vector<uint8_t> Session();
  uint16_t Number(Encap encap);

  const AttackOptions options_;
  const Wiring& wiring_;
  const uint16_t partition_;
  const std::vector<std::unique_ptr<SimNetwork>>& switches_;
  const std::vector<std::unique_ptr<Host>>& hosts_;
  Dice& dice_;
  Log& log_;
  bool over_;
  bool begun_ = false;
  Time until_{};
  Time next_{};
  uint16_t sweep_ = 0;
  std::vector<std::vector<std::vector<uint8_t>>> records_;  // by switch
  struct Moved {
    uint32_t to;  // the switch
    std::vector<uint8_t> bytes;
  };
  std::vector<Moved> moved_;           // that have been taken, and not sent yet
  std::unordered_set<uint64_t> sent_;  // hashes of frames
  std::vector<std::vector<Taken>> taken_;                   // by host
  uint64_t injected_ = 0;
  uint64_t hits_ = 0;
  double luck_ = 0;  // right guesses to be expected
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_ATTACKER_H_
