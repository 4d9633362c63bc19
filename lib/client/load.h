// SPDX-License-Identifier: Apache-2.0
// The words in which the daemon publishes to a client the load of the instance of one of its queues
// (docs/shared-memory.md, "Load").
//
// One LoadWriter per client queue, owned by the lcore that serves the queue. It reads back none of
// its own words, and of the client's words only the wishes, each once.
#ifndef SUEDE_CLIENT_LOAD_H_
#define SUEDE_CLIENT_LOAD_H_

#include <array>
#include <cstdint>
#include <optional>

#include "client/segment.h"

namespace suede {

// The values of suede_load_state.
struct LoadState {
  uint32_t flags = 0;  // SUEDE_LOAD_…
  uint32_t load = 0;
  uint32_t queued_pdus = 0;
  uint32_t inflight_pdus = 0;
  uint32_t inflight_bytes = 0;
  uint32_t credit_lines = 0;
  uint32_t paused = 0;
  uint32_t unreachable = 0;
  friend bool operator==(const LoadState&, const LoadState&) = default;
};

// The values of suede_destination_state.
struct DestinationState {
  uint32_t flags = 0;  // SUEDE_DESTINATION_…
  uint32_t queued_lines = 0;
  uint32_t inflight_pdus = 0;
  uint32_t inflight_bytes = 0;
  friend bool operator==(const DestinationState&, const DestinationState&) = default;
};

// A bit for each XPU.
class DestinationMap {
 public:
  bool Has(uint16_t xpuid) const { return (words_[xpuid / 32] >> xpuid % 32 & 1) != 0; }
  // Sets the bit of an XPU. Returns whether it has changed.
  bool Set(uint16_t xpuid, bool value) {
    uint32_t& word = words_[xpuid / 32];
    const uint32_t bit = 1u << xpuid % 32;
    if (((word & bit) != 0) == value) return false;
    word ^= bit;
    return true;
  }
  uint32_t word(uint32_t index) const { return words_[index]; }

 private:
  std::array<uint32_t, SUEDE_MAP_WORDS> words_{};
};

// A client's query of a destination.
struct Wish {
  uint32_t slot = 0;
  uint32_t word = 0;                                              // as written by the client
  uint16_t xpuid() const { return static_cast<uint16_t>(word); }  // 0 to 1023
};

class LoadWriter {
 public:
  LoadWriter() = default;
  LoadWriter(void* segment, const SegmentShape& shape, uint32_t queue)
      : area_(AtOffset<suede_load_area>(segment, SegmentOffsets(shape).load) + queue) {}

  void Show(const LoadState& state);
  // Writes the words that differ from those published before.
  void ShowMaps(const DestinationMap& unreachable, const DestinationMap& paused);
  // The next wish, in rotation.
  std::optional<Wish> NextWish();
  void Answer(const Wish& wish, const DestinationState& state);

 private:
  suede_load_area* area_ = nullptr;
  uint32_t sequence_ = 0;  // as stored
  uint32_t turn_ = 0;
  std::array<uint32_t, SUEDE_WISHES> answers_{};  // sequences of the answers, as stored
  DestinationMap unreachable_;                    // as published
  DestinationMap paused_;
};

}  // namespace suede

#endif  // SUEDE_CLIENT_LOAD_H_
