// SPDX-License-Identifier: Apache-2.0
// AxIDs of the manager port in one direction (docs/axi.md, "Order").
#ifndef SUEDE_AXI_ISSUE_IDS_H_
#define SUEDE_AXI_ISSUE_IDS_H_

#include <cstdint>
#include <vector>

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
  // An AxID, and its place in the list of its bucket; that of free ones otherwise.
  struct Id {
    ServedFifo<&Served::next_of_id> transactions;
    uint32_t lane = 0;
    uint32_t id = 0;
    uint32_t next = kNone;
  };

  uint32_t BucketOf(uint32_t lane, uint32_t id) const;

  std::vector<Id> ids_;
  std::vector<uint32_t> buckets_;  // their first AxIDs; a power of two
  uint32_t free_ = 0;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_ISSUE_IDS_H_
