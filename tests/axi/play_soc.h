// SPDX-License-Identifier: Apache-2.0
// The subordinate of a SoC in a play: a memory that executes what a manager port issues, in any
// order that AXI4 permits, and checks what arrives.
#ifndef SUEDE_TESTS_AXI_PLAY_SOC_H_
#define SUEDE_TESTS_AXI_PLAY_SOC_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "axi/manager.h"
#include "play_record.h"

namespace suede::axi {

struct SocParams {
  uint16_t xpuid = 0;
  uint32_t bus_bytes = 32;
  uint32_t user_bytes = 0;
  bool has_errors = true;  // answers some accesses with SLVERR or DECERR
  bool is_patient = true;  // false: executes and answers rarely
};

class Soc {
 public:
  Soc(const SocParams& params, Records* records, uint64_t seed);

  // Takes, executes and answers a little. Returns whether anything moved.
  bool Step(Manager& port);
  bool IsIdle() const { return writes_.empty() && reads_.empty() && beats_.empty(); }
  uint32_t bus_bytes() const { return params_.bus_bytes; }
  uint32_t user_bytes() const { return params_.user_bytes; }
  // Forgets what is open: the port was reset.
  void Reset();

 private:
  struct Burst {
    Address address = {};
    std::vector<WriteBeat> beats;   // of a write
    std::vector<ReadBeat> answers;  // of an executed read, that are not sent
    uint8_t response = 0;           // of an executed write
    bool is_executed = false;
  };
  struct Reservation {
    Address address = {};
    uint64_t event = 0;  // at which the read was executed
  };

  // Whether the transaction is an attacker's. The Soc answers it without executing it.
  static bool IsStrange(const Address& address) { return address.address >= kNodeBytes; }
  void OnArrival(const Address& address, Direction direction);
  void CheckBeat(const Burst& write, const WriteBeat& beat);
  bool MayExecute(const std::deque<Burst>& bursts, size_t index) const;
  void Execute(Burst& write);
  void ExecuteRead(Burst& read);
  void CheckExclusive(const Record& record, uint64_t tag);
  bool SendB(Manager& port);
  bool SendR(Manager& port);
  uint8_t DrawResponse() {
    if (!params_.has_errors || !dice_.OneIn(40)) return SUEDE_AXI_OKAY;
    return dice_.OneIn(2) ? SUEDE_AXI_SLVERR : SUEDE_AXI_DECERR;
  }

  const SocParams params_;
  Records& records_;
  Dice dice_;
  std::array<uint8_t, kMemoryBytes> memory_ = {};
  std::array<uint64_t, kMemoryBytes> written_ = {};  // event of the last write of an octet
  std::deque<Burst> writes_;
  std::deque<Burst> reads_;
  std::deque<WriteBeat> beats_;                                         // that came before their AW
  std::map<std::tuple<uint16_t, uint32_t>, Reservation> reservations_;  // by {source, ID}
  // Last arrival of {source, ID, direction}, by the order of issue at the source.
  std::map<std::tuple<uint16_t, uint32_t, Direction>, uint64_t> last_tag_;
};

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_PLAY_SOC_H_
