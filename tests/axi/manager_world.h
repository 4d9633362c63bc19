// SPDX-License-Identifier: Apache-2.0
// Surroundings of a manager port in tests: remote XPUs that encode requests and parse answers, and
// an own reading of the bursts of AXI4.
#ifndef SUEDE_TESTS_AXI_MANAGER_WORLD_H_
#define SUEDE_TESTS_AXI_MANAGER_WORLD_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "axi/manager.h"

namespace suede::axi {

using Random = std::mt19937_64;
inline uint32_t Below(Random& random, uint32_t bound) {
  return static_cast<uint32_t>(random() % bound);
}

// Runs of a random test: SUEDE_AXI_SEEDS in the environment, or `otherwise`.
uint32_t Seeds(uint32_t otherwise);

// Addresses that a beat covers.
struct Octets {
  uint64_t first = 0;
  uint32_t count = 0;
};
// The beats of a burst by the pseudo code of AMBA AXI4, A3.4.2.
std::vector<Octets> BeatsByBook(const Address& burst);

Address Incr(uint64_t address, uint32_t beats, uint32_t id = 0, uint8_t size = 5);
// Returns a valid burst for a bus. Its user value is 0.
Address RandomBurst(Random& random, uint32_t bus_bytes);
// Returns the W beats of a burst: random octets, strobes and user values of `user_bytes`. The lanes
// outside of the burst have octets and strobes too.
std::vector<WriteBeat> RandomBeats(Random& random, const Address& burst, uint32_t bus_bytes,
                                   bool has_strobes, uint32_t user_bytes);

// An octet that a write stores.
struct Stored {
  uint64_t address = 0;
  uint8_t value = 0;
  bool operator==(const Stored&) const = default;
};

// Executes write beats on a bus, from `beat` on. Appends what it stores.
void Execute(const Address& burst, const WriteBeat* beat, uint32_t bus_bytes,
             std::vector<Stored>* log);
// Returns the beats without the strobes of lanes that they do not cover, which an initiator may
// set.
std::vector<WriteBeat> OnlyActive(const Address& burst, std::vector<WriteBeat> beats,
                                  uint32_t bus_bytes);

struct WireCommand {
  std::vector<uint8_t> control;
  std::vector<uint8_t> data;
};
std::vector<WireCommand> EncodeWrite(uint32_t number, const Address& burst,
                                     const std::vector<WriteBeat>& beats, uint32_t bus_bytes,
                                     uint32_t user_bytes);
std::vector<WireCommand> EncodeRead(uint32_t number, const Address& burst);

// An answer as the initiator parses it.
struct GotAnswer {
  uint32_t lane = 0;
  uint32_t number = 0;
  Answer answer;
  std::vector<uint8_t> octets;  // active ones
  std::vector<uint8_t> responses;
  std::vector<uint32_t> users;
  uint64_t user[2] = {};
};

// Takes commands as far as each source gives credit.
class CreditedSink final : public BurstSink {
 public:
  int Send(const Burst& burst) override;

  bool is_unordered = false;
  std::map<uint32_t, uint32_t> credit;  // of lanes; no entry: unlimited
  std::map<uint32_t, bool> is_lost;     // interfaces
  std::map<uint64_t, Address> bursts;   // of the requests, by lane << 32 | number
  std::deque<GotAnswer> answers;        // complete ones
  std::vector<uint32_t> heads;          // lanes of the answers' first commands
  uint32_t commands = 0;

  void Expect(uint32_t lane, uint32_t number, const Address& burst) {
    bursts[uint64_t{lane} << 32 | number] = burst;
  }

 private:
  struct Part {
    Answer answer;
    std::unique_ptr<Body> body;
    uint32_t next_part = 1;
  };
  void OnCommand(uint32_t lane, const uint8_t* control, const uint8_t* data, uint32_t data_bytes);
  bool Finish(uint32_t lane, uint32_t number, const Part& part);

  std::map<uint64_t, Part> open_;  // by lane << 32 | number
};

class ManagerWorld : public testing::Test {
 protected:
  static constexpr uint32_t kSource = 7;

  void Make(const ManagerParams& params);
  void TearDown() override;

  Route From(uint32_t source = kSource, uint32_t interface = 0) const {
    return {
        .xpuid = static_cast<uint16_t>(source), .plane = static_cast<uint8_t>(interface), .vc = 0};
  }
  void Give(const Route& from, const WireCommand& command);
  // Gives all commands of a request, and notes it for the answer.
  void Write(const Route& from, uint32_t number, const Address& burst,
             const std::vector<WriteBeat>& beats);
  void WriteZeros(const Route& from, uint32_t number, const Address& burst);
  void Read(const Route& from, uint32_t number, const Address& burst);
  void Pump() { manager->Pump(sink, now); }
  // Returns the oldest answer; fails the test if there is none.
  GotAnswer TakeAnswer();
  void ExpectAnswer(uint32_t number, Status status, uint8_t response);

  // The SoC takes all that is offered.
  void TakeAll();
  void RespondB(uint32_t id, uint8_t response = SUEDE_AXI_OKAY);
  // Responds to a read burst with zeros.
  void RespondR(const Address& issued, uint8_t response = SUEDE_AXI_OKAY);

  ManagerParams params;
  std::unique_ptr<Manager> manager;
  CreditedSink sink;
  Time now = TimeFromMs(1);
  std::vector<Address> aws;
  std::vector<WriteBeat> ws;
  std::vector<Address> ars;
};

// A port with the parameters of most tests.
class Managers : public ManagerWorld {
 protected:
  void SetUp() override { Make({}); }
  // Gives the first commands of a write of `beats` of 32 octets.
  void WritePart(uint32_t number, uint32_t first, uint32_t last, uint32_t beats = 32,
                 uint32_t source = kSource) {
    const Address burst = Incr(0, beats);
    sink.Expect(ServedLane(From(source)), number, burst);
    const std::vector<WriteBeat> data(beats, WriteBeat{.strobes = {~0ull, ~0ull}});
    const std::vector<WireCommand> commands = EncodeWrite(number, burst, data, 32, 0);
    for (uint32_t part = first; part <= last; ++part) Give(From(source), commands.at(part));
  }
  uint64_t Malformed() { return manager->counters().malformed; }
};

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_MANAGER_WORLD_H_
