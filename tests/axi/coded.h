// SPDX-License-Identifier: Apache-2.0
// Transactions as beats of a bus, and the commands that carry them.
#ifndef SUEDE_TESTS_AXI_CODED_H_
#define SUEDE_TESTS_AXI_CODED_H_

#include <cstdint>
#include <vector>

#include "axi/body.h"

namespace suede::axi {

using Bytes = std::vector<uint8_t>;

struct Coded {
  Bytes control;
  Bytes data;
  bool operator==(const Coded&) const = default;
};

// A request, or the answer to one, on a bus of `bus_bytes`.
struct Transaction {
  Direction direction = Direction::kRead;
  bool is_answer = false;
  uint32_t bus_bytes = 32;
  uint32_t number = 0;
  Address address = {};
  uint32_t beat_user_bytes = 0;  // of WUSER or RUSER
  std::vector<WriteBeat> write_beats;
  std::vector<ReadBeat> read_beats;
  Status status = Status::kOk;  // of an answer; likewise below
  uint8_t response = 0;
  uint64_t user[2] = {};
};

std::vector<Coded> Encode(const Transaction& transaction);

enum class Outcome : uint8_t { kComplete, kNotYet, kMalformed, kForeign };

// Parses the commands in the order given. `expected` has the direction, the form and the bus, and
// the address of the request of an answer; `parsed` gets all.
Outcome Parse(const std::vector<Coded>& commands, const Transaction& expected, Transaction* parsed);

// Clears lanes of the beats that are not carried, and the last and id of beats.
Transaction Carried(Transaction transaction);

// Whether all that is carried of two transactions is the same.
bool AreSame(const Transaction& a, const Transaction& b);

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_CODED_H_
