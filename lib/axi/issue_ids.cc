// SPDX-License-Identifier: Apache-2.0
#include "axi/issue_ids.h"

#include <bit>
#include <cstdlib>

namespace suede::axi {

IssueIds::IssueIds(uint32_t ids) : ids_(ids), buckets_(std::bit_ceil(ids), kNone) {
  for (uint32_t id = 0; id + 1 < ids; ++id) ids_[id].next = id + 1;
}

uint32_t IssueIds::BucketOf(uint32_t lane, uint32_t id) const {
  const uint64_t hash = (uint64_t{lane} << 32 | id) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(hash >> 32) & (static_cast<uint32_t>(buckets_.size()) - 1);
}

bool IssueIds::Add(Served* served) {
  uint32_t& bucket = buckets_[BucketOf(served->lane, served->burst.id)];
  uint32_t id = bucket;
  while (id != kNone && (ids_[id].lane != served->lane || ids_[id].id != served->burst.id)) {
    id = ids_[id].next;
  }
  if (id == kNone) {
    if (free_ == kNone) return false;
    id = free_;
    free_ = ids_[id].next;
    ids_[id].lane = served->lane;
    ids_[id].id = served->burst.id;
    ids_[id].next = bucket;
    bucket = id;
  }
  served->issued_id = id;
  ids_[id].transactions.Append(served);
  return true;
}

Served* IssueIds::TakeOldest(uint32_t id) {
  Id& taken = ids_[id];
  Served* const served = taken.transactions.TakeFirst();
  if (taken.transactions.is_empty()) {
    uint32_t* link = &buckets_[BucketOf(taken.lane, taken.id)];
    while (*link != id) link = &ids_[*link].next;
    *link = taken.next;
    taken.next = free_;
    free_ = id;
  }
  return served;
}

uint32_t IssueIds::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  uint32_t transactions = 0;
  uint32_t used = 0;
  for (uint32_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    for (uint32_t id = buckets_[bucket]; id != kNone; id = ids_[id].next) {
      check(++used <= size());
      check(BucketOf(ids_[id].lane, ids_[id].id) == bucket && Oldest(id) != nullptr);
      for (const Served* each = Oldest(id); each != nullptr; each = each->next_of_id) {
        check(each->issued_id == id && each->lane == ids_[id].lane &&
              each->burst.id == ids_[id].id);
        ++transactions;
      }
    }
  }
  for (uint32_t id = free_; id != kNone; id = ids_[id].next) {
    check(++used <= size() && Oldest(id) == nullptr);
  }
  check(used == size());
  return transactions;
}

}  // namespace suede::axi
