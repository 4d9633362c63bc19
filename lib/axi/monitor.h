// SPDX-License-Identifier: Apache-2.0
// Exclusive monitor of the manager port (docs/axi.md, "Exclusive accesses").
#ifndef SUEDE_AXI_MONITOR_H_
#define SUEDE_AXI_MONITOR_H_

#include <cstdint>
#include <vector>

#include "axi/transfer.h"

namespace suede::axi {

// Knows the reservations, and the writes between issue and answer. One owner; only the constructor
// allocates.
class Monitor {
 public:
  static constexpr uint32_t kReservations = 64;

  // `writes`: that may be under way at a time.
  explicit Monitor(uint32_t writes);

  // Reserves the range of an exclusive read that is being issued, for {lane, burst.id}.
  void Reserve(uint32_t lane, const Address& burst);
  // Whether the exclusive write may be issued now.
  bool Permits(uint32_t lane, const Address& burst) const;

  // Whether a write has to wait for an exclusive one under way that it overlaps: the SoC may
  // execute writes of different AxIDs in any order.
  bool HoldsBack(const Address& burst) const;

  // A write is being issued. Returns its place, for OnWriteEnded.
  uint32_t OnWriteIssued(const Address& burst);
  // A write has been answered.
  void OnWriteEnded(uint32_t place);
  // Forgets all.
  void Clear();

  uint32_t reservations() const { return reserved_; }
  uint32_t writes() const { return writes_; }

 private:
  struct Reservation {
    uint32_t lane = 0;
    uint32_t id = 0;
    uint64_t address = 0;
    uint8_t size = 0;
    uint8_t len = 0;
    Range range;
    uint64_t age = 0;  // ordinal of its read
  };
  // A write under way. The default overlaps no burst: the place is free.
  struct Write {
    Range range{.first = UINT64_MAX, .last = 0};
    bool is_exclusive = false;
  };

  void EndOverlapping(const Range& range);

  Reservation table_[kReservations];  // the first reserved_
  uint32_t reserved_ = 0;
  uint64_t reads_ = 0;
  std::vector<Write> under_way_;  // by place
  std::vector<uint32_t> free_;    // places below used_
  uint32_t used_ = 0;             // places that have been in use since none was
  uint32_t writes_ = 0;
  uint32_t exclusive_writes_ = 0;  // of these
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_MONITOR_H_
