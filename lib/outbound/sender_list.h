// SPDX-License-Identifier: Apache-2.0
// The senders that have something to send, by index: a FIFO that contains each at most once.
#ifndef SUEDE_OUTBOUND_SENDER_LIST_H_
#define SUEDE_OUTBOUND_SENDER_LIST_H_

#include <cstdint>
#include <vector>

namespace suede {

class SenderList {
 public:
  explicit SenderList(uint32_t senders) : next_(senders, kAbsent) {}

  bool is_empty() const { return first_ == kNone; }
  bool Contains(uint32_t sender) const { return next_[sender] != kAbsent; }
  void Append(uint32_t sender) {
    if (Contains(sender)) return;
    next_[sender] = kNone;
    (is_empty() ? first_ : next_[last_]) = sender;
    last_ = sender;
  }
  // Removes each sender that is in the list now, up to `max`, and calls serve(sender). Returns a
  // sender to the end of the list if `serve` returns false.
  template <typename Serve>
  void ServeEach(Serve&& serve, uint32_t max = UINT32_MAX) {
    const uint32_t last = last_;
    for (bool more = !is_empty(); more && max != 0; --max) {
      const uint32_t sender = TakeFirst();
      more = sender != last;
      if (!serve(sender)) Append(sender);
    }
  }
  // Moves the first sender to the end. A call after each ServeEach gives each sender a turn at the
  // credit that does not suffice for all.
  void Rotate() {
    if (!is_empty() && first_ != last_) Append(TakeFirst());
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kAbsent = UINT32_MAX - 1;

  uint32_t TakeFirst() {
    const uint32_t sender = first_;
    first_ = next_[sender];
    next_[sender] = kAbsent;
    return sender;
  }

  std::vector<uint32_t> next_;
  uint32_t first_ = kNone;
  uint32_t last_ = kNone;
};

}  // namespace suede

#endif  // SUEDE_OUTBOUND_SENDER_LIST_H_
