// SPDX-License-Identifier: Apache-2.0
// The client's access to the load of the instance of one of its queues. Header only, like the rest
// of the client's half.
//
// Any thread may read; only one thread at a time may set wishes.
#ifndef SUEDE_CLIENT_CLIENT_LOAD_H_
#define SUEDE_CLIENT_CLIENT_LOAD_H_

#include <cstdint>

#include "client/load.h"
#include "client/segment.h"

namespace suede {

class LoadReader {
 public:
  // `bytes`: of the segment. There is no area if the daemon publishes no load.
  LoadReader(void* segment, uint64_t bytes, uint32_t queue) {
    const auto* head = static_cast<const suede_segment*>(segment);
    const uint64_t at = head->load;
    const uint64_t areas = uint64_t{head->queue_count} * sizeof(suede_load_area);
    if (at == 0 || at % SUEDE_LINE_BYTES != 0 || at > bytes || areas > bytes - at) return;
    area_ = AtOffset<suede_load_area>(segment, at) + queue;
  }

  bool has_area() const { return area_ != nullptr; }

  // Reads the state and the number of its updates so far, modulo 2^31. Returns false if the daemon
  // keeps writing the state, or stopped in the middle of an update.
  bool Read(LoadState* state, uint32_t* updates = nullptr) const {
    const suede_load_state& shared = area_->state;
    return InSequence(shared.sequence, updates, [&] {
      *state = {.flags = LoadAcquire(shared.flags),
                .load = LoadAcquire(shared.load),
                .queued_pdus = LoadAcquire(shared.queued_pdus),
                .inflight_pdus = LoadAcquire(shared.inflight_pdus),
                .inflight_bytes = LoadAcquire(shared.inflight_bytes),
                .credit_lines = LoadAcquire(shared.credit_lines),
                .paused = LoadAcquire(shared.paused),
                .unreachable = LoadAcquire(shared.unreachable)};
    });
  }
  bool IsUnreachable(uint16_t xpuid) const { return Has(area_->unreachable_map, xpuid); }
  bool IsPaused(uint16_t xpuid) const { return Has(area_->paused_map, xpuid); }

  void SetWish(uint32_t slot, uint32_t word) {
    __atomic_store_n(&area_->wishes[slot], word, __ATOMIC_RELAXED);
  }
  // Reads the answer to the wish `word` in the slot. Returns false if there is no answer yet.
  bool ReadAnswer(uint32_t slot, uint32_t word, DestinationState* state,
                  uint32_t* updates = nullptr) const {
    const suede_destination_state& shared = area_->destinations[slot];
    uint32_t answered = 0;
    const bool is_whole = InSequence(shared.sequence, updates, [&] {
      answered = LoadAcquire(shared.wish);
      *state = {.flags = LoadAcquire(shared.flags),
                .queued_lines = LoadAcquire(shared.queued_lines),
                .inflight_pdus = LoadAcquire(shared.inflight_pdus),
                .inflight_bytes = LoadAcquire(shared.inflight_bytes)};
    });
    return is_whole && answered == word;
  }

 private:
  // The daemon takes some nanoseconds to write, unless it is interrupted meanwhile.
  static constexpr int kTries = 64;

  static bool Has(const uint32_t* map, uint16_t xpuid) {
    return (LoadRelaxed(map[xpuid / 32]) >> xpuid % 32 & 1) != 0;
  }

  // `read` loads each word with acquire.
  template <class Read>
  static bool InSequence(const uint32_t& sequence, uint32_t* updates, const Read& read) {
    for (int i = 0; i < kTries; ++i) {
      const uint32_t before = LoadAcquire(sequence);
      if (before % 2 != 0) continue;
      read();
      if (LoadRelaxed(sequence) != before) continue;
      if (updates != nullptr) *updates = before / 2;
      return true;
    }
    return false;
  }

  suede_load_area* area_ = nullptr;
};

}  // namespace suede

#endif  // SUEDE_CLIENT_CLIENT_LOAD_H_
