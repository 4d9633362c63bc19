// SPDX-License-Identifier: Apache-2.0
// The manager of a SoC in a play: issues random transactions to a subordinate port, and checks the
// answers' order and content.
#ifndef SUEDE_TESTS_AXI_PLAY_MASTER_H_
#define SUEDE_TESTS_AXI_PLAY_MASTER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "axi/subordinate.h"
#include "play_record.h"

namespace suede::axi {

struct MasterParams {
  uint16_t xpuid = 0;
  uint16_t nodes = 0;
  uint32_t bus_bytes = 32;
  uint32_t transactions = 40;
  uint32_t ids = 4;
  uint32_t user_bytes = 0;     // of WUSER and RUSER
  bool has_own_target = true;  // a node is a target of its own
  bool has_exclusives = false;
  bool is_patient = true;  // false: takes answers rarely
};

class Master {
 public:
  Master(const MasterParams& params, Records* records, uint64_t seed);

  // Sends and takes a few transfers.
  void Step(Subordinate& port);
  bool IsDone() const { return left_ == 0 && IsIdle(); }
  bool IsIdle() const { return aws_.empty() && ws_.empty() && ars_.empty() && CountOpen() == 0; }
  // Forgets what is open: the port was reset.
  void Reset();

 private:
  struct OpenRead {
    uint64_t tag = 0;
    std::vector<ReadBeat> beats;
  };
  using Order = std::map<uint32_t, std::deque<uint64_t>>;  // tags by ID

  void Generate();
  Address DrawAddress(Direction direction);
  void DrawExclusive(Direction direction, Address* drawn);
  void AddWrite(uint64_t tag);
  void TakeB(Subordinate& port);
  void TakeR(Subordinate& port);
  void OnReadBeat(const ReadBeat& beat);
  void CheckRead(const Record& record, uint64_t tag);
  size_t CountOpen() const;

  const MasterParams params_;
  Records& records_;
  Dice dice_;
  uint32_t left_;
  std::deque<uint64_t> aws_;  // to send
  std::deque<std::pair<uint64_t, WriteBeat>> ws_;
  std::deque<uint64_t> ars_;
  std::map<uint64_t, uint32_t> unsent_beats_;  // of writes by tag
  std::array<Order, 2> open_;
  std::deque<uint64_t> exclusive_;  // exclusive reads that may be followed by a write
  std::set<uint32_t> exclusive_ids_;
  uint64_t reading_ = UINT64_MAX;  // the read whose beats arrive
  std::vector<ReadBeat> beats_;    // of it
};

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_PLAY_MASTER_H_
