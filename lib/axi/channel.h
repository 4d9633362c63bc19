// SPDX-License-Identifier: Apache-2.0
// An AXI4 channel: a buffer of transfers and its credit (docs/axi.md, "Ports and channels").
#ifndef SUEDE_AXI_CHANNEL_H_
#define SUEDE_AXI_CHANNEL_H_

#include <cstdint>

#include "base/fifo.h"

namespace suede::axi {

// The sender has one credit per free place. One owner; only the constructor allocates.
template <typename Transfer>
class Channel {
 public:
  explicit Channel(uint32_t places) : places_(places) { transfers_.Reserve(places); }

  uint32_t credit() const { return places_ - static_cast<uint32_t>(transfers_.size()); }
  bool is_empty() const { return transfers_.empty(); }
  // Returns false, and stores nothing, where there is no credit.
  bool Send(const Transfer& transfer) {
    if (credit() == 0) return false;
    transfers_.push_back(transfer);
    return true;
  }
  // Returns the oldest transfer; null: the channel is empty.
  const Transfer* front() { return is_empty() ? nullptr : &transfers_.front(); }
  void Pop() { transfers_.pop_front(); }
  // Removes the oldest transfer. Returns false where the channel is empty.
  bool Take(Transfer* transfer) {
    if (is_empty()) return false;
    *transfer = transfers_.front();
    transfers_.pop_front();
    return true;
  }
  void Clear() {
    while (!is_empty()) transfers_.pop_front();
  }

 private:
  Fifo<Transfer> transfers_;
  const uint32_t places_;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_CHANNEL_H_
