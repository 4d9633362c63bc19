// SPDX-License-Identifier: Apache-2.0
// A bounded FIFO for lists on the data path; its memory is allocated at setup.
#ifndef SUEDE_BASE_FIFO_H_
#define SUEDE_BASE_FIFO_H_

#include <bit>
#include <cassert>
#include <cstddef>
#include <vector>

namespace suede {

template <typename T>
class Fifo {
 public:
  // Makes room for at least `count` items; queued items stay. Setup only.
  void Reserve(size_t count) {
    if (count <= items_.size()) return;
    std::vector<T> items(std::bit_ceil(count));
    size_t n = 0;
    for (; !empty(); pop_front()) items[n++] = front();
    items_ = std::move(items);
    head_ = 0;
    tail_ = n;
  }
  bool empty() const { return head_ == tail_; }
  size_t size() const { return tail_ - head_; }
  T& front() { return items_[head_ & (items_.size() - 1)]; }
  void push_back(const T& item) {
    assert(size() < items_.size());
    items_[tail_++ & (items_.size() - 1)] = item;
  }
  void pop_front() { ++head_; }

 private:
  std::vector<T> items_;
  size_t head_ = 0;
  size_t tail_ = 0;
};

}  // namespace suede

#endif  // SUEDE_BASE_FIFO_H_
