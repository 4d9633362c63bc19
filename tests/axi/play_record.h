// SPDX-License-Identifier: Apache-2.0
// Knowledge of the oracle about each transaction of a play, from its master to its execution.
#ifndef SUEDE_TESTS_AXI_PLAY_RECORD_H_
#define SUEDE_TESTS_AXI_PLAY_RECORD_H_

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "axi/status.h"
#include "axi/transfer.h"

namespace suede::axi {

inline constexpr uint32_t kMemoryBytes = 16384;   // of a node, from address 0
inline constexpr uint64_t kNodeBytes = 1u << 20;  // of local addresses that lead to one node

// A transaction of a master. Its tag, the place in Records, is the value of AxUSER.
struct Record {
  uint16_t source = 0;
  uint16_t target = 0;
  Direction direction = Direction::kRead;
  Address address = {};       // as the master issued it
  std::vector<uint8_t> data;  // of a write: active octets
  std::vector<bool> strobes;  // of these
  // At the target.
  uint32_t arrived = 0;            // bursts of it
  uint64_t arrival = 0;            // number of the first
  std::vector<uint8_t> read;       // octets that the SoC returned
  std::vector<uint8_t> responses;  // of these octets; of a write: of its bursts
  uint32_t executed = 0;           // octets
  uint64_t first_execution = 0;
  // At the source.
  bool is_issued = false;
  bool is_ended = false;
  bool is_abandoned = false;  // by a reset
  uint8_t response = 0;
  bool is_doomed = false;  // may not end as its target says: it met a fault
};

// State that the parts of a play share.
class Records {
 public:
  Record& operator[](uint64_t tag) { return records_[tag]; }
  size_t size() const { return records_.size(); }
  uint64_t Add(Record record);
  auto begin() { return records_.begin(); }
  auto end() { return records_.end(); }

  uint64_t NextEvent() { return ++events_; }
  void Wrong(const std::string& what, uint64_t tag);
  void Wrong(const std::string& what) {
    if (error_.empty()) error_ = what;
  }
  const std::string& error() const { return error_; }

 private:
  std::deque<Record> records_;
  std::string error_;
  uint64_t events_ = 0;
};

std::string Describe(const Record& record);

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  bool OneIn(uint32_t bound) { return Below(bound) == 0; }

 private:
  std::mt19937_64 random_;
};

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_PLAY_RECORD_H_
