// SPDX-License-Identifier: Apache-2.0
// A hash table from IDs of transactions to values, of a fixed size.
#ifndef SUEDE_AXI_ID_TABLE_H_
#define SUEDE_AXI_ID_TABLE_H_

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace suede::axi {

// One owner; only the constructor allocates. Entries move, so a pointer is valid until the next
// Insert or Erase.
template <typename Value>
class IdTable {
 public:
  explicit IdTable(uint32_t max_keys)
      : entries_(std::bit_ceil(2 * max_keys)), shift_(64 - std::countr_zero(entries_.size())) {}

  uint32_t size() const { return size_; }
  // Returns the value of a key; null: there is none.
  Value* Find(uint64_t key) {
    for (size_t i = HomeOf(key); entries_[i].is_used; i = Next(i)) {
      if (entries_[i].key == key) return &entries_[i].value;
    }
    return nullptr;
  }
  const Value* Find(uint64_t key) const { return const_cast<IdTable*>(this)->Find(key); }
  // Adds a key that the table does not have. There are fewer than max_keys.
  void Insert(uint64_t key, const Value& value) {
    assert(2 * (size_ + 1) <= entries_.size());
    size_t i = HomeOf(key);
    while (entries_[i].is_used) i = Next(i);
    entries_[i] = {.key = key, .value = value, .is_used = true};
    ++size_;
  }
  // Removes a key that the table has.
  void Erase(uint64_t key) {
    size_t hole = HomeOf(key);
    while (entries_[hole].key != key || !entries_[hole].is_used) hole = Next(hole);
    // Entries behind the hole move into it, unless they are between their home and the hole.
    for (size_t i = Next(hole); entries_[i].is_used; i = Next(i)) {
      const size_t mask = entries_.size() - 1;
      if (((i - HomeOf(entries_[i].key)) & mask) < ((i - hole) & mask)) continue;
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole].is_used = false;
    --size_;
  }
  void Clear() {
    for (Entry& entry : entries_) entry.is_used = false;
    size_ = 0;
  }

 private:
  struct Entry {
    uint64_t key = 0;
    Value value = {};
    bool is_used = false;
  };

  size_t HomeOf(uint64_t key) const { return key * 0x9e3779b97f4a7c15u >> shift_; }
  size_t Next(size_t i) const { return (i + 1) & (entries_.size() - 1); }

  std::vector<Entry> entries_;
  const int shift_;
  uint32_t size_ = 0;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_ID_TABLE_H_
