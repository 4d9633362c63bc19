// SPDX-License-Identifier: Apache-2.0
// Transactions of remote XPUs that the manager port serves, and their table.
#ifndef SUEDE_AXI_SERVED_H_
#define SUEDE_AXI_SERVED_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "axi/body.h"
#include "axi/command.h"
#include "axi/issue.h"
#include "axi/linked_fifo.h"
#include "axi/transfer.h"
#include "base/sue.h"
#include "base/time.h"
#include "outbound/burst.h"

namespace suede::axi {

// {interface, source} as an index.
constexpr uint32_t ServedLane(const Route& from) {
  return uint32_t{from.plane} * kMaxXpus + from.xpuid;
}
constexpr uint32_t ServedLanes(uint32_t interfaces) { return interfaces * kMaxXpus; }

struct Served {
  // Request.
  Kind kind = Kind::kRead;
  bool has_head = false;    // its first command has arrived
  bool is_entered = false;  // it is whole, and in the table
  uint32_t lane = 0;
  uint32_t number = 0;
  uint32_t parts = 0;  // that have arrived
  uint32_t epoch = 0;  // of its interface
  Address burst = {};

  // Execution: positions in `issue`.
  Issue issue;
  uint32_t issued_id = 0;
  uint32_t addressed = 0;  // up to here by bursts in the AW or AR channel
  uint32_t moved = 0;      // up to here by beats of W or R
  uint32_t burst_end = 0;  // of the issued burst that `moved` is in, or has come to the end of
  uint32_t awaited = 0;    // B transfers of issued bursts whose beats have moved
  uint32_t monitor_place = 0;

  // Answer.
  bool has_response = false;
  uint8_t response = 0;  // the worst
  uint64_t user[2] = {};
  ReadBeat beat = {};  // in collection, from the beats of a narrower bus
  Answer answer;
  uint32_t sent = 0;  // commands
  Time ready = {};

  Served* next = nullptr;        // of those with missing parts, to issue, or to be answered
  Served* next_of_id = nullptr;  // of one AxID, between issue and answer
  Served* next_data = nullptr;   // with W beats to come

  Body body;

  bool is_read() const { return kind == Kind::kRead; }
  bool is_exclusive() const { return burst.lock != 0; }
};

using ServedQueue = LinkedFifo<Served, &Served::next>;

// The memory of transactions, and how many whole ones there are. The memory of a place is not
// touched before its first use, and places are used again before others, so idle sources cost none.
class ServedTable {
 public:
  // `parts`: transactions with missing parts, besides `entries` whole ones.
  ServedTable(uint32_t lanes, uint32_t entries, uint32_t entries_of_lane, uint32_t parts);
  ~ServedTable();
  ServedTable(const ServedTable&) = delete;
  ServedTable& operator=(const ServedTable&) = delete;

  bool is_full() const { return entered_ == entries_; }
  uint32_t entered() const { return entered_; }
  uint32_t EnteredOf(uint32_t lane) const { return of_lane_[lane]; }
  uint32_t touched() const { return touched_; }  // places that were ever used
  uint32_t taken() const { return taken_; }

  // Returns a transaction without content. There is a place unless the table is full.
  Served* Take(uint32_t lane, uint32_t number);
  // Enters a whole transaction. Returns false: its source has as many as are permitted.
  bool Enter(Served* served);
  void Release(Served* served);

 private:
  std::unique_ptr<std::byte[]> memory_;
  const uint32_t places_;
  const uint32_t entries_;
  const uint32_t entries_of_lane_;
  std::vector<uint32_t> of_lane_;
  Served* free_ = nullptr;
  uint32_t touched_ = 0;
  uint32_t taken_ = 0;
  uint32_t entered_ = 0;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_SERVED_H_
