// SPDX-License-Identifier: Apache-2.0
// AxIDs of the manager port in one direction (docs/axi.md, "Order").
#ifndef SUEDE_AXI_ISSUE_IDS_H_
#define SUEDE_AXI_ISSUE_IDS_H_

#include <cstdint>
#include <vector>

#include "axi/id_table.h"
#include "axi/served.h"

namespace suede::axi {

// Issued transactions of one {interface, source, ID} have one AxID, those of others have others.
// One owner; only the constructor allocates.
class IssueIds {
 public:
  explicit IssueIds(uint32_t ids);

  uint32_t size() const { return static_cast<uint32_t>(ids_.size()); }
  // Adds a transaction, and stores its AxID in it. Returns false where all AxIDs are in use.
  bool Add(Served* served);
  // Returns the oldest transaction of any number; null: none.
  Served* Oldest(uint32_t id) const {
    return id < ids_.size() ? ids_[id].transactions.first() : nullptr;
  }
  Served* TakeOldest(uint32_t id);
  // Aborts if the state is inconsistent. Returns the number of transactions.
  uint32_t CheckInvariants() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // An AxID. `next`: of the free ones.
  struct Id {
    LinkedFifo<Served, &Served::next_of_id> transactions;
    uint64_t key = 0;
    uint32_t next = kNone;
  };

  static uint64_t KeyOf(const Served& served) {
    return uint64_t{served.lane} << 32 | served.burst.id;
  }

  std::vector<Id> ids_;
  IdTable<uint32_t> used_;  // AxIDs by {interface, source, ID}
  uint32_t free_ = 0;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_ISSUE_IDS_H_
