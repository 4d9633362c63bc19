// SPDX-License-Identifier: Apache-2.0
#include "link/staged_burst.h"

#include <algorithm>
#include <cstring>

namespace suede {

void StagedBurst::RemoveWithdrawn() {
  Frame** const data = data_begin();
  uint32_t kept = 0;
  for (uint32_t i = 0; i < data_count_; ++i) {
    if (NoteOf(data[i]).kind == TxKind::kWithdrawn) {
      NoteOf(data[i]).Unstage();
    } else {
      data[kept++] = data[i];
    }
  }
  data_count_ = kept;
}

// Orders front frames before data. If the last burst took only front frames, one frame of data
// leads, so that neither kind waits for the other longer than a burst of the port.
StagedBurst::Offer StagedBurst::BeginInFront() {
  const bool data_leads = data_first_ && data_count_ != 0;
  Frame** const first = data_begin() - front_count_;
  if (data_leads) first[0] = *data_begin();
  std::copy_n(front_.data(), front_count_, first + (data_leads ? 1 : 0));
  return {first, front_count_ + data_count_, data_leads};
}

void StagedBurst::KeepRest(const Offer& offer, uint32_t taken) {
  if (taken == 0) {
    // The next offer is the same.
    refused_ = true;
    if (offer.data_leads) *data_begin() = offer.first[0];
    return;
  }
  refused_ = false;
  const uint32_t led = offer.data_leads ? 1 : 0;
  const uint32_t of_front = std::min(taken - led, front_count_);
  const uint32_t of_data = taken - of_front;
  data_first_ = front_count_ != 0 && data_count_ != 0 && of_data == 0;
  front_count_ -= of_front;
  data_count_ -= of_data;
  std::memmove(front_.data(), front_.data() + of_front, front_count_ * sizeof(Frame*));
  std::memmove(data_begin(), data_begin() + of_data, data_count_ * sizeof(Frame*));
}

}  // namespace suede
