// SPDX-License-Identifier: Apache-2.0
// A FIFO of transactions through a member of theirs.
#ifndef SUEDE_AXI_LINKED_FIFO_H_
#define SUEDE_AXI_LINKED_FIFO_H_

namespace suede::axi {

template <typename Item, Item* Item::*kNext>
class LinkedFifo {
 public:
  bool is_empty() const { return first_ == nullptr; }
  Item* first() const { return first_; }
  void Append(Item* item) {
    item->*kNext = nullptr;
    (is_empty() ? first_ : last_->*kNext) = item;
    last_ = item;
  }
  Item* TakeFirst() {
    Item* const item = first_;
    first_ = item->*kNext;
    return item;
  }
  // Removes a member; looks at those before it.
  void Remove(Item* item) {
    if (item == first_) {
      TakeFirst();
      return;
    }
    Item* before = first_;
    while (before->*kNext != item) before = before->*kNext;
    before->*kNext = item->*kNext;
    if (last_ == item) last_ = before;
  }
  void Clear() { first_ = nullptr; }

 private:
  Item* first_ = nullptr;
  Item* last_ = nullptr;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_LINKED_FIFO_H_
