// SPDX-License-Identifier: Apache-2.0
#include "axi/issue_ids.h"

#include <cstdlib>

namespace suede::axi {

IssueIds::IssueIds(uint32_t ids) : ids_(ids), used_(ids) {
  for (uint32_t id = 0; id + 1 < ids; ++id) ids_[id].next = id + 1;
}

bool IssueIds::Add(Served* served) {
  const uint64_t key = KeyOf(*served);
  const uint32_t* const used = used_.Find(key);
  if (used == nullptr && free_ == kNone) return false;
  const uint32_t id = used != nullptr ? *used : free_;
  if (used == nullptr) {
    free_ = ids_[id].next;
    ids_[id].key = key;
    used_.Insert(key, id);
  }
  served->issued_id = id;
  ids_[id].transactions.Append(served);
  return true;
}

Served* IssueIds::TakeOldest(uint32_t id) {
  Id& taken = ids_[id];
  Served* const served = taken.transactions.TakeFirst();
  if (taken.transactions.is_empty()) {
    used_.Erase(taken.key);
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
  for (uint32_t id = 0; id < size(); ++id) {
    if (Oldest(id) == nullptr) continue;
    const uint32_t* const found = used_.Find(ids_[id].key);
    check(found != nullptr && *found == id);
    ++used;
    for (const Served* each = Oldest(id); each != nullptr; each = each->next_of_id) {
      check(each->issued_id == id && KeyOf(*each) == ids_[id].key);
      ++transactions;
    }
  }
  check(used == used_.size());
  for (uint32_t id = free_; id != kNone; id = ids_[id].next) {
    check(++used <= size() && Oldest(id) == nullptr);
  }
  check(used == size());
  return transactions;
}

}  // namespace suede::axi
